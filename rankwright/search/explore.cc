#include "rankwright/search/explore.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "rankwright/cost/memory.h"
#include "rankwright/cost/priced.h"
#include "rankwright/cost/step.h"
#include "rankwright/model/parameters.h"
#include "rankwright/program/schedule.h"

namespace rankwright {
namespace {

constexpr Seconds kNever{std::numeric_limits<double>::infinity()};
constexpr Bytes kEndless{std::numeric_limits<double>::infinity()};

/// A choice of ZeRO on one order of the axes.
struct Shard {
  int zero = 0;
  i64 size = 0;        // ranks of a shard; 0: all
  std::size_t at = 0;  // of this pair among all that the node has
  Span shard{}, replicate{};

  friend bool operator==(const Shard&, const Shard&) = default;
};

/// An order of the axes: how its groups lie.
struct Lie {
  Order order{};
  Links links;
  std::vector<Shard> shards{};
  std::size_t inside = 0;     // among the ways in which groups inside layers lie
  std::size_t tensor = 0;     // among those in which tensor-parallel groups lie
  i64 alike = 0, broken = 0;  // choices of ZeRO that come to another one, that arithmetic forbids
};

/// An order and an exchange, priced.
struct Route {
  Lie* lie = nullptr;
  CpComm comm{};
  LayerPrices prices;
  Seconds least{};  // of a step with one chunk a pp rank
  Seconds chunk{};  // what sends add for each chunk more
  // What a layer takes at least, whichever kind it is: forward, and then.
  Seconds forward{}, backward{};

  Seconds least_with(const Pipe& pipe) const { return least + double(pipe.chunks - 1) * chunk; }
};

/// Layers of a pipeline whose stages go round: on its first and last pp rank, and in the stages
/// that a microbatch passes before it comes to the last.
struct Ends {
  bool known = false;
  double first = 0, last = 0, before = 0;
};

/// A choice of ZeRO that fits, and what the step takes at least.
struct Fit {
  const Shard* shard = nullptr;
  Bytes memory{};
  Seconds least{};
};

constexpr GroupKind kKinds[] = {GroupKind::tp, GroupKind::cp,  GroupKind::pp, GroupKind::shard,
                                GroupKind::ep, GroupKind::etp, GroupKind::edp};

/// Those that the layers wait for.
constexpr GroupKind kInside[] = {GroupKind::tp, GroupKind::cp, GroupKind::ep, GroupKind::etp};

bool alike(const Lie& a, const Lie& b, std::span<const GroupKind> kinds) {
  return std::all_of(kinds.begin(), kinds.end(),
                     [&](GroupKind kind) { return a.links.span(kind) == b.links.span(kind); });
}

bool alike(const Lie& a, const Lie& b) { return a.shards == b.shards && alike(a, b, kKinds); }

/// What the lightest layer takes.
void find_lightest(Route& route) {
  route.forward = route.backward = kNever;
  for (const KindPrice& kind : route.prices.kinds) {
    const Seconds again = kind.time.again;
    route.forward = std::min(route.forward, kind.time.forward.total());
    route.backward = std::min(route.backward, kind.time.backward() + again);
  }
}

/// Keeps of `all` those that nothing is as fast and as small as, the fastest first.
void keep_front(std::vector<Candidate>& all) {
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.time != b.time ? a.time < b.time : a.memory < b.memory;
  });
  Bytes least{std::numeric_limits<double>::infinity()};
  std::erase_if(all, [&](const Candidate& one) {
    if (one.memory >= least) return true;
    least = one.memory;
    return false;
  });
}

/// Something in a front is as fast and as small.
bool covered(const std::vector<Candidate>& front, Seconds time, Bytes memory) {
  // Memory falls as time grows: of those that are as fast the last is the smallest.
  const auto slower = std::partition_point(front.begin(), front.end(),
                                           [&](const Candidate& one) { return one.time <= time; });
  return slower != front.begin() && std::prev(slower)->memory <= memory;
}

void add_to_front(std::vector<Candidate>& front, const Candidate& one) {
  if (covered(front, one.time, one.memory)) return;
  std::erase_if(front, [&](const Candidate& other) {
    return other.time >= one.time && other.memory >= one.memory;
  });
  front.insert(std::partition_point(front.begin(), front.end(),
                                    [&](const Candidate& o) { return o.time <= one.time; }),
               one);
}

