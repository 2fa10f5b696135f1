// The space that a search goes through, axis by axis: which degrees, orders, schedules, stage
// splits and ZeRO stages there are to choose from. A candidate is one choice of each. Counting
// them, and which candidate is which Plan, is here; what they cost is explore.h.
//
//   degrees                           a Node
//     microbatch, sequence parallelism, recompute
//       schedule and chunks, even or balanced stages
//         order of the axes, exchange of context parallelism
//           ZeRO stage, and the level inside which it shards
#pragma once

#include <functional>
#include <vector>

#include "rankwright/search/problem.h"

namespace rankwright::search {

/// The outermost choice.
struct Node {
  i64 tp = 1, cp = 1, pp = 1, dp = 1;
  i64 ep = 1, etp = 1;

  friend bool operator==(const Node&, const Node&) = default;
};

/// How the layers are put through the pipeline.
struct Pipe {
  pipeline::Schedule schedule = pipeline::Schedule::one_f_one_b;
  i64 chunks = 1;
  bool balanced = false;  // stages as even as layers go in time, not in number

  friend bool operator==(const Pipe&, const Pipe&) = default;
};

/// What is sharded, and inside which level: none is all data ranks.
struct Sharding {
  static constexpr int kWhole = -1;
  int zero = 0;
  int level = kWhole;

  friend bool operator==(const Sharding&, const Sharding&) = default;
};

/// All nodes, in an order that never changes: every way to write the world as tp x cp x pp x dp,
/// with every ep and etp. Also those that break a rule: they are counted.
std::vector<Node> list_nodes(const Problem& problem);
/// Visits the same, one by one, until `visit` returns false: 720,720 GPUs have six million of them
/// for a model with 256 experts.
void for_each_node(const Problem& problem, const std::function<bool(const Node&)>& visit);
Node node_of(const plan::Plan& plan);

/// The config of a node whose inner choices are the plainest.
plan::TrainingConfig config_of(const Problem& problem, const Node& node);

/// The inner choices of a node, plainest first.
/// Microbatches divide a replica's batch; 1 where the batch does not divide over the replicas.
std::vector<i64> list_micro_batches(const Problem& problem, const Node& node);
std::vector<mesh::Order> list_orders(const Problem& problem, const Node& node);
std::vector<bool> list_sequence_parallels(const Problem& problem, const Node& node);
std::vector<plan::CpComm> list_cp_comms(const Problem& problem, const Node& node);
std::vector<plan::Recompute> list_recomputes(const Problem& problem);
std::vector<Pipe> list_pipes(const Problem& problem, const Node& node);
std::vector<Sharding> list_shardings(const Problem& problem, const Node& node);

/// Candidates of a node: the product of its inner choices.
i64 candidates(const Problem& problem, const Node& node);

/// Writes a choice into a plan that has the node's degrees.
void choose(plan::Plan& plan, const Pipe& pipe);
/// `size` is the ranks of a shard, 0 for all. What the framework overlaps follows from the other
/// choices, which are made by then: without ZeRO there is nothing to gather early.
void choose(plan::Plan& plan, int zero, i64 size, const Problem& problem);

}  // namespace rankwright::search
