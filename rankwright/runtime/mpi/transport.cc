// The MPI transport: processes and host memory, with MPI's own collectives. MPI has no bf16, so two
// user-defined operations on 16-bit words compute in fp32.
#include <mpi.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "rankwright/base/check.h"
#include "rankwright/runtime/mpi/communicator.h"
#include "rankwright/runtime/mpi/request.h"
#include "rankwright/runtime/transports.h"

namespace rankwright::runtime {
namespace {

float to_float(std::uint16_t word) { return std::bit_cast<float>(std::uint32_t(word) << 16); }

/// Rounds to nearest, ties to even. A NaN stays a NaN.
std::uint16_t to_bf16(float number) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(number);
  if (number != number) return std::uint16_t(bits >> 16 | 0x40);
  return std::uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// MPI user functions: combine `from` into `into`, element by element.
void add_bf16(void* from, void* into, int* count, MPI_Datatype*) {
  const std::uint16_t* const a = static_cast<const std::uint16_t*>(from);
  std::uint16_t* const b = static_cast<std::uint16_t*>(into);
  for (int i = 0; i < *count; ++i) b[i] = to_bf16(to_float(a[i]) + to_float(b[i]));
}

void max_bf16(void* from, void* into, int* count, MPI_Datatype*) {
  const std::uint16_t* const a = static_cast<const std::uint16_t*>(from);
  std::uint16_t* const b = static_cast<std::uint16_t*>(into);
  for (int i = 0; i < *count; ++i)
    if (!(to_float(a[i]) <= to_float(b[i]))) b[i] = a[i];
}

MPI_Datatype type(Number number) {
  switch (number) {
    case Number::f64:
      return MPI_DOUBLE;
    case Number::f32:
      return MPI_FLOAT;
    case Number::bf16:
      return MPI_UINT16_T;
    case Number::i64:
      return MPI_INT64_T;
  }
  return MPI_DATATYPE_NULL;
}

// Open MPI's nonblocking reduce-scatter reduces everything on one rank, which then scatters. From
// this size on, one reduction per member is faster: all members add at the same time.
constexpr Bytes kMinSeparateReduces{262144};

char* element(Slab slab, i64 index) {
  return static_cast<char*>(slab.data) + index * size(slab.number);
}

/// A call and the counts of its parts, which MPI reads for as long as the call runs.
class MpiRequest final : public Request {
 public:
  explicit MpiRequest(i64 n = 0, i64 parts = 0) {
    for (i64 i = 0; i < parts; ++i) {
      const Part part = part_of(n, parts, i);
      firsts.push_back(int(part.first));
      counts.push_back(int(part.count));
    }
  }

  bool done() override { return complete(requests); }
  void wait() override { wait_with_backoff(requests); }

  MPI_Request* next() { return &requests.emplace_back(MPI_REQUEST_NULL); }

  std::vector<MPI_Request> requests{};
  std::vector<int> firsts{}, counts{};
};

class MpiTransport final : public Transport {
 public:
  /// Takes ownership of the communicator.
  explicit MpiTransport(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    MPI_Op_create(add_bf16, /*commute=*/1, &add_bf16_);
    MPI_Op_create(max_bf16, /*commute=*/1, &max_bf16_);
    int found = 0;
    int* bound = nullptr;
    MPI_Comm_get_attr(comm_, MPI_TAG_UB, static_cast<void*>(&bound), &found);
    if (found) largest_tag_ = *bound;
  }
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  ~MpiTransport() override {
    // If the group outlives the world, MPI is finalized and has freed all of this already.
    int ended = 0;
    MPI_Finalized(&ended);
    if (ended) return;
    MPI_Op_free(&add_bf16_);
    MPI_Op_free(&max_bf16_);
    MPI_Comm_free(&comm_);
  }

  i64 rank() const override { return rank_; }
  i64 size() const override { return size_; }

