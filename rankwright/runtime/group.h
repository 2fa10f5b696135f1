// A Group is the ranks that one collective joins, over whatever carries it: MPI between processes,
// NCCL between GPUs, nothing where it has one rank. A value: copies name the same communicator.
// Whoever calls it says what the call is for, and every call is counted. It knows no tensors and no
// plan; what carries bytes is a Transport, one folder each.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/mesh/group.h"
#include "rankwright/plan/traffic.h"
#include "rankwright/runtime/counters.h"

namespace rankwright::runtime {

/// What the elements of a slab are.
enum class Number : unsigned char { f64, f32, bf16, i64 };
i64 size(Number);

/// Elements in a row, in memory that somebody else keeps until the call is done.
struct Slab {
  void* data = nullptr;
  i64 count = 0;
  Number number = Number::f32;

  Bytes bytes() const { return rankwright::bytes(count, size(number)); }
};

/// The most elements of one slab: MPI counts them in an int.
inline constexpr i64 kMaxSlab = 2147483647;

enum class Combine : unsigned char { sum, max };

/// The index-th of `parts` parts of n elements in a row: the first n mod parts have one more. Who
/// shards, gathers and scatters agrees by this alone, so no part needs padding.
struct Part {
  i64 first = 0, count = 0;
};
Part part_of(i64 n, i64 parts, i64 index);

/// A call in flight; whatever it needs to know is the backend's.
class Request {
 public:
  virtual ~Request() = default;
  virtual bool done() = 0;  // moves it on, too: nothing else does while a rank computes
  virtual void wait() = 0;
};

/// What carries bytes between the ranks of one group. Calls are matched by their order, messages by
/// their tag. The only virtual functions of the runtime: one implementation for each backend.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual i64 rank() const = 0;
  virtual i64 size() const = 0;
  virtual std::unique_ptr<Request> all_reduce(Slab whole, Combine combine) = 0;  // in place
  /// This rank's own part of `whole` is in place already, and all others come to theirs.
  virtual std::unique_ptr<Request> all_gather(Slab whole) = 0;
  /// `part` becomes this rank's part of the sum of all `whole`, which it does not lie in.
  virtual std::unique_ptr<Request> reduce_scatter(Slab whole, Slab part) = 0;
  // The same for a caller that waits: a backend may have a better way then.
  virtual void all_reduce_now(Slab whole, Combine combine) { all_reduce(whole, combine)->wait(); }
  virtual void all_gather_now(Slab whole) { all_gather(whole)->wait(); }
  virtual void reduce_scatter_now(Slab whole, Slab part) { reduce_scatter(whole, part)->wait(); }
  virtual std::unique_ptr<Request> send(Slab message, i64 to, i64 tag) = 0;
  virtual std::unique_ptr<Request> recv(Slab message, i64 from, i64 tag) = 0;
};

/// A call that was begun. wait() ends it, and so does the destructor.
class Pending {
 public:
  Pending() = default;
  Pending(std::unique_ptr<Request> request, Counters* counters, plan::TrafficKind kind);
  Pending(Pending&&) noexcept = default;
  Pending& operator=(Pending&&) noexcept;
  ~Pending();

  void wait();  // time spent here is counted as waiting
  bool done();
  explicit operator bool() const { return request_ != nullptr; }

 private:
  std::unique_ptr<Request> request_{};
  Counters* counters_ = nullptr;
  plan::TrafficKind kind_{};
};

class Group {
 public:
  /// Of one rank: every call is done at once and counts as nothing, as in Traffic. It has nobody
  /// to send to. Only here the part of a reduce-scatter may lie where the whole does.
  Group() = default;
  /// `level`: the outermost level of the cluster whose links the group crosses. `counters` outlive
  /// the group and what is pending; without them nothing is counted.
  Group(std::shared_ptr<Transport> transport, mesh::GroupKind kind, int level, Counters* counters);

  i64 rank() const { return transport_ ? transport_->rank() : 0; }
  i64 size() const { return transport_ ? transport_->size() : 1; }
  bool alone() const { return size() == 1; }
  Part part(i64 n) const { return part_of(n, size(), rank()); }

  void all_reduce(plan::TrafficKind kind, Slab whole, Combine combine = Combine::sum) const;
  void all_gather(plan::TrafficKind kind, Slab whole) const;
  void reduce_scatter(plan::TrafficKind kind, Slab whole, Slab part) const;

  // The same, begun only.
  Pending start_all_reduce(plan::TrafficKind kind, Slab whole,
                           Combine combine = Combine::sum) const;
  Pending start_all_gather(plan::TrafficKind kind, Slab whole) const;
  Pending start_reduce_scatter(plan::TrafficKind kind, Slab whole, Slab part) const;
  /// Messages: a send is counted, a receive is not, as in Traffic.
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
