#include "rankwright/runtime/group.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>

namespace rankwright::runtime {
namespace group_test {

using K = plan::TrafficKind;

/// A call that is done at the second call of done().
class SlowRequest final : public Request {
 public:
  explicit SlowRequest(int* ended) : ended_(ended) {}
  bool done() override {
    if (++asked_ == 2) ++*ended_;
    return asked_ >= 2;
  }
  void wait() override {
    if (asked_ < 2) ++*ended_;
  }

 private:
  int* ended_;
  int asked_ = 0;
};

/// A transport of two ranks that moves no data.
class FakeTransport final : public Transport {
 public:
  explicit FakeTransport(int* ended) : ended_(ended) {}
  i64 rank() const override { return 1; }
  i64 size() const override { return 2; }
  std::unique_ptr<Request> all_reduce(Slab, Combine) override { return request(); }
  std::unique_ptr<Request> all_gather(Slab) override { return request(); }
  std::unique_ptr<Request> reduce_scatter(Slab, Slab) override { return request(); }
  std::unique_ptr<Request> send(Slab, i64, i64) override { return request(); }
  std::unique_ptr<Request> recv(Slab, i64, i64) override { return request(); }

 private:
  std::unique_ptr<Request> request() { return std::make_unique<SlowRequest>(ended_); }
  int* ended_;
};

TEST(PartOf, UnevenSplit_FirstPartsHaveOneMore) {
  // 10 = 3 + 3 + 2 + 2
  constexpr i64 kFirst[] = {0, 3, 6, 8}, kCount[] = {3, 3, 2, 2};
  for (i64 i = 0; i < 4; ++i) {
    EXPECT_EQ(part_of(10, 4, i).first, kFirst[i]);
    EXPECT_EQ(part_of(10, 4, i).count, kCount[i]);
  }
}

TEST(PartOf, FewerElementsThanParts_LastPartsAreEmpty) {
  EXPECT_EQ(part_of(2, 4, 1).count, 1);
  EXPECT_EQ(part_of(2, 4, 2).count, 0);
  EXPECT_EQ(part_of(2, 4, 3).first, 2);
  EXPECT_EQ(part_of(0, 4, 0).count, 0);
}

RC_GTEST_PROP(PartOf, AnySplit_CoversAllElementsOnceAndSizesDifferByAtMostOne, ()) {
  const i64 n = *rc::gen::inRange<i64>(0, i64{1} << 40);
  const i64 parts = *rc::gen::inRange<i64>(1, 600);
  i64 next = 0;
  for (i64 i = 0; i < parts; ++i) {
    const Part part = part_of(n, parts, i);
    RC_ASSERT(part.first == next);
    RC_ASSERT(part.count == n / parts || part.count == n / parts + 1);
    next += part.count;
  }
  RC_ASSERT(next == n);
}

TEST(Group, OneRank_CollectivesChangeNothing) {
  const Group group;
  std::vector<float> whole{1, 2, 3}, part(3);
  const Slab slab{whole.data(), 3, Number::f32};
  group.all_reduce(K::dp_all_reduce, slab);
  group.all_gather(K::dp_all_gather, slab);
  group.reduce_scatter(K::dp_reduce_scatter, slab, {part.data(), 3, Number::f32});
  EXPECT_FALSE(group.start_all_reduce(K::dp_all_reduce, slab));
  EXPECT_EQ(whole, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(part, whole);
  group.reduce_scatter(K::dp_reduce_scatter, slab, slab);  // in place
  EXPECT_EQ(part, whole);
  EXPECT_TRUE(group.alone());
  EXPECT_EQ(group.part(7).count, 7);
}

TEST(Group, PendingCall_EndsExactlyOnce) {
  int ended = 0;
  Counters counters;
  const Group group(std::make_shared<FakeTransport>(&ended), mesh::GroupKind::dp, 0, &counters);
  float number = 1;
  const Slab slab{&number, 1, Number::f32};
  group.all_reduce(K::dp_all_reduce, slab);
  EXPECT_EQ(ended, 1);
  { const Pending dropped = group.start_all_reduce(K::dp_all_reduce, slab); }
  EXPECT_EQ(ended, 2);
  Pending kept = group.start_all_reduce(K::dp_all_reduce, slab);
  kept = group.start_all_gather(K::dp_all_gather, slab);  // completes the call that it held
  EXPECT_EQ(ended, 3);
  EXPECT_FALSE(kept.done());
  EXPECT_TRUE(kept.done());
  EXPECT_FALSE(kept);
  kept.wait();
  EXPECT_EQ(ended, 4);
}

TEST(Group, Counters_CountWholeTensorsAndNoReceives) {
  int ended = 0;
  Counters counters;
  const Group group(std::make_shared<FakeTransport>(&ended), mesh::GroupKind::pp, 1, &counters);
  std::vector<double> numbers(10), part(5);
  const Slab whole{numbers.data(), 10, Number::f64};
  group.reduce_scatter(K::dp_reduce_scatter, whole, {part.data(), 5, Number::f64});
  group.start_send(K::pp_forward, whole, 0, 7);
  group.start_recv(K::pp_backward, whole, 0, 7);
  // 10 doubles are 80 bytes.
  const std::vector<TrafficCount> rows = counters.rows();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].traffic,
            (plan::Traffic{K::pp_forward, plan::Op::send_recv, mesh::GroupKind::pp, 1, Bytes{80}}));
  EXPECT_EQ(rows[1].traffic, (plan::Traffic{K::dp_reduce_scatter, plan::Op::reduce_scatter,
                                            mesh::GroupKind::pp, 1, Bytes{80}}));
  EXPECT_EQ(rows[0].level, 1);
}

TEST(GroupDeathTest, PartOfWrongSizeOrOverlapping_Aborts) {
  int ended = 0;
  const Group group(std::make_shared<FakeTransport>(&ended), mesh::GroupKind::dp, 0, nullptr);
  std::vector<float> whole(4), part(4);
  const Slab slab{whole.data(), 4, Number::f32};
  EXPECT_DEATH(group.reduce_scatter(K::dp_reduce_scatter, slab, {part.data(), 3, Number::f32}),
               "internal error");
  EXPECT_DEATH(group.reduce_scatter(K::dp_reduce_scatter, slab, {whole.data(), 2, Number::f32}),
               "internal error");
  EXPECT_DEATH(Group().start_send(K::pp_forward, slab, 0, 0), "internal error");
}

RC_GTEST_PROP(Counters, ManyCalls_TotalsAddUp, ()) {
  const std::vector<std::pair<bool, i64>> calls =
      *rc::gen::container<std::vector<std::pair<bool, i64>>>(
          rc::gen::pair(rc::gen::arbitrary<bool>(), rc::gen::inRange<i64>(0, i64{1} << 40)));
  Counters counters;
  i64 sent[2] = {}, times[2] = {};
  for (const auto& [forward, bytes] : calls) {
    counters.add(forward ? K::pp_forward : K::pp_backward, plan::Op::send_recv, mesh::GroupKind::pp,
                 2, Bytes{double(bytes)});
    sent[forward] += bytes;
    ++times[forward];
  }
  for (const TrafficCount& row : counters.rows()) {
    const bool forward = row.traffic.kind == K::pp_forward;
    RC_ASSERT(row.traffic.calls == times[forward] && times[forward] > 0);
    RC_ASSERT(row.traffic.total == Bytes{double(sent[forward])});
  }
  RC_ASSERT(counters.rows().size() == std::size_t(times[0] > 0) + std::size_t(times[1] > 0));
  counters.clear();
  RC_ASSERT(counters.rows().empty());
}

TEST(Counters, OnlyReceives_TimeIsKeptWithoutARow) {
  Counters counters;
  counters.waited(K::pp_forward, 2.0_s);
  counters.waited(K::pp_forward, 1.0_s);
  EXPECT_EQ(counters.waited(K::pp_forward), 3.0_s);
  EXPECT_TRUE(counters.rows().empty());
}

}  // namespace group_test
}  // namespace rankwright::runtime