void keep_families(std::vector<Candidate>& all) {
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    const auto key = [](const Candidate& c) {
      return std::tuple(family(c.plan), c.sure, c.time.value);
    };
    return key(a) < key(b);
  });
  const auto same = [](const Candidate& a, const Candidate& b) {
    return family(a.plan) == family(b.plan) && a.sure == b.sure;
  };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
}

void drop_slower(std::vector<Candidate>& all, Seconds than) {
  std::erase_if(all, [&](const Candidate& one) { return one.time > than; });
}

/// Of a setup whatever its order, sequence parallelism and recompute: nothing is sent, and
/// sequence parallelism divides what it can.
Seconds unlinked_time(const Ground& ground, Setup& setup) {
  const bool before = std::exchange(setup.plan.sequence_parallel, true);
  if (first_misfit(setup)) setup.plan.sequence_parallel = false;
  const Seconds least = rankwright::least_time(
      setup, ground.calibration,
      layer_prices(setup, Links::none(setup, ground.calibration), ground.calibration));
  setup.plan.sequence_parallel = before;
  return least;
}

class Explorer {
 public:
  Explorer(const Ground& ground, const Node& node, const Known& known, Balance& balance)
      : ground_(ground),
        problem_(ground.problem),
        node_(node),
        balance_(balance),
        best_(known.best.value_or(kNever)),
        leanest_(known.leanest.value_or(kEndless)),
        setup_(setup_of(ground.problem, node)),
        shardings_(shardings(problem_, node)),
        pipes_(pipes(problem_, node)),
        comms_(cp_comms(problem_, node)),
        micro_batches_(micro_batches(problem_, node)),
        sequence_parallels_(sequence_parallels(problem_, node)),
        recomputes_(recomputes(problem_)) {}

  Explored all();

 private:
  Plan& plan() { return setup_.plan; }
  Seconds limit() const { return ground_.bounds ? (1 + ground_.windows.widest()) * best_ : kNever; }
  /// Candidates that differ in neither order nor ZeRO.
  i64 outside_order() const {
    return i64(micro_batches_.size() * sequence_parallels_.size() * recomputes_.size() *
               comms_.size() * pipes_.size());
  }
  void microbatch(i64 size);
  void some_pipes(bool chunked);
  void find_lies();
  Lie lie(const Order& order);
  Seconds least_with_tensor(const Lie& lie);
  std::vector<Route> routes();
  std::vector<Route*> open_routes(std::vector<Route>& all);
  void weigh_states();
  void weigh_layers();
  bool never_fits();
  Bytes least_memory(const Pipe& pipe) const;
  Bytes least_on_first() const;
  bool too_large(Bytes least) const;
  Ends ends(const Pipe& pipe) const;
  Seconds least_time(const Route& route, const Pipe& pipe, const Ends& ends) const;
  void pipeline(const Pipe& pipe, const std::vector<Route*>& routes, const LayerPrices& unlinked);
  void find_fitting(const Route& route, Seconds least);
  void route(Route& route, const Pipe& pipe);
  bool refused();
  Bytes memory(const Shard& shard);
  /// Of the node, with this recompute: of those that fit for sure, or of the others.
  Seconds& fastest(int zero, bool sure) {
    return families_[std::size_t(setup_.plan.recompute)][std::size_t(zero)][sure ? 1 : 0];
  }
  bool sure(Bytes memory) const { return memory <= ground_.safe; }
  bool hopeless(Seconds least, int zero, Bytes memory);
  void keep(Seconds time, Bytes memory);
  void miss(Misfit misfit, i64 count) { out_.tally.misfits[misfit.why] += count; }

