// A Group is the ranks that take part in one collective, over a Transport: MPI between processes,
// NCCL between GPUs, none for a single rank. It is a value: copies share one communicator. Callers
// state the traffic kind of each call, and every call is counted. It knows neither tensors nor the
// plan.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/mesh/group.h"
#include "rankwright/plan/traffic.h"
#include "rankwright/runtime/counters.h"

namespace rankwright::runtime {

/// The element type of a slab.
enum class Number : unsigned char { f64, f32, bf16, i64 };
/// Returns the bytes per element.
i64 size(Number);

/// Contiguous elements in memory that the caller keeps alive until the call is done.
struct Slab {
  void* data = nullptr;
  i64 count = 0;
  Number number = Number::f32;

  Bytes bytes() const { return rankwright::bytes(count, size(number)); }
};

/// The maximum elements per slab: MPI counts them in an int.
inline constexpr i64 kMaxSlab = 2147483647;

enum class Combine : unsigned char { sum, max };

/// A contiguous part of a list of elements.
struct Part {
  i64 first = 0, count = 0;
};
/// Returns the index-th of `parts` parts of n elements; the first n mod parts have one more.
/// Sharding, gathers and scatters all use this split, so no part needs padding.
Part part_of(i64 n, i64 parts, i64 index);

/// A nonblocking call in flight, implemented by the backend.
class Request {
 public:
  virtual ~Request() = default;
  virtual bool done() = 0;  // also progresses the call: nothing else does during computation
  virtual void wait() = 0;
};

/// Moves bytes between the ranks of one group. Collectives are matched by their order, messages by
/// their tag. One implementation per backend; the only virtual functions of the runtime.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual i64 rank() const = 0;
  virtual i64 size() const = 0;
  virtual std::unique_ptr<Request> all_reduce(Slab whole, Combine combine) = 0;  // in place
  /// Requires: this rank's own part of `whole` is in place. Fills in the parts of all others.
  virtual std::unique_ptr<Request> all_gather(Slab whole) = 0;
  /// Sets `part` to this rank's part of the sum of all `whole`. Requires: they do not overlap.
  virtual std::unique_ptr<Request> reduce_scatter(Slab whole, Slab part) = 0;
  // Blocking variants, which a backend may implement more efficiently.
  virtual void all_reduce_now(Slab whole, Combine combine) { all_reduce(whole, combine)->wait(); }
  virtual void all_gather_now(Slab whole) { all_gather(whole)->wait(); }
  virtual void reduce_scatter_now(Slab whole, Slab part) { reduce_scatter(whole, part)->wait(); }
  virtual std::unique_ptr<Request> send(Slab message, i64 to, i64 tag) = 0;
  virtual std::unique_ptr<Request> recv(Slab message, i64 from, i64 tag) = 0;
};

/// A nonblocking call that was started. wait() completes it, and so does the destructor.
class Pending {
 public:
  Pending() = default;
  Pending(std::unique_ptr<Request> request, Counters* counters, plan::TrafficKind kind);
  Pending(Pending&&) noexcept = default;
  Pending& operator=(Pending&&) noexcept;
  ~Pending();

  void wait();  // the time spent here is counted as waiting
  bool done();
  explicit operator bool() const { return request_ != nullptr; }

 private:
  std::unique_ptr<Request> request_{};
  Counters* counters_ = nullptr;
  plan::TrafficKind kind_{};
};

class Group {
 public:
  /// A group of one rank: every collective returns at once and is not counted, as in Traffic. It
  /// cannot send. Only here the part of a reduce-scatter may overlap the whole.
  Group() = default;
  /// `level` is the outermost cluster level whose links the group crosses. If `counters` is null,
  /// nothing is counted. Requires: `counters` outlives the group and its pending calls.
  Group(std::shared_ptr<Transport> transport, mesh::GroupKind kind, int level, Counters* counters);

  i64 rank() const { return transport_ ? transport_->rank() : 0; }
  i64 size() const { return transport_ ? transport_->size() : 1; }
  bool alone() const { return size() == 1; }
  Part part(i64 n) const { return part_of(n, size(), rank()); }

  void all_reduce(plan::TrafficKind kind, Slab whole, Combine combine = Combine::sum) const;
  void all_gather(plan::TrafficKind kind, Slab whole) const;
  void reduce_scatter(plan::TrafficKind kind, Slab whole, Slab part) const;

  // Nonblocking variants.
  Pending start_all_reduce(plan::TrafficKind kind, Slab whole,
                           Combine combine = Combine::sum) const;
  Pending start_all_gather(plan::TrafficKind kind, Slab whole) const;
  Pending start_reduce_scatter(plan::TrafficKind kind, Slab whole, Slab part) const;
  /// Point-to-point messages: sends are counted, receives are not, as in Traffic.
  Pending start_send(plan::TrafficKind kind, Slab message, i64 to, i64 tag) const;
  Pending start_recv(plan::TrafficKind kind, Slab message, i64 from, i64 tag) const;

 private:
  void count(plan::TrafficKind kind, plan::Op op, Slab slab) const;
  void check_part(Slab whole, Slab part) const;
  void waited(plan::TrafficKind kind, std::chrono::steady_clock::time_point begin) const;

  std::shared_ptr<Transport> transport_{};
  mesh::GroupKind kind_{};
  int level_ = -1;
  Counters* counters_ = nullptr;
};

}  // namespace rankwright::runtime
