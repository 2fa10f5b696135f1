#include "rankwright/runtime/group.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "rankwright/base/check.h"

namespace rankwright::runtime {
namespace {

using Clock = std::chrono::steady_clock;

Seconds elapsed_since(Clock::time_point begin) {
  return {std::chrono::duration<double>(Clock::now() - begin).count()};
}

bool is_valid(const Slab& slab) {
  return slab.count >= 0 && slab.count <= kMaxSlab && (slab.count == 0 || slab.data != nullptr);
}

bool are_disjoint(const Slab& a, const Slab& b) {
  const char* const first = static_cast<const char*>(a.data);
  const char* const second = static_cast<const char*>(b.data);
  return first + a.count * size(a.number) <= second || second + b.count * size(b.number) <= first;
}

}  // namespace

i64 size(Number number) {
  switch (number) {
    case Number::f64:
    case Number::i64:
      return 8;
    case Number::f32:
      return 4;
    case Number::bf16:
      return 2;
  }
  return 0;
}

Part part_of(i64 n, i64 parts, i64 index) {
  RW_CHECK(n >= 0 && parts >= 1 && index >= 0 && index < parts);
  const i64 each = n / parts;
  const i64 longer = n % parts;
  return {.first = index * each + std::min(index, longer), .count = each + (index < longer)};
}

Pending::Pending(std::unique_ptr<Request> request, Counters* counters, plan::TrafficKind kind)
    : request_(std::move(request)), counters_(counters), kind_(kind) {}

Pending& Pending::operator=(Pending&& other) noexcept {
  if (this == &other) return *this;
  wait();
  request_ = std::move(other.request_);
  counters_ = other.counters_;
  kind_ = other.kind_;
  return *this;
}

Pending::~Pending() { wait(); }

void Pending::wait() {
  if (!request_) return;
  const Clock::time_point begin = Clock::now();
  request_->wait();
  request_.reset();
  if (counters_) counters_->waited(kind_, elapsed_since(begin));
}

bool Pending::done() {
  if (request_ && request_->done()) request_.reset();
  return !request_;
}

Group::Group(std::shared_ptr<Transport> transport, mesh::GroupKind kind, int level,
             Counters* counters)
    : transport_(std::move(transport)), kind_(kind), level_(level), counters_(counters) {}

void Group::count(plan::TrafficKind kind, plan::Op op, Slab slab) const {
  RW_CHECK(is_valid(slab));
  if (counters_) counters_->add(kind, op, kind_, level_, slab.bytes());
}

void Group::check_part(Slab whole, Slab mine) const {
  RW_CHECK(is_valid(whole) && is_valid(mine) && whole.number == mine.number);
  RW_CHECK(mine.count == part(whole.count).count);
  RW_CHECK(alone() || mine.count == 0 || are_disjoint(whole, mine));
}

void Group::all_reduce(plan::TrafficKind kind, Slab whole, Combine combine) const {
  if (alone()) return;
  count(kind, plan::Op::all_reduce, whole);
  const Clock::time_point begin = Clock::now();
  transport_->all_reduce_now(whole, combine);
  waited(kind, begin);
}

void Group::all_gather(plan::TrafficKind kind, Slab whole) const {
  if (alone()) return;
  count(kind, plan::Op::all_gather, whole);
  const Clock::time_point begin = Clock::now();
  transport_->all_gather_now(whole);
  waited(kind, begin);
}

void Group::reduce_scatter(plan::TrafficKind kind, Slab whole, Slab mine) const {
  if (alone()) {
    start_reduce_scatter(kind, whole, mine);
    return;
  }
  check_part(whole, mine);
  count(kind, plan::Op::reduce_scatter, whole);
  const Clock::time_point begin = Clock::now();
  transport_->reduce_scatter_now(whole, mine);
  waited(kind, begin);
}

void Group::waited(plan::TrafficKind kind, Clock::time_point begin) const {
  if (counters_) counters_->waited(kind, elapsed_since(begin));
}

Pending Group::start_all_reduce(plan::TrafficKind kind, Slab whole, Combine combine) const {
  if (alone()) return {};
  count(kind, plan::Op::all_reduce, whole);
  return {transport_->all_reduce(whole, combine), counters_, kind};
}

Pending Group::start_all_gather(plan::TrafficKind kind, Slab whole) const {
  if (alone()) return {};
  count(kind, plan::Op::all_gather, whole);
  return {transport_->all_gather(whole), counters_, kind};
}

Pending Group::start_reduce_scatter(plan::TrafficKind kind, Slab whole, Slab mine) const {
  check_part(whole, mine);
  if (alone()) {
    const std::size_t bytes = std::size_t(whole.count * runtime::size(whole.number));
    if (bytes > 0 && whole.data != mine.data) std::memmove(mine.data, whole.data, bytes);
    return {};
  }
  count(kind, plan::Op::reduce_scatter, whole);
  return {transport_->reduce_scatter(whole, mine), counters_, kind};
}

Pending Group::start_send(plan::TrafficKind kind, Slab message, i64 to, i64 tag) const {
  RW_CHECK(!alone() && to >= 0 && to < size());
  count(kind, plan::Op::send_recv, message);
  return {transport_->send(message, to, tag), counters_, kind};
}

Pending Group::start_recv(plan::TrafficKind kind, Slab message, i64 from, i64 tag) const {
  RW_CHECK(!alone() && from >= 0 && from < size() && is_valid(message));
  return {transport_->recv(message, from, tag), counters_, kind};
}

}  // namespace rankwright::runtime