  const Ground& ground_;
  const Problem& problem_;
  const Node& node_;
  Balance& balance_;
  Seconds best_;
  Bytes leanest_;
  Setup setup_;
  std::vector<Sharding> shardings_;
  std::vector<Pipe> pipes_;
  std::vector<Pipe> open_pipes_{};  // those of them that hide sends alike
  std::vector<CpComm> comms_;
  std::vector<i64> micro_batches_;
  std::vector<bool> sequence_parallels_;
  std::vector<Recompute> recomputes_;
  std::vector<Lie> lies_{};
  std::size_t ways_ = 0, tensor_ways_ = 0;  // in which groups inside layers lie, and those of tp
  // The fastest so far, by recompute, ZeRO stage and whether it fits for sure.
  std::array<std::array<std::array<Seconds, 2>, 4>, 3> families_{};
  std::vector<std::pair<int, i64>> sizes_{};  // ZeRO and shards that any order has
  std::vector<RankLoad> loads_{};             // of this pipe
  std::vector<Bytes> totals_{};               // of this pipe, by Shard::at; kEndless: not known yet
  std::vector<Fit> fitting_{};
  i64 shards_ = 0;    // choices of ZeRO on all orders
  Bytes states_{};    // of a rank, at least
  Bytes kept_{};      // activations of one microbatch in all layers, on a rank that had them all
  Bytes lightest_{};  // activations of one microbatch in a layer that keeps least
  i64 inside_ = 0;    // candidates of one pipe
  Stages stages_{};   // of this pipe
  Ends ends_{};       // and what stands at their ends
  Explored out_{};
};

/// Hybrid sharding is over the data ranks that one domain of the level holds.
Lie Explorer::lie(const Order& order) {
  plan().order = order;
  choose(plan(), 0, 0, problem_);
  Lie lie{.order = order, .links = Links(setup_, ground_.calibration)};
  if (plan().pp > 1) lie.links.add(setup_, GroupKind::mirror);  // for schedules that have pairs
  const i64 all = plan().data_ranks();
  const Span& whole = lie.links.span(GroupKind::shard);
  for (const Sharding& sharding : shardings_) {
    Shard shard{.zero = sharding.zero, .shard = whole, .replicate = {}};
    if (sharding.level != Sharding::kWhole) {
      const std::size_t level = std::size_t(sharding.level);
      shard.size = all > 1 ? whole.inside[level] : 1;
      if (shard.size <= 1 || shard.size >= all ||
          std::any_of(lie.shards.begin(), lie.shards.end(), [&](const Shard& other) {
            return other.zero == shard.zero && other.size == shard.size;
          })) {
        ++lie.alike;
        continue;
      }
      if (whole.least[level] != shard.size || !valid_shard_size(plan().meshes(), shard.size)) {
        ++lie.broken;
        continue;
      }
      plan().shard_size = shard.size;
      shard.shard = span_of(setup_, GroupKind::shard);
      shard.replicate = span_of(setup_, GroupKind::replicate);
      plan().shard_size = 0;
    }
    const std::pair<int, i64> key{shard.zero, shard.size};
    const auto known = std::find(sizes_.begin(), sizes_.end(), key);
    shard.at = std::size_t(known - sizes_.begin());
    if (known == sizes_.end()) sizes_.push_back(key);
    lie.shards.push_back(shard);
  }
  return lie;
}

/// Orders whose groups lie as those of a plainer one cost the same.
void Explorer::find_lies() {
  const i64 outside = outside_order();
  const i64 each = outside * i64(shardings_.size());
  for (const Order& order : orders(problem_, node_)) {
    plan().order = order;
    if (const Misfit misfit = first_misfit(setup_)) {
      miss(misfit, each);
      continue;
    }
    Lie found = lie(order);
    if (std::any_of(lies_.begin(), lies_.end(),
                    [&](const Lie& other) { return alike(found, other); })) {
      out_.tally.alike += each;
      continue;
    }
    out_.tally.alike += found.alike * outside;
    if (found.broken > 0) miss({Misfit::Why::shard}, found.broken * outside);
    const auto like = [&](std::span<const GroupKind> kinds) {
      return std::find_if(lies_.begin(), lies_.end(),
                          [&](const Lie& other) { return alike(found, other, kinds); });
    };
    const auto inside = like(kInside), tensor = like(std::span(kInside).first(1));
    found.inside = inside == lies_.end() ? ways_++ : inside->inside;
    found.tensor = tensor == lies_.end() ? tensor_ways_++ : tensor->tensor;
    lies_.push_back(std::move(found));
  }
}

/// What a step takes at least where tensor-parallel groups lie so, whatever the others do.
Seconds Explorer::least_with_tensor(const Lie& lie) {
  Links links = Links::none(setup_, ground_.calibration);
  links.set(GroupKind::tp, lie.links.span(GroupKind::tp));
  return rankwright::least_time(setup_, ground_.calibration,
                                layer_prices(setup_, links, ground_.calibration));
}

