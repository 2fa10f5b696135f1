// Trains small models in many layouts under mpirun and compares each with a single process that
// does the same work: the losses of all steps, the gradients of the first, and the counted traffic
// with the predicted one. Layouts that train LoRA adapters, or only parts of the model, are
// compared likewise, and their frozen weights must not change. Prints a line per layout that fails,
// and totals.
//
//     mpirun -n 8 parity_check [--all | --lora | --frozen] [--steps N] [--only TEXT] [--table FILE]
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <map>

#include "rankwright/base/check.h"
#include "rankwright/program/expand.h"
#include "rankwright/runtime/checks/layouts.h"
#include "rankwright/runtime/engine.h"

namespace rankwright::runtime {
namespace {

/// The command line.
struct Flags {
  bool all = false, lora = false, frozen = false;
  i64 steps = 20;
  std::string only{}, table{};
};

/// The maximum relative errors allowed.
struct Bounds {
  double loss, gradient;
};

/// Returns the step whose gradients are compared: the first. Under LoRA the third, because the
/// gradient of A is 0 while B is; but not in bf16, where rounding decides the sign of B's first
/// updates.
i64 compared_step(const plan::Job& job) {
  return job.frozen() && job.param_dtype == plan::Dtype::fp64 ? 2 : 0;
}

/// The results of one training.
struct Training {
  std::vector<double> losses{};
  std::map<std::string, Tensor> gradients{};  // of compared_step(), by parameter
  std::string counted{};  // differences from the predicted traffic; empty if none
  bool frozen_changed = false;
};

TrainOptions options_of(bool clips) {
  return {.seed = 7, .learning_rate = 1e-3, .clip = clips ? 1.0 : 0};
}

/// Collects the whole gradients of the parameters that a rank holds; sharded ones are gathered.
void collect_gradients(Engine& engine, Training& into) {
  for (Parameter& parameter : engine.shard().parameters) {
    Tensor whole = engine.params().gradient_of(parameter);
    if (engine.config().plan.zero > 0)
      engine.rank().groups.data.all_reduce(plan::TrafficKind::dp_all_reduce, slab(whole));
    into.gradients[parameter.name] = whole;
  }
}

/// Returns the rows in which counted and predicted traffic differ; empty if none.
std::string list_differences(const Counters& counters, const plan::TrainingConfig& config,
                             i64 pp_rank) {
  std::map<plan::TrafficKind, plan::Traffic> predicted, counted;
  for (const plan::Traffic& row : list_traffic(config, pp_rank)) predicted[row.kind] = row;
  for (const TrafficCount& row : counters.rows()) counted[row.traffic.kind] = row.traffic;
  std::string text;
  for (const plan::TrafficKindRow& kind : plan::list_traffic_kinds()) {
    const auto p = predicted.find(kind.kind), c = counted.find(kind.kind);
    if (p == predicted.end() && c == counted.end()) continue;
    const plan::Traffic none{};
    const plan::Traffic& expected_row = p == predicted.end() ? none : p->second;
    const plan::Traffic& counted_row = c == counted.end() ? none : c->second;
    if (expected_row.calls == counted_row.calls && expected_row.total == counted_row.total)
      continue;
    text += fmt::format("\n    {}: predicted {} calls, {:.0f} bytes; counted {}, {:.0f}",
                        kind.label, expected_row.calls, expected_row.total.value, counted_row.calls,
                        counted_row.total.value);
  }
  return text;
}

Training train(Engine& engine, const World* world, Counters* counters, i64 steps) {
  Training made;
  const Corpus corpus = Corpus::synthetic(engine.config().model.vocab, 3);
  const std::vector<Tensor> frozen = engine.params().copy_frozen();
  const i64 compared = compared_step(engine.config().job);
  for (i64 step = 0; step < steps; ++step) {
    if (counters != nullptr) counters->clear();
    bool taken = false;
    engine.executor().before_update = [&] {
      if (counters != nullptr && step == 1) return;
      if (step == compared && !std::exchange(taken, true)) collect_gradients(engine, made);
    };
    engine.step(corpus, step);
    if (counters != nullptr && step == 1)
      made.counted = list_differences(*counters, engine.config(), engine.rank().pp_rank);
    std::vector<double> sum{engine.rank().tp_rank == 0 ? engine.executor().loss() : 0};
    if (world != nullptr) world->sum(sum);
    made.losses.push_back(sum[0]);
  }
  const std::vector<Tensor> after = engine.params().copy_frozen();
  for (std::size_t i = 0; i < frozen.size(); ++i)
    made.frozen_changed = made.frozen_changed || !torch::equal(frozen[i], after[i]);
  return made;
}

/// Returns the training of the same model and batch in one process, computed once per model.
const Training& train_reference(const plan::TrainingConfig& config, bool clips, i64 steps) {
  static std::map<std::string, Training> known;
  plan::TrainingConfig one_rank = on_one_rank(config);
  // ZeRO 2 and 3 accumulate microbatches in another order; a pipeline alone must change nothing.
  if (config.plan.tp == 1 && config.plan.dp == 1) one_rank.plan.zero = config.plan.zero;
  const std::string key =
      fmt::format("{} {} {} {} {} {} {} {} {} {}", config.model.architecture, config.model.layers(),
                  config.job.global_batch, config.model.tied, name(config.job.param_dtype), clips,
                  one_rank.plan.zero, config.job.lora_rank, show(config.job.lora_modules, ","),
                  show(config.model.frozen));
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  Engine engine(one_rank, options_of(clips), 0, {});
  return known.emplace(key, train(engine, nullptr, nullptr, steps)).first->second;
}

/// The largest relative errors of a layout.
struct Worst {
  double loss = 0, gradient = 0;
};

Worst compare(const Training& ours, const Training& one, Engine& engine) {
  Worst worst;
  for (std::size_t i = 0; i < ours.losses.size(); ++i)
    worst.loss =
        std::max(worst.loss, std::abs(ours.losses[i] - one.losses[i]) / std::abs(one.losses[i]));
  for (const Parameter& parameter : engine.shard().parameters) {
    const Tensor full = one.gradients.at(parameter.name);
    const Tensor expected = slice(parameter, full, engine.rank().tp(), engine.rank().tp_rank);
    const Tensor& ours_is = ours.gradients.at(parameter.name);
    const double max = full.abs().max().item<double>();
    worst.gradient = std::max(
        worst.gradient, (ours_is - expected).abs().max().item<double>() / (max > 0 ? max : 1));
  }
  return worst;
}

/// Returns the allowed errors. A pipeline alone is bitwise exact, unless two pp ranks sum gradients
/// or the norm.
Bounds bounds(const LayoutCase& layout, bool clips) {
  if (layout.dtype == plan::Dtype::bf16) return {2e-2, 8e-2};
  const bool pipeline_alone = layout.tp == 1 && layout.dp == 1;
  const bool adds_nothing =
      !layout.tied && !clips && row(layout.schedule).stage_order != pipeline::StageOrder::mirror;
  if (pipeline_alone) return adds_nothing ? Bounds{0, 0} : Bounds{1e-12, 1e-12};
  return {1e-9, 1e-10};
}

class Matrix {
 public:
  Matrix(const World& world, Flags flags) : world_(world), flags_(std::move(flags)) {}

