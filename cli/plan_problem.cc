#include "cli/plan_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "cli/call.h"
#include "cli/plan_input.h"
#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/import/foreign.h"
#include "rankwright/planner/run_input.h"

namespace rankwright::cli {
namespace {

constexpr i64 kUsualSequence = 8192;            // of pre-training, where a model takes as long ones
constexpr i64 kUnknownSequence = 4096;          // where it does not say what it takes
constexpr double kUsualTokens = 4 * 1048576.0;  // a step

/// What a draft says besides its plan.
Draft without_plan(const Draft& d) {
  Draft bare;
  bare.world = d.world;
  bare.shape = d.shape;
  bare.overlap_grad = d.overlap_grad;
  bare.overlap_tp = d.overlap_tp;
  bare.overlap_pp = d.overlap_pp;
  bare.model = d.model;
  bare.cluster = d.cluster;
  bare.global_batch = d.global_batch;
  bare.sequence = d.sequence;
  bare.param_dtype = d.param_dtype;
  bare.grad_dtype = d.grad_dtype;
  bare.matmul = d.matmul;
  bare.optimizer = d.optimizer;
  bare.framework = d.framework;
  bare.attention = d.attention;
  bare.launch = d.launch;
  bare.loss = d.loss;
  bare.tuned = d.tuned;
  return bare;
}

bool states_a_plan(const Draft& d) { return d.tp || d.cp || d.dp || d.pp || d.ep || d.etp; }

i64 usual_sequence(const Model& model) {
  return model.max_sequence > 0 ? std::min(model.max_sequence, kUsualSequence) : kUnknownSequence;
}

/// The first multiple of the GPUs that makes the usual number of tokens.
i64 usual_batch(i64 sequence, i64 world) {
  const i64 sequences = std::max<i64>(1, i64(kUsualTokens / double(sequence)));
  return ceil_div(sequences, world) * world;
}

/// The framework of the target, if the draft names none.
void follow_target(Draft& draft, Target target, std::vector<Assumption>& assumed) {
  if (draft.framework || target == Target::any) return;
  draft.framework = software_of(target);
  if (draft.framework)
    assumed.push_back({"software.framework", std::string(draft.framework->name), "as --for"});
}

/// A wish that another wish or the model makes meaningless: it would be ignored without a word.
std::optional<UsageFault> meaningless(const Limits& limits, const Model& model) {
  if ((limits.ep.least > 1 || limits.etp.least > 1) && !model.sparse())
    return UsageFault{fmt::format("--ep or --etp above 1, but {} has no experts", model.name),
                      "leave them out, or a --model with experts"};
  if (limits.pp.most == 1 && (limits.chunks.least > 1 || limits.schedule))
    return UsageFault{"--chunks or --schedule, but there is to be no pipeline",
                      "leave them out, or a --pp above 1"};
  if (limits.tp.most == 1 && limits.sequence_parallel == true)
    return UsageFault{"--sequence-parallel, but tensor parallelism is to be 1",
                      "leave it out, or a --tp above 1"};
  if (limits.cp.most == 1 && limits.cp_comm)
    return UsageFault{"--cp-comm, but context parallelism is to be 1",
                      "leave it out, or a --cp above 1"};
  return std::nullopt;
}

/// The divisors of `all` around `n`: what to type instead.
std::string near_divisors(std::string_view flag, i64 n, i64 all) {
  i64 below = 1, above = all;
  for (i64 d = 1; d <= all; ++d) {
    if (all % d != 0) continue;
    if (d < n) below = d;
    if (d > n) {
      above = d;
      break;
    }
  }
  return n > all ? fmt::format("{} {}", flag, all)
                 : fmt::format("{0} {1} or {0} {2}", flag, below, above);
}

/// Degrees that are stated and do not divide the GPUs: nothing would be searched.
std::optional<UsageFault> indivisible(const Limits& limits, i64 world) {
  const std::pair<std::string_view, const Range&> degrees[] = {
      {"--tp", limits.tp}, {"--cp", limits.cp}, {"--pp", limits.pp}, {"--dp", limits.dp}};
  i64 all = 1;
  std::string named;
  for (const auto& [flag, range] : degrees) {
    if (range.least != range.most || range.least == 1) continue;
    const i64 n = range.least;
    if (world % n != 0)
      return UsageFault{fmt::format("{} {} does not divide {} GPUs", flag, n, count(world)),
                        near_divisors(flag, n, world)};
    all *= n;  // each is at most the world, and the product before divides it
    named += fmt::format("{}{} {}", named.empty() ? "" : " x ", flag, n);
    if (world % all != 0)
      return UsageFault{
          fmt::format("{} is {}, which does not divide {} GPUs", named, count(all), count(world)),
          fmt::format("degrees whose product divides {}", world)};
  }
  return std::nullopt;
}

std::optional<UsageFault> too_large(const Wishes& wishes, const Cluster& cluster) {
  const i64 devices = cluster.devices();
  if (wishes.gpus && wishes.gpus->most > devices)
    return UsageFault{
        fmt::format("--gpus {}, but the cluster has {}", wishes.gpus->most, count(devices)),
        fmt::format("--gpus {}, or a larger --cluster", devices)};
  if (wishes.memory && *wishes.memory > cluster.device.memory)
    return UsageFault{
        fmt::format("--max-memory {} is more than the {} of a {}", show_memory(*wishes.memory),
                    show_memory(cluster.device.memory), cluster.device.name),
        "leave it out: the whole device is taken"};
  if (!wishes.excluded) return std::nullopt;
  const i64 hosts = devices / std::max<i64>(1, cluster.host_devices);
  const Excluded& out = *wishes.excluded;
  if (!out.hosts.empty() && out.hosts.back() >= hosts)
    return UsageFault{fmt::format("there is no host {}: the cluster has hosts 0 to {}",
                                  out.hosts.back(), hosts - 1),
                      "--exclude-nodes with hosts of the cluster"};
  if (out.count >= hosts)
    return UsageFault{
        fmt::format("no host is left: {} of {} are out", count(out.count), count(hosts)),
        "fewer in --exclude-nodes"};
  return std::nullopt;
}

/// The setup of the job, defaults noted; its plan means nothing.
Setup resolve_job(const Draft& stated, Target target, std::optional<i64> world) {
  Draft draft = without_plan(stated);
  // A batch that is stated by its factors is that of the file's own plan.
  if (!draft.global_batch && stated.accumulation)
    draft.global_batch = resolve(stated).job.global_batch;
  std::vector<Assumption> noted;
  follow_target(draft, target, noted);
  if (world) {
    draft.world = world;
    draft.shape.reset();
  }
  if (!draft.sequence) {
    const Model& model = *draft.model;
    draft.sequence = usual_sequence(model);
    noted.push_back({"job.sequence", std::to_string(*draft.sequence),
                     model.max_sequence > kUsualSequence
                         ? fmt::format("the model takes up to {}", count(model.max_sequence))
                         : ""});
  }
  const bool open = !draft.global_batch.has_value();
  if (open) draft.global_batch = 1;
  Setup setup = resolve(draft);
  if (open) {
    setup.job.global_batch = usual_batch(setup.job.sequence, setup.world);
    noted.push_back({"job.global_batch", std::to_string(setup.job.global_batch),
                     "at least 4 M tokens, the same on every GPU"});
  }
  setup.assumed.insert(setup.assumed.begin(), noted.begin(), noted.end());
  return setup;
}

/// The file's own plan for the same job, priced where it can be.
OwnPlan own_plan(const std::string& name, Draft draft, const Problem& problem) {
  const Setup& asked = problem.setup;
  draft.global_batch = asked.job.global_batch;
  draft.sequence = asked.job.sequence;
  OwnPlan own{.name = name, .setup = resolve(draft)};
  own.setup.software = asked.software;
  own.setup.calibrated = asked.calibrated;
  if (!misfits(own.setup).empty()) return own;
  Problem same = problem;
  same.setup = own.setup;
  own.priced = priced(same, own.setup.plan, calibration(asked));
  return own;
}

/// The setup that ran: the plan of --ran, what the log itself says, or the file's own plan.
std::optional<Setup> ran_setup(const Wishes& wishes, const std::string& log, const Setup& asked,
                               const Draft& own, const Io& io) {
  Draft draft = own;
  if (!wishes.ran.empty()) {
    const PlanInput ran = read_input({.plan = wishes.ran}, io);
    if (!ran.setup) tell(ran.file.findings, ran.file.name, ran.file.text, io);
    return ran.setup;
  }
  if (std::optional<PlanFile> stated = plan_of_log(log, wishes.calibrate)) {
    draft = std::move(stated->draft);
    if (!draft.model) draft.model = asked.model;
    if (!draft.cluster) draft.cluster = asked.cluster;
  }
  if (!states_a_plan(draft)) return std::nullopt;
  return resolve(draft);
}

/// 0, or the exit code with the fault printed.
int calibrate_task(Task& task, const Wishes& wishes, const Draft& own, const Io& io) {
  if (wishes.calibrate.empty()) return kOk;
  const Result<std::string> text = read_long_file(wishes.calibrate, kMaxLogBytes);
  const auto refuse = [&](const Diagnostic& finding) {
    tell({finding}, wishes.calibrate, {}, io);
    return kUnreadable;
  };
  if (!text) return refuse(text.error());
  const std::optional<Setup> ran = ran_setup(wishes, *text, task.problem.setup, own, io);
  if (!ran && !wishes.ran.empty()) return kUnreadable;
  if (!ran || !misfits(*ran).empty())
    return complain({"which plan ran is not said, or it cannot be priced",
                     "--calibrate run.log --ran plan.yaml"},
                    io);
  const Result<std::shared_ptr<const RunCalibration>> found =
      read_calibration(*text, wishes.calibrate, *ran);
  if (!found) return refuse(found.error());
  calibrate_by(task.problem.setup, *found);
  return kOk;
}

}  // namespace

int complain(const UsageFault& fault, const Io& io) {
  io.err << fmt::format("rankwright plan: {}\n", fault.what);
  if (!fault.help.empty()) io.err << fmt::format("  help: {}\n", fault.help);
  return kUsage;
}

Problem open_problem(Setup setup, const Draft& stated, const Limits& limits) {
  std::erase_if(setup.assumed, [](const Assumption& a) {
    return a.key.starts_with("parallelism.");  // that is what is searched
  });
  setup.plan = {};
  // What a framework does by itself where nothing is stated: import/draft.
  setup.plan.overlap = {.grad_reduce = stated.overlap_grad.value_or(true),
                        .param_gather = stated.overlap_param.value_or(true),
                        .tp = stated.overlap_tp.value_or(false),
                        .pp = stated.overlap_pp.value_or(false)};
  Problem open = problem(std::move(setup), limits);
  open.overlap_chunks = !stated.overlap_pp;
  return open;
}

std::optional<Cluster> grown(const Cluster& cluster, i64 devices) {
  for (const System& system : systems()) {
    Cluster same = system.unit;
    same.levels.back().arity = cluster.levels.back().arity;
    same.name = cluster.name;
    if (same != cluster) continue;
    const i64 units = ceil_div(devices, system.unit.devices());
    const Result<Cluster> larger = find_cluster(fmt::format("{} x {}", system.name, units));
    return larger ? std::optional(*larger) : std::nullopt;
  }
  return std::nullopt;
}

tl::expected<Task, int> read_task(const SearchFlags& flags, const Wishes& wishes, const Io& io) {
  PlanFile file;
  if (!flags.file().empty())
    file = read_plan_source(read_source(flags.file(), io), nullptr, read_file);
  override_input({.model = flags.model(), .cluster = flags.cluster(), .files = read_file}, file);
  if (has_errors(file.findings)) {
    sort(file.findings);
    tell(file.findings, file.name, file.text, io);
    return tl::unexpected<int>(kUnreadable);
  }
  Draft& draft = file.draft;
  const auto refuse = [&](const UsageFault& fault) {
    return tl::unexpected<int>(complain(fault, io));
  };
  if (const std::optional<UsageFault> fault = flags.override(draft)) return refuse(*fault);
  if (!draft.model)
    return refuse(
        {"which model is trained is not said", "--model llama-3.1-70b, or a config.json"});
  if (!draft.cluster && !draft.world && !draft.shape)
    return refuse({"which cluster it is for is not said",
                   wishes.gpus ? "--cluster dgx-h100, or a file"  // as many units as that takes
                               : "--cluster \"dgx-h100 x 8\", or a file"});
  // One unit of a catalog system is the system, as many units as are asked for.
  if (draft.cluster && wishes.gpus && wishes.gpus->most > draft.cluster->devices() &&
      draft.cluster->levels.back().arity == 1)
    if (std::optional<Cluster> larger = grown(*draft.cluster, wishes.gpus->most))
      draft.cluster = std::move(larger);
  std::optional<i64> world;
  if (wishes.gpus)
    world = wishes.gpus->most;
  else if (draft.cluster && (!flags.cluster().empty() || (!draft.world && !draft.shape)))
    world = draft.cluster->devices();
  if (draft.cluster)
    if (const std::optional<UsageFault> fault = too_large(wishes, *draft.cluster))
      return refuse(*fault);
  Task task{.problem = open_problem(resolve_job(draft, wishes.limits.target, world), draft,
                                    wishes.limits)};
  const Setup& setup = task.problem.setup;
  if (setup.world > setup.cluster.devices())
    return refuse({fmt::format("{} ranks, but the cluster has {} GPUs", count(setup.world),
                               count(setup.cluster.devices())),
                   "--gpus with fewer, or a larger --cluster"});
  if (const std::optional<UsageFault> fault = too_large(wishes, setup.cluster))
    return refuse(*fault);
  if (const std::optional<UsageFault> fault = meaningless(wishes.limits, setup.model))
    return refuse(*fault);
  const bool one_world = !wishes.many_counts() && !wishes.fit && !wishes.excluded;
  if (one_world)
    if (const std::optional<UsageFault> fault = indivisible(wishes.limits, setup.world))
      return refuse(*fault);
  if (const int failed = calibrate_task(task, wishes, draft, io))
    return tl::unexpected<int>(failed);
  if (wishes.memory) task.problem.capacity = *wishes.memory;
  if (states_a_plan(draft)) task.own = own_plan(file.name, draft, task.problem);
  return task;
}

}  // namespace rankwright::cli