/// What the layers take on each order and exchange, without recompute. Orders on which the groups
/// inside layers lie alike share that price.
std::vector<Route> Explorer::routes() {
  std::vector<Route> all;
  std::vector<std::optional<Seconds>> tensor(tensor_ways_);
  std::vector<std::optional<LayerPrices>> inside(ways_);
  const i64 outside = i64(recomputes_.size() * open_pipes_.size());
  if (lies_.empty()) return all;
  for (const CpComm comm : comms_) {
    std::fill(inside.begin(), inside.end(), std::nullopt);
    plan().order = lies_.front().order;
    plan().cp_comm = comm;
    if (const Misfit misfit = first_misfit(setup_)) {
      miss(misfit, outside * shards_);
      continue;
    }
    for (Lie& lie : lies_) {
      plan().order = lie.order;
      const i64 each = outside * i64(lie.shards.size());
      std::optional<Seconds>& with_tensor = tensor[lie.tensor];
      if (!with_tensor) with_tensor = least_with_tensor(lie);
      if (*with_tensor > limit()) {
        out_.tally.bounded += each;
        continue;
      }
      std::optional<LayerPrices>& known = inside[lie.inside];
      if (!known) known = layer_prices(setup_, lie.links, ground_.calibration);
      known->send = send_time(setup_, lie.links);
      const Seconds least = rankwright::least_time(setup_, ground_.calibration, *known);
      if (least > limit()) {
        out_.tally.bounded += each;
        continue;
      }
      const Seconds chunk = least_more(setup_, ground_.calibration, *known);
      all.push_back({&lie, comm, *known, least, chunk});
    }
  }
  return all;
}

/// The same with this recompute: what is then too slow is left out for now.
std::vector<Route*> Explorer::open_routes(std::vector<Route>& all) {
  std::vector<Route*> open;
  for (Route& one : all) {
    one.prices.recompute(plan().recompute);
    one.least = rankwright::least_time(setup_, ground_.calibration, one.prices);
    find_lightest(one);
    if (one.least > limit())
      out_.tally.bounded += i64(open_pipes_.size() * one.lie->shards.size());
    else
      open.push_back(&one);
  }
  std::stable_sort(open.begin(), open.end(),
                   [](const Route* a, const Route* b) { return a->least < b->least; });
  return open;
}

/// A rule of the target refuses the plan.
bool Explorer::refused() {
  for (const Rule* rule : ground_.rules)
    if (rule->fault(setup_)) {
      ++out_.tally.rules[rule->page.code];
      return true;
    }
  return false;
}

/// The ledger does not look at orders: what was counted for one stands for all.
Bytes Explorer::memory(const Shard& shard) {
  Bytes& total = totals_[shard.at];
  if (total == kEndless) total = fullest(setup_, ground_.calibration, loads_).total();
  return total;
}

/// A candidate of this family that takes so much memory, and no less time than `least`, is of no
/// interest: not near the best, not the best of its family, not in the front.
bool Explorer::hopeless(Seconds least, int zero, Bytes memory) {
  if (!ground_.bounds) return false;
  if (least > limit()) return true;
  return least > (1 + ground_.windows.near) * best_ && least >= fastest(zero, sure(memory)) &&
         covered(out_.front, least, memory);
}

void Explorer::keep(Seconds time, Bytes memory) {
  const Windows& windows = ground_.windows;
  const Candidate one{plan(), time, memory, sure(memory)};
  if (time < best_) best_ = time;
  if (!out_.best || time < out_.best->time) out_.best = one;
  if (time <= (1 + windows.near) * best_) out_.near.push_back(one);
  if (time > (1 + windows.family) * best_) return;
  add_to_front(out_.front, one);
  Seconds& known = fastest(plan().zero, one.sure);
  if (time >= known) return;
  known = time;
  out_.families.push_back(one);
}

/// Those of the order's choices of ZeRO that fit and that no rule refuses.
void Explorer::find_fitting(const Route& route, Seconds least) {
  fitting_.clear();
  for (const Shard& shard : route.lie->shards) {
    choose(plan(), shard.zero, shard.size, problem_);
    if (refused()) continue;
    const Bytes total = memory(shard);
    if (total <= problem_.capacity) {
      fitting_.push_back({&shard, total, least});
      continue;
    }
    ++out_.tally.memory;
    if (total >= leanest_) continue;
    leanest_ = total;
    out_.leanest = {plan(), {}, total};
  }
}

