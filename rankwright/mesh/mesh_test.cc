#include "rankwright/mesh/mesh.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "tests/support/enumeration.h"

namespace rankwright::mesh {
namespace mesh_test {

std::string complete_order(std::string_view text) {
  const std::optional<Order> order = parse_order(text);
  return order ? show(*order) : "nothing";
}

TEST(Order, Default_IsMegatrons) { EXPECT_EQ(show(kDefaultOrder), "tp-cp-ep-dp-pp"); }

TEST(Order, OmittedAxes_AreFilledInForMegatronsOtherOrder) {
  EXPECT_EQ(complete_order("tp-pp-dp"), "tp-cp-ep-pp-dp");
  EXPECT_EQ(complete_order("tp-cp-pp-dp"), "tp-cp-ep-pp-dp");
}

TEST(Order, OmittedAxis_FollowsItsPredecessorsInTheDefaultOrder) {
  EXPECT_EQ(complete_order("tp"), "tp-cp-ep-dp-pp");
  EXPECT_EQ(complete_order("pp"), "tp-cp-ep-dp-pp");  // nothing comes before tp, so it is first
  EXPECT_EQ(complete_order("pp-tp"), "pp-tp-cp-ep-dp");
  EXPECT_EQ(complete_order("dp-tp"), "dp-tp-cp-ep-pp");
  EXPECT_EQ(complete_order("cp-tp"), "cp-tp-ep-dp-pp");
  EXPECT_EQ(complete_order("pp-dp-ep-cp"), "tp-pp-dp-ep-cp");
}

TEST(Order, AnySeparator_IsAccepted) {
  EXPECT_EQ(complete_order("tp,cp,ep,pp,dp"), "tp-cp-ep-pp-dp");
  EXPECT_EQ(complete_order(" tp, cp ,ep pp\tdp "), "tp-cp-ep-pp-dp");
}

TEST(Order, UnknownRepeatedOrNoAxes_AreRejected) {
  for (const char* text : {"tp-xp", "tp-tp", "tp-cp-ep-dp-pp-tp", "TP-dp", "tpcp", "t", "", " - "})
    EXPECT_EQ(complete_order(text), "nothing") << '\'' << text << '\'';
}

TEST(Order, AllOrders_RoundTrip) {
  Order order = kDefaultOrder;
  int orders = 0;
  do {
    EXPECT_EQ(parse_order(show(order)), order) << show(order);
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(orders, 120);  // 5!
}

RC_GTEST_PROP(Order, Completion_KeepsTheStatedOrder, ()) {
  const Order full = enumeration::random_order();
  const int kept = *rc::gen::inRange(1, 32);
  std::string stated;
  std::vector<Axis> named;
  for (std::size_t i = 0; i < kAxes; ++i) {
    if ((kept >> i & 1) == 0) continue;
    stated.append(stated.empty() ? "" : "-").append(name(full[i]));
    named.push_back(full[i]);
  }
  const std::optional<Order> order = parse_order(stated);
  RC_ASSERT(order.has_value());
  std::vector<Axis> found;
  for (const Axis axis : *order)
    if (std::find(named.begin(), named.end(), axis) != named.end()) found.push_back(axis);
  RC_ASSERT(found == named);
  Order sorted = *order;
  std::sort(sorted.begin(), sorted.end());
  RC_ASSERT(sorted == kAllAxes);
}

TEST(Mesh, SingleRank_HasAllCoordinatesZero) {
  const Mesh mesh;
  EXPECT_EQ(mesh.size(), 1);
  for (const Axis axis : kAllAxes) EXPECT_EQ(mesh.coordinate(0, axis), 0) << name(axis);
}

TEST(Mesh, Strides_AreProductsOfInnerDegrees) {
  // 64 ranks as tp 8, dp 2, pp 4; rank 43 = 8*(2*2 + 1) + 3.
  const Mesh mesh{.tp = 8, .dp = 2, .pp = 4};
  EXPECT_EQ(mesh.size(), 64);
  EXPECT_EQ(mesh.stride(Axis::tp), 1);
  EXPECT_EQ(mesh.stride(Axis::dp), 8);
  EXPECT_EQ(mesh.stride(Axis::pp), 16);
  EXPECT_EQ(mesh.coordinate(43, Axis::tp), 3);
  EXPECT_EQ(mesh.coordinate(43, Axis::dp), 1);
  EXPECT_EQ(mesh.coordinate(43, Axis::pp), 2);
}

RC_GTEST_PROP(Mesh, Coordinates_MatchEnumeration, ()) {
  const MeshPair meshes = enumeration::random_meshes(*rc::gen::inRange<i64>(1, 400));
  for (const Mesh& mesh : {meshes.dense, meshes.expert}) {
    const auto expected = enumeration::coordinates(mesh);
    RC_ASSERT(i64(expected.size()) == mesh.size());
    for (std::size_t rank = 0; rank < expected.size(); ++rank)
      for (const Axis axis : kAllAxes)
        RC_ASSERT(mesh.coordinate(i64(rank), axis) == expected[rank][std::size_t(axis)]);
  }
}

TEST(SamePipeline, MegatronsOrders_HoldsIfPipelineStridesAreEqual) {
  MeshPair meshes{.dense = {.tp = 2, .cp = 2, .dp = 2, .pp = 2},
                  .expert = {.ep = 4, .dp = 2, .pp = 2}};
  EXPECT_TRUE(meshes.same_pipeline());  // both strides 8
  meshes.dense.order = meshes.expert.order = *parse_order("tp-cp-ep-pp-dp");
  EXPECT_TRUE(meshes.same_pipeline());  // 2*2 and 1*4
  meshes.expert = {.ep = 2, .dp = 4, .pp = 2, .order = meshes.dense.order};
  EXPECT_FALSE(meshes.same_pipeline());  // 2*2 but 1*2
}

TEST(SamePipeline, OneStage_AlwaysHolds) {
  EXPECT_TRUE((MeshPair{.dense = {.tp = 2, .dp = 4, .order = *parse_order("tp-pp-dp")},
                        .expert = {.ep = 8, .order = *parse_order("tp-pp-dp")}}
                   .same_pipeline()));
}

TEST(SamePipeline, DifferentRanksOrStages_DoesNotHold) {
  const Mesh inner{.dp = 4, .pp = 2, .order = *parse_order("pp-dp")};
  Mesh more = inner;
  more.dp = 8;
  EXPECT_FALSE((MeshPair{.dense = inner, .expert = more}.same_pipeline()));
  EXPECT_FALSE((MeshPair{.dense = inner, .expert = {.dp = 2, .pp = 4, .order = inner.order}}
                    .same_pipeline()));
}

RC_GTEST_PROP(SamePipeline, Holds_IfAndOnlyIfPipelineGroupsAreEqual, ()) {
  const MeshPair meshes = enumeration::random_meshes(*rc::gen::inRange<i64>(1, 200));
  RC_ASSERT(meshes.same_pipeline() == (enumeration::groups(meshes.dense, {Axis::pp}) ==
                                       enumeration::groups(meshes.expert, {Axis::pp})));
}

}  // namespace mesh_test
}  // namespace rankwright::mesh
