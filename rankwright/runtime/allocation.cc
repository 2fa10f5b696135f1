#include "rankwright/runtime/allocation.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <torch/version.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rankwright::runtime {
namespace {

std::atomic<std::int64_t> g_now{0}, g_peak{0};

void add(std::int64_t bytes) {
  const std::int64_t now = g_now.fetch_add(bytes) + bytes;
  std::int64_t peak = g_peak.load();
  while (now > peak && !g_peak.compare_exchange_weak(peak, now)) {
  }
}

/// Bytes of the header before every block, which holds the block's size. Equals the alignment that
/// libtorch requires.
constexpr std::size_t kHeaderBytes = 64;

void release(void* data) {
  if (data == nullptr) return;
  char* const block = static_cast<char*>(data) - kHeaderBytes;
  add(-*reinterpret_cast<std::int64_t*>(block));
  c10::free_cpu(block);
}

c10::DataPtr reserve(std::size_t bytes) {
  const c10::Device cpu(c10::DeviceType::CPU);
  if (bytes == 0) return {nullptr, nullptr, &release, cpu};
  char* const block = static_cast<char*>(c10::alloc_cpu(bytes + kHeaderBytes));
  *reinterpret_cast<std::int64_t*>(block) = std::int64_t(bytes);
  add(std::int64_t(bytes));
  return {block + kHeaderBytes, block + kHeaderBytes, &release, cpu};
}

class CountingAllocator final : public c10::Allocator {
 public:
// The interface changed with libtorch 2. Tested with 1.13 of Debian and 2.13 of PyPI.
#if TORCH_VERSION_MAJOR < 2
  c10::DataPtr allocate(std::size_t bytes) const override { return reserve(bytes); }
#else
  c10::DataPtr allocate(std::size_t bytes) override { return reserve(bytes); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
#endif
  // oneDNN, which some operators use, allocates without a DataPtr and frees by the data pointer.
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
};

}  // namespace

void count_allocations() {
  static CountingAllocator counting;
  constexpr std::uint8_t kPriority = 255;
  c10::SetCPUAllocator(&counting, kPriority);
}

Bytes allocated() { return {double(g_now.load())}; }
Bytes peak_allocated() { return {double(g_peak.load())}; }
void reset_peak() { g_peak.store(g_now.load()); }

}  // namespace rankwright::runtime