void Explorer::route(Route& route, const Pipe& pipe) {
  plan().order = route.lie->order;
  plan().cp_comm = route.comm;
  const Seconds least = least_time(route, pipe, ends_);
  if (least > limit()) {
    out_.tally.bounded += i64(route.lie->shards.size());
    return;
  }
  find_fitting(route, least);
  if (fitting_.empty()) return;
  std::vector<Fit>& fitting = fitting_;
  const auto bounded = [&] {
    out_.tally.bounded += i64(std::erase_if(
        fitting, [&](const Fit& one) { return hopeless(one.least, one.shard->zero, one.memory); }));
    return fitting.empty();
  };
  if (bounded()) return;
  const Calibration& c = ground_.calibration;
  const StagePrices staged = stage_prices(setup_, c, route.prices);
  // All but the bubble, of which no less than this is certain.
  const Seconds soonest = least_end(setup_, staged);
  for (Fit& one : fitting) {
    choose(plan(), one.shard->zero, one.shard->size, problem_);
    route.lie->links.set(GroupKind::shard, one.shard->shard);
    route.lie->links.set(GroupKind::replicate, one.shard->replicate);
    one.least = step_time(setup_, c, route.lie->links, route.prices, staged, soonest).total();
  }
  if (bounded()) return;
  const Seconds later = slowed(setup_, c, pipeline_end(setup_, staged) - soonest);
  for (const Fit& one : fitting) {
    choose(plan(), one.shard->zero, one.shard->size, problem_);
    ++out_.tally.priced;
    if (one.least + later <= limit()) keep(one.least + later, one.memory);
  }
}

/// What no rank's states are below on average, whatever is sharded of them that the limits allow.
void Explorer::weigh_states() {
  const Job& job = setup_.job;
  const Parameters all = parameters(setup_.model);
  const double stages = double(node_.pp);
  const double expert = double(all.experts) / double(node_.etp * node_.ep) / stages;
  const double dense = double(all.total() - all.experts) / double(node_.tp) / stages;
  const double each[] = {double(job.param_bytes()), double(job.grad_bytes()),
                         double(job.optimizer_bytes())};
  const double shard = dense / double(node_.dp * node_.cp) + expert / double(plan().expert_dp());
  // FSDP keeps its weights in shards from ZeRO-2 on.
  const int weights = setup_.software.fsdp ? 2 : 3;
  const int from[] = {weights, 2, 1};  // ZeRO stage that shards parameters, gradients, optimizer
  states_ = kEndless;
  for (const Sharding& sharding : shardings_) {
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k)
      sum += each[k] * (sharding.zero >= from[k] ? shard : dense + expert);
    states_ = std::min(states_, Bytes{sum});
  }
}

void Explorer::weigh_layers() {
  kept_ = {};
  lightest_ = kEndless;
  for (const LayerRun& run : setup_.model.runs) {
    const LayerActivations a = activations(setup_, run.layer);
    const Bytes each = plan().recompute == Recompute::full ? a.input : a.kept;
    kept_ += double(run.count) * each;
    lightest_ = std::min(lightest_, each);
  }
}

/// No pipe of any recompute fits.
bool Explorer::never_fits() {
  const Recompute before = plan().recompute;
  const bool never = std::all_of(recomputes_.begin(), recomputes_.end(), [&](Recompute one) {
    plan().recompute = one;
    weigh_layers();
    return std::all_of(pipes_.begin(), pipes_.end(),
                       [&](const Pipe& pipe) { return too_large(least_memory(pipe)); });
  });
  plan().recompute = before;
  return never;
}

/// The fullest pp rank holds no less than the mean: all its chunks of one microbatch, whose
/// backward begins behind its last forward (with DualPipe one of two stages), and its states.
Bytes Explorer::least_memory(const Pipe& pipe) const {
  const bool mirror = row(pipe.schedule).order == StageOrder::mirror;
  return (mirror ? 0.5 : 1) / double(node_.pp) * kept_ + states_;
}

/// Pp rank 0 holds so many of its smallest chunk at least.
Bytes Explorer::least_on_first() const {
  i64 layers = setup_.model.layers();
  const Stages& stages = stages_;
  for (const i64 s : stages_of(setup_.plan, 0))
    layers = std::min(layers, stages[std::size_t(s)].layers);
  return double(most_in_flight(pipeline_shape(setup_), 0) * layers) * lightest_ + states_;
}