  int run() {
    for (const LayoutCase& layout : layouts()) {
      if (!flags_.only.empty() && show(layout).find(flags_.only) == std::string::npos) continue;
      one(layout, true);
      if (layout.tp == 1 && layout.dp == 1 && layout.pp > 1) {
        LayoutCase untied = layout;
        untied.tied = false;
        one(untied, false);
      }
    }
    if (world_.rank() == 0) {
      std::cout << fmt::format("{} ranks: {} layouts, {} failed\n", world_.size(), done_, failed_);
      if (!flags_.table.empty()) std::ofstream(flags_.table) << table_;
    }
    return failed_ == 0 ? 0 : 1;
  }

 private:
  std::vector<LayoutCase> layouts() const {
    std::vector<LayoutCase> list = flags_.all      ? all_layouts(world_.size())
                                   : flags_.lora   ? lora_layouts(world_.size())
                                   : flags_.frozen ? frozen_layouts(world_.size())
                                                   : some_layouts(world_.size());
    for (const Style style : {Style::gpt2, Style::llama}) {
      LayoutCase half{.style = style,
                      .dp = world_.size(),
                      .zero = 1,
                      .tied = true,
                      .dtype = plan::Dtype::bf16,
                      .lora = flags_.lora ? 3 : 0};
      if (flags_.frozen) half.frozen = {.embedding = true, .end = 2};
      list.push_back(half);
      if (world_.size() < 2) continue;
      half.tp = 2;
      half.dp /= 2;
      half.sequence_parallel = true;
      list.push_back(half);
    }
    return list;
  }

