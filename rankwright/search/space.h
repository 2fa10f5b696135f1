// The search space: the degrees, orders, schedules, stage splits and ZeRO stages to choose from. A
// candidate is one choice of each. This file enumerates and counts the choices and writes them into
// a Plan; explore.h evaluates them.
//
//   degrees                           (a Node)
//     microbatch, sequence parallelism, recompute
//       schedule and chunks, even or balanced stages
//         axis order, context-parallel algorithm
//           ZeRO stage, and the network level inside which it shards
#pragma once

#include <functional>
#include <vector>

#include "rankwright/search/problem.h"

namespace rankwright::search {

/// The degrees of a plan: the outermost choice.
struct Node {
  i64 tp = 1, cp = 1, pp = 1, dp = 1;
  i64 ep = 1, etp = 1;

  friend bool operator==(const Node&, const Node&) = default;
};

/// A pipeline schedule with its number of chunks and its kind of stage split.
struct Pipe {
  pipeline::Schedule schedule = pipeline::Schedule::one_f_one_b;
  i64 chunks = 1;         // per pp rank
  bool balanced = false;  // stages balanced by time, not by number of layers

  friend bool operator==(const Pipe&, const Pipe&) = default;
};

/// A choice of recomputation.
struct RecomputeChoice {
  plan::Recompute kind = plan::Recompute::none;
  plan::RecomputeModules modules{};  // selective
  i64 quarters = 0;                  // full: of the layers of each stage; 0: all
  i64 rank_layers = 0;               // full: layers per pp rank, of which there are quarters
  i64 max_chunks = 0;                // full: with more, a stage has too few layers for quarters

  /// Returns the recomputed layers per stage with this many chunks per pp rank; 0: all.
  i64 layers(i64 chunks) const { return ceil_div(quarters * ceil_div(rank_layers, chunks), 4); }

  friend bool operator==(const RecomputeChoice&, const RecomputeChoice&) = default;
};

/// A ZeRO stage and the network level inside which it shards.
struct Sharding {
  static constexpr int kWhole = -1;  // over all data ranks
  int zero = 0;
  int level = kWhole;

  friend bool operator==(const Sharding&, const Sharding&) = default;
};

/// Returns all nodes, in a fixed order: every factorization of the world into tp x cp x pp x dp,
/// with every ep and etp. Includes nodes that violate constraints, because they are counted.
std::vector<Node> list_nodes(const Problem& problem);
/// Visits these nodes until `visit` returns false. Does not store them: on 720,720 GPUs, a model
/// with 256 experts has six million.
void for_each_node(const Problem& problem, const std::function<bool(const Node&)>& visit);
/// Returns the degrees of a plan.
Node node_of(const plan::Plan& plan);

/// Returns the config of a node with the simplest inner choices.
plan::TrainingConfig config_of(const Problem& problem, const Node& node);

// These functions return the inner choices of a node, simplest first.

/// Returns the divisors of a replica's batch; only 1 if dp does not divide the global batch.
std::vector<i64> list_micro_batches(const Problem& problem, const Node& node);
/// Returns the axis orders that differ on the axes with a degree above 1.
std::vector<mesh::Order> list_orders(const Problem& problem, const Node& node);
std::vector<bool> list_sequence_parallels(const Problem& problem, const Node& node);
std::vector<plan::CpComm> list_cp_comms(const Problem& problem, const Node& node);
/// Returns none, attention alone, the usual sets of modules and a quarter, half, three quarters or
/// all of the layers. Modules and parts of the layers only if the target can recompute them.
std::vector<RecomputeChoice> list_recomputes(const Problem& problem, const Node& node);
std::vector<Pipe> list_pipes(const Problem& problem, const Node& node);
std::vector<Sharding> list_shardings(const Problem& problem, const Node& node);

/// Returns whether a choice of recompute can be combined with a pipeline. Numbers of layers only
/// with the schedules of Megatron-LM, which alone counts layers.
bool combines(const RecomputeChoice& choice, const Pipe& pipe);
/// Returns the number of combinations of these.
i64 count_combinations(const std::vector<RecomputeChoice>& choices, const std::vector<Pipe>& pipes);

/// Returns the number of candidates of a node: the product of its inner choices.
i64 candidates(const Problem& problem, const Node& node);

/// Sets the schedule and the chunks of a plan, with even stages.
void choose(plan::Plan& plan, const Pipe& pipe);
/// Sets what a plan recomputes.
void choose(plan::Plan& plan, const RecomputeChoice& choice);
/// Sets the ZeRO stage, the ranks per shard (0: all data ranks) and the overlap of a plan. The
/// overlap depends on the other choices (without ZeRO there are no parameters to gather), so call
/// this last.
void choose(plan::Plan& plan, int zero, i64 size, const Problem& problem);
/// Returns the dispatcher that the problem states; an all-to-all if no tokens are sent.
plan::Dispatcher choose_dispatcher(const Problem& problem, i64 ep);

}  // namespace rankwright::search