Ends Explorer::ends(const Pipe& pipe) const {
  const bool loop = row(pipe.schedule).order == StageOrder::loop;
  const i64 pp = node_.pp;
  if (!loop || pp == 1 || !stages_.front().embedding || !stages_.back().loss) return {};
  Ends ends{.known = true};
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    const double layers = double(stages_[s].layers + stages_[s].mtp);
    const i64 rank = i64(s) % pp;
    if (rank == 0) ends.first += layers;
    if (rank == pp - 1) ends.last += layers;
    if (i64(s) < pp - 1) ends.before += layers;
  }
  return ends;
}

/// PT8 of the first and the last pp rank, without going through the stages.
Seconds Explorer::least_time(const Route& route, const Pipe& pipe, const Ends& ends) const {
  const Seconds least = route.least_with(pipe);
  if (!ends.known) return least;
  const LayerPrices& p = route.prices;
  const auto backward = [](const EdgeTime& edge) {
    return edge.input.total() + edge.weight.total();
  };
  const double m = double(setup_.microbatches());
  const double hops = double(node_.pp - 1);
  const Seconds layer = route.forward + route.backward;
  const Seconds embedding = p.embedding.forward.total() + backward(p.embedding);
  const Seconds head =
      double(1 + setup_.model.mtp_layers) * (p.head.forward.total() + backward(p.head));
  Seconds last = ends.before * route.forward + p.embedding.forward.total() + hops * p.send +
                 m * (ends.last * layer + head);
  if (!row(pipe.schedule).splits_backward)
    last += ends.before * route.backward + backward(p.embedding) + hops * p.send;
  const Seconds first = m * (ends.first * layer + embedding);
  return std::max(least, slowed(setup_, ground_.calibration, std::max(first, last)));
}

/// What needs so much does not fit, and where nothing is known to fit it is not the leanest either.
bool Explorer::too_large(Bytes least) const {
  return ground_.bounds && least > problem_.capacity && (best_ < kNever || least >= leanest_);
}

void Explorer::pipeline(const Pipe& pipe, const std::vector<Route*>& routes,
                        const LayerPrices& unlinked) {
  const i64 each = inside_;
  choose(plan(), pipe);
  choose(plan(), 0, 0, problem_);
  if (too_large(least_memory(pipe))) {
    out_.tally.memory += each;
    return;
  }
  if (std::all_of(routes.begin(), routes.end(),
                  [&](const Route* one) { return one->least_with(pipe) > limit(); })) {
    out_.tally.bounded += each;
    return;
  }
  if (const Misfit misfit = first_pipeline_misfit(setup_)) return miss(misfit, each);
  stages_ = setup_.stages();
  if (pipe.balanced) {
    const Stages& balanced = balance_.stages(setup_, unlinked);
    if (balanced.empty() || balanced == stages_) {
      out_.tally.alike += each;
      return;
    }
    stages_ = plan().stages = balanced;
    if (const Misfit misfit = first_pipeline_misfit(setup_)) return miss(misfit, each);
  }
  if (too_large(least_on_first())) {
    out_.tally.memory += each;
    return;
  }
  ends_ = ends(pipe);
  if (std::all_of(routes.begin(), routes.end(),
                  [&](const Route* one) { return least_time(*one, pipe, ends_) > limit(); })) {
    out_.tally.bounded += each;
    return;
  }
  loads_ = RankLoads(setup_).that_count();
  totals_.assign(sizes_.size(), kEndless);
  for (Route* one : routes) route(*one, pipe);
}

/// All candidates of one microbatch size.
void Explorer::microbatch(i64 size) {
  plan() = setup_of(problem_, node_).plan;
  plan().micro_batch = size;
  if (unlinked_time(ground_, setup_) > limit()) {
    out_.tally.bounded += shards_ * outside_order() / i64(micro_batches_.size());
    return;
  }
  for (const bool sequence_parallel : sequence_parallels_) {
    choose(plan(), Pipe{});
    plan().sequence_parallel = sequence_parallel;
    plan().recompute = Recompute::none;
    choose(plan(), 0, 0, problem_);  // what tp hides follows from the above
    if (never_fits()) {
      out_.tally.memory +=
          shards_ * outside_order() / i64(micro_batches_.size() * sequence_parallels_.size());
      continue;
    }
    for (const bool chunked : {false, true}) some_pipes(chunked);
  }
}