  std::unique_ptr<Request> all_reduce(Slab whole, Combine combine) override {
    std::unique_ptr<MpiRequest> call = std::make_unique<MpiRequest>();
    MPI_Iallreduce(MPI_IN_PLACE, whole.data, int(whole.count), type(whole.number),
                   op(whole.number, combine), comm_, call->next());
    return call;
  }

  std::unique_ptr<Request> all_gather(Slab whole) override {
    std::unique_ptr<MpiRequest> call = std::make_unique<MpiRequest>(whole.count, size_);
    MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, whole.data, call->counts.data(),
                    call->firsts.data(), type(whole.number), comm_, call->next());
    return call;
  }

  std::unique_ptr<Request> reduce_scatter(Slab whole, Slab part) override {
    std::unique_ptr<MpiRequest> call = std::make_unique<MpiRequest>(whole.count, size_);
    if (whole.bytes() < kMinSeparateReduces) {
      MPI_Ireduce_scatter(whole.data, part.data, call->counts.data(), type(whole.number),
                          op(whole.number, Combine::sum), comm_, call->next());
      return call;
    }
    for (int root = 0; root < size_; ++root)
      MPI_Ireduce(element(whole, call->firsts[std::size_t(root)]), part.data,
                  call->counts[std::size_t(root)], type(whole.number),
                  op(whole.number, Combine::sum), root, comm_, call->next());
    return call;
  }

  // Synchronous callers use MPI's blocking calls: they are faster, and their algorithm can be
  // chosen.
  void all_reduce_now(Slab whole, Combine combine) override {
    MPI_Allreduce(MPI_IN_PLACE, whole.data, int(whole.count), type(whole.number),
                  op(whole.number, combine), comm_);
  }

  void all_gather_now(Slab whole) override {
    const MpiRequest parts(whole.count, size_);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, whole.data, parts.counts.data(),
                   parts.firsts.data(), type(whole.number), comm_);
  }

  void reduce_scatter_now(Slab whole, Slab part) override {
    const MpiRequest parts(whole.count, size_);
    MPI_Reduce_scatter(whole.data, part.data, parts.counts.data(), type(whole.number),
                       op(whole.number, Combine::sum), comm_);
  }

  std::unique_ptr<Request> send(Slab message, i64 to, i64 tag) override {
    RW_CHECK(tag >= 0 && tag <= largest_tag_);
    std::unique_ptr<MpiRequest> call = std::make_unique<MpiRequest>();
    MPI_Isend(message.data, int(message.count), type(message.number), int(to), int(tag), comm_,
              call->next());
    return call;
  }

  std::unique_ptr<Request> recv(Slab message, i64 from, i64 tag) override {
    RW_CHECK(tag >= 0 && tag <= largest_tag_);
    std::unique_ptr<MpiRequest> call = std::make_unique<MpiRequest>();
    MPI_Irecv(message.data, int(message.count), type(message.number), int(from), int(tag), comm_,
              call->next());
    return call;
  }

 private:
  MPI_Op op(Number number, Combine combine) const {
    const bool sum = combine == Combine::sum;
    if (number == Number::bf16) return sum ? add_bf16_ : max_bf16_;
    return sum ? MPI_SUM : MPI_MAX;
  }

  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
  int largest_tag_ = 32767;  // the minimum that MPI guarantees
  MPI_Op add_bf16_ = MPI_OP_NULL, max_bf16_ = MPI_OP_NULL;
};

Result<std::shared_ptr<Transport>> join(const std::vector<i64>& members) {
  const Result<MPI_Comm> comm = mpi_communicator(members);
  if (!comm) return fail(comm.error());
  return std::shared_ptr<Transport>(std::make_shared<MpiTransport>(*comm));
}

}  // namespace

constinit const Backend mpi_backend{.name = "mpi",
                                    .summary = "processes and memory of the host, over MPI",
                                    .built = true,
                                    .join = join};

}  // namespace rankwright::runtime