  void one(const LayoutCase& layout, bool clips) {
    const plan::TrainingConfig config = config_of(layout);
    Counters counters;
    const Result<Groups> groups = join(config, world_, *find_backend("mpi"), &counters);
    RW_CHECK(groups.has_value());
    Engine engine(config, options_of(clips), world_.rank(), *groups);
    const Training ours = train(engine, &world_, &counters, flags_.steps);
    const Worst worst = compare(ours, train_reference(config, clips, flags_.steps), engine);
    std::vector<double> all{worst.loss, worst.gradient, ours.counted.empty() ? 0.0 : 1.0,
                            ours.frozen_changed ? 1.0 : 0.0};
    for (double& each : all)
      if (!std::isfinite(each)) each = 1e300;
    world_.max(all);
    const Bounds bound = bounds(layout, clips);
    const bool fine =
        all[0] <= bound.loss && all[1] <= bound.gradient && all[2] == 0 && all[3] == 0;
    ++done_;
    failed_ += fine ? 0 : 1;
    if (!fine && !ours.counted.empty())
      std::cout << fmt::format("rank {}: {}{}\n", world_.rank(), show(layout), ours.counted)
                << std::flush;
    if (world_.rank() != 0) return;
    const std::string line = fmt::format(
        "{}{}: loss {:.1e} of {:.0e}, gradients {:.1e} of {:.0e}, counters {}{}", show(layout),
        clips ? "" : " no clipping", all[0], bound.loss, all[1], bound.gradient,
        all[2] == 0 ? "equal" : "differ", all[3] == 0 ? "" : ", frozen weights changed");
    if (!fine || !flags_.only.empty())
      std::cout << (fine ? "ok   " : "FAIL ") << line << "\n" << std::flush;
    table_ += line + "\n";
  }

  const World& world_;
  Flags flags_;
  i64 done_ = 0, failed_ = 0;
  std::string table_{};
};

Flags parse(int argc, char** argv) {
  Flags flags;
  const std::vector<std::string> args(argv + 1, argv + argc);
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--all") flags.all = true;
    if (args[i] == "--lora") flags.lora = true;
    if (args[i] == "--frozen") flags.frozen = true;
    if (i + 1 == args.size()) continue;
    if (args[i] == "--steps") flags.steps = std::stol(args[i + 1]);
    if (args[i] == "--only") flags.only = args[i + 1];
    if (args[i] == "--table") flags.table = args[i + 1];
  }
  return flags;
}

int check(int argc, char** argv) {
  torch::set_num_threads(1);
  const Result<std::unique_ptr<World>> world = World::start();
  RW_CHECK(world.has_value());
  return Matrix(**world, parse(argc, argv)).run();
}

}  // namespace
}  // namespace rankwright::runtime

int main(int argc, char** argv) { return rankwright::runtime::check(argc, argv); }