/// The pipes of one chunk a pp rank, or the others: those may hide sends.
void Explorer::some_pipes(bool chunked) {
  open_pipes_ = pipes_;
  if (problem_.overlap_chunks)
    std::erase_if(open_pipes_, [&](const Pipe& pipe) { return (pipe.chunks > 1) != chunked; });
  else if (chunked)
    return;
  if (open_pipes_.empty()) return;
  choose(plan(), Pipe{});
  plan().recompute = Recompute::none;
  choose(plan(), 0, 0, problem_);
  if (problem_.overlap_chunks) plan().overlap.pp = chunked;
  const Overlap overlap = plan().overlap;
  std::vector<Route> all = routes();
  if (all.empty()) return;
  plan().order = kDefaultOrder;
  plan().cp_comm = CpComm::p2p;
  LayerPrices unlinked =
      layer_prices(setup_, Links::none(setup_, ground_.calibration), ground_.calibration);
  for (const Recompute recompute : recomputes_) {
    choose(plan(), Pipe{});
    plan().overlap = overlap;
    plan().recompute = recompute;
    const std::vector<Route*> open = open_routes(all);
    if (open.empty()) continue;
    weigh_layers();
    unlinked.recompute(recompute);
    inside_ = 0;
    for (const Route* route : open) inside_ += i64(route->lie->shards.size());
    for (const Pipe& pipe : open_pipes_) pipeline(pipe, open, unlinked);
  }
}

Explored Explorer::all() {
  for (auto& by_zero : families_)
    for (auto& by_sureness : by_zero) by_sureness.fill(kNever);
  find_lies();
  for (const Lie& lie : lies_) shards_ += i64(lie.shards.size());
  weigh_states();
  for (const i64 size : micro_batches_) microbatch(size);
  keep_families(out_.families);
  out_.tally.candidates = candidates(problem_, node_);
  return std::move(out_);
}

}  // namespace

void Explored::merge(Explored&& other, const Windows& windows) {
  tally += other.tally;
  if (other.best && (!best || faster(*other.best, *best))) best = std::move(other.best);
  const auto add = [](std::vector<Candidate>& to, std::vector<Candidate>& from) {
    to.insert(to.end(), std::move_iterator(from.begin()), std::move_iterator(from.end()));
  };
  add(near, other.near);
  add(families, other.families);
  add(front, other.front);
  if (best) {
    drop_slower(near, (1 + windows.near) * best->time);
    drop_slower(families, (1 + windows.family) * best->time);
    drop_slower(front, (1 + windows.family) * best->time);
  }
  keep_families(families);
  keep_front(front);
  if (other.leanest && (!leanest || other.leanest->memory < leanest->memory))
    leanest = std::move(other.leanest);
}

Ground ground(const Problem& problem, const Calibration& calibration, const Windows& windows) {
  Ground ground{
      .problem = problem, .calibration = calibration, .windows = windows, .safe = problem.safe()};
  for (const Rule* rule : rules())
    if (rule->target != Target::any && rule->target == problem.limits.target && rule->fault &&
        rule->page.severity != Severity::note)
      ground.rules.push_back(rule);
  return ground;
}

Prospect prospect(const Ground& ground, const Node& node) {
  Setup setup = setup_of(ground.problem, node);
  Prospect prospect{.node = node,
                    .least = kNever,
                    .promise = kNever,
                    .candidates = candidates(ground.problem, node)};
  // What the pipeline's schedule or the order asks may be met by another choice.
  prospect.misfit = first_misfit(setup);
  if (prospect.misfit) return prospect;
  const Links links(setup, ground.calibration);
  for (const i64 size : micro_batches(ground.problem, node)) {
    setup.plan.micro_batch = size;
    prospect.least = std::min(prospect.least, unlinked_time(ground, setup));
    prospect.promise = std::min(
        prospect.promise, rankwright::least_time(setup, ground.calibration,
                                                 layer_prices(setup, links, ground.calibration)));
  }
  return prospect;
}

Explored explore(const Ground& ground, const Node& node, const Known& known, Balance& balance) {
  return Explorer(ground, node, known, balance).all();
}

}  // namespace rankwright
