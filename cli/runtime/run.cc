// `rankwright run`: runs one rank, or launches all of them. All ranks agree on every decision to
// continue; only rank 0 prints.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <ostream>
#include <sstream>

#include "cli/io/print_refusal.h"
#include "cli/run/mpirun_output.h"
#include "cli/run/run_flags.h"
#include "cli/run/run_output.h"
#include "cli/runtime/gathered.h"
#include "cli/runtime/launch.h"
#include "cli/runtime/verbs.h"
#include "rankwright/base/format.h"
#include "rankwright/import/framework/foreign.h"
#include "rankwright/report/explain/findings.h"
#include "rankwright/report/timeline/trace.h"
#include "rankwright/runtime/trainer.h"

namespace rankwright::cli {
namespace {

using runtime::Trainer;
using runtime::World;

/// A plan that was read and linted. If the code is 0, `config` has no constraint violation.
struct Ready {
  int code = kOk;
  std::optional<plan::TrainingConfig> config{};
};
Ready read_plan_to_run(const RunFlags& flags, bool quiet, const Io& io) {
  planner::PlanInput input = read_input(flags.plan, io);
  if (input.config) {  // always this runtime, whatever framework the file is for
    input.file.draft.framework = importer::find_software(rules::Target::rankwright);
    input.config = resolve(input.file.draft);
  }
  Diagnostics findings = list_findings(input, rules::Target::rankwright);
  const bool refused =
      has_errors(findings) || (input.config && !find_violations(*input.config).empty());
  if (quiet)
    std::erase_if(findings, [](const Diagnostic& d) { return d.severity != Severity::error; });
  if (!findings.empty())
    io.err << report::render_findings_text(findings, input.file.name, input.file.text,
                                           {.on = io.color && io.err_terminal});
  if (!input.config) return {kUnreadable};
  if (refused) return {kRefused};
  return {kOk, input.config};
}

int complain(const Diagnostic& fault, const Io& io) {
  io.err << report::render_findings_text({fault}, fault.where.file, "",
                                         {.on = io.color && io.err_terminal});
  return kUnreadable;
}

/// Agrees on a code: returns the same value on every rank, 0 or the code that ends the run. If rank
/// 0 itself found nothing, it prints which rank did. Collective.
int agree(const World& world, int code, std::string_view doing, const Io& io) {
  constexpr double kNobody = -1;
  const double rank = code == kOk ? kNobody : double(world.rank());
  std::vector<double> worst{double(code), rank};
  world.max(worst);
  if (worst[0] != double(kOk) && world.rank() == 0 && code == kOk)
    io.err << fmt::format("rankwright run: rank {} cannot {}, but rank 0 can\n", worst[1], doing);
  return int(worst[0]);
}

/// One rank of a started run.
class Rank {
 public:
  Rank(const RunFlags& flags, const Options& options, const World& world,
       const plan::TrainingConfig& config, const Io& io)
      : flags_(flags), options_(options), world_(world), config_(config), io_(io) {}

  /// Opens the data, the trainer and the output files. Returns 0, or the code that ends the run.
  int prepare() {
    if (const int code = agree(world_, open_corpus(), "read the data", io_)) return code;
    if (const int code = agree(world_, open_trainer(), "start training", io_)) return code;
    return agree(world_, open_output(), "write", io_);
  }

  int train() {
    bool stop = ask_all(0)[0] > 0;
    for (i64 step = 0; step < flags_.steps && !stop; ++step) {
      const Clock::time_point begin = Clock::now();
      const runtime::StepResult result = trainer_->step(*corpus_, step);
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      stop = record(step, result, seconds);
      if (bad_data_) return report_data();
    }
    summary_.stopped = stop && i64(summary_.steps.size()) < flags_.steps;
    return finish();
  }

  bool stopped() const { return summary_.stopped; }

 private:
  using Clock = std::chrono::steady_clock;

  int open_corpus() {
    const i64 vocabulary = config_.model.vocab;
    if (flags_.data.empty()) {
      corpus_ = runtime::Corpus::synthetic(vocabulary, flags_.seed);
      if (!options_.quiet()) io_.err << "no --data: training on synthetic tokens\n";
      return kOk;
    }
    Result<runtime::Corpus> read =
        runtime::Corpus::open(flags_.data, vocabulary, config_.job.sequence, flags_.seed);
    if (!read) return complain(read.error(), io_);
    corpus_ = std::move(*read);
    return kOk;
  }

  int open_trainer() {
    const runtime::Backend* const backend = runtime::find_backend(flags_.backend);
    if (backend == nullptr) {
      std::vector<std::string> known;
      for (const runtime::Backend& one : runtime::backends()) known.emplace_back(one.name);
      return print_refusal(
          "run",
          planner::unknown_name({"backend", flags_.backend, known,
                                 fmt::format("--backend accepts {}", fmt::join(known, ", "))}),
          io_);
    }
    const runtime::TrainOptions options{
        .seed = flags_.seed, .learning_rate = flags_.learning_rate, .clip = flags_.clip};
    Result<std::unique_ptr<Trainer>> made = Trainer::create(config_, options, world_, *backend);
    if (!made) return complain(made.error(), io_);
    trainer_ = std::move(*made);
    if (const i64 slices = planner::slice_count(trainer_->program());
        !flags_.trace.empty() && slices > importer::kMaxSlices) {
      io_.err << fmt::format(
          "rankwright run: a step has {} actions; at most {} can be written to a trace\n",
          count(slices), count(importer::kMaxSlices));
      return kRefused;
    }
    return kOk;
  }

  int open_output() {
    summary_.wanted = flags_.steps;
    summary_.pp = config_.plan.pp;
    summary_.ranks = world_.size();
    summary_.tokens = config_.job.global_batch * config_.job.sequence;
    for (const cluster::Level& level : config_.cluster.levels)
      summary_.level_names.push_back(level.name);
    if (world_.rank() != 0) return kOk;
    summary_.predicted = planner::predict_run(config_, trainer_->program());
    RunShow show{
        .json = options_.json(),
        .quiet = options_.quiet(),
        .csv = flags_.csv,
        .output = options_.output(),
        .trace = flags_.trace,
        .paint = options_.paint(io_),
        .progress = {
            .wanted = flags_.steps, .tokens = summary_.tokens, .pipelined = config_.plan.pp > 1}};
    if (summary_.predicted)
      show.progress.predicted_outside_cells = summary_.predicted->outside_cells;
    output_ = std::make_unique<RunOutput>(std::move(show), io_);
    return output_->open().value_or(kOk);
  }

  /// Returns whether any rank was asked to stop, the maxima of `value` and `other`, and whether any
  /// rank could not read its tokens. Collective.
  std::vector<double> ask_all(double value, double other = 0) const {
    std::vector<double> max{stop_asked() ? 1.0 : 0.0, value, other,
                            trainer_->data_fault() ? 1.0 : 0.0};
    world_.max(max);
    return max;
  }

  /// Prints on rank 0 the error of the first rank that could not read its tokens. Collective.
  int report_data() const {
    const std::optional<Diagnostic>& own = trainer_->data_fault();
    const std::vector<std::string> found =
        gather_texts(world_, own ? own->detail + '\n' + own->hint : "");
    for (const std::string& text : found) {
      if (text.empty()) continue;
      const std::size_t end = text.find('\n');
      return complain({.code = "RW0706",
                       .severity = Severity::error,
                       .message = "unusable training data",
                       .detail = text.substr(0, end),
                       .hint = text.substr(end + 1),
                       .where = {.file = flags_.data}},
                      io_);
    }
    return kUnreadable;
  }

  /// Records a step's results. Returns whether to stop, on request or because tokens could not be
  /// read.
  bool record(i64 step, const runtime::StepResult& result, double seconds) {
    const std::vector<program::Event> events = list_events(*trainer_);
    const std::vector<double> max = ask_all(seconds, planner::find_end(events).value);
    bad_data_ = max[3] > 0;
    if (bad_data_) return true;
    std::vector<double> busy{planner::sum_cell_time(events).value};
    world_.sum(busy);
    const planner::TrainedStep done{
        .step = step + 1,
        .loss = result.loss,
        .gradient_norm = result.gradient_norm,
        .time = Seconds{max[1]},
        .outside_cells = planner::idle_share(Seconds{busy[0]}, Seconds{max[2]}, world_.size())};
    summary_.steps.push_back(done);
    if (output_) output_->step(done);
    return max[0] > 0;
  }

  int finish() {
    const bool any = !summary_.steps.empty();
    Gathered all;
    std::string trace;
    if (any) {
      all = gather(world_, *trainer_);
      if (!flags_.trace.empty()) {
        const report::Events events = gather_events(world_, *trainer_, config_);
        if (output_) trace = report::write_trace(flags_.trace, trainer_->program(), events);
      }
    }
    if (!output_) return kOk;
    if (any) {
      summary_.sent = compare_traffic(config_, all.sent);
      summary_.memory = planner::compare_run_memory(config_, all.peaks);
    }
    return output_->finish(summary_, trace);
  }

  const RunFlags& flags_;
  const Options& options_;
  const World& world_;
  const plan::TrainingConfig& config_;
  const Io& io_;
  std::optional<runtime::Corpus> corpus_{};
  std::unique_ptr<Trainer> trainer_{};
  std::unique_ptr<RunOutput> output_{};  // on rank 0 only
  planner::RunSummary summary_{};
  bool bad_data_ = false;  // on some rank
};

/// Broadcasts standard input, which mpirun gives to rank 0 only, so that all ranks read the same
/// plan. Collective.
std::string shared_input(const RunFlags& flags, const World& world, const Io& io) {
  std::string text;
  if (flags.plan.plan != "-") return text;
  if (world.rank() == 0) text = read_argument("-", io).value_or("");
  world.broadcast(text);
  return text;
}

Io with_input(const Io& io, std::istream& in) {
  return {.in = in,
          .out = io.out,
          .err = io.err,
          .color = io.color,
          .width = io.width,
          .err_terminal = io.err_terminal};
}

int run_world(const RunFlags& flags, const Options& options, std::optional<Launched> by,
              const World& world, const Io& io) {
  std::istringstream input(shared_input(flags, world, io));
  const Ready ready = read_plan_to_run(flags, options.quiet(), with_input(io, input));
  if (const int code = agree(world, ready.code, "read the plan", io)) return code;
  if (by) by->ranks = world.size();
  if (const std::optional<int> code = refuse_start(*ready.config, flags, by, io)) return *code;
  Rank rank(flags, options, world, *ready.config, io);
  if (const int code = rank.prepare()) return code;
  const int code = agree(world, rank.train(), "write", io);
  // Under mpirun a nonzero code would end ranks that are still writing; the launcher knows the
  // code.
  return code == kOk && rank.stopped() && !by ? int(kInterrupted) : code;
}

/// Tells the launcher that every rank handles stop signals. Bypasses io.err, which escapes control
/// characters. If the write fails, Ctrl-C ends the ranks inside their step.
void announce_ready() {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kReady.data(), kReady.size());
}

/// Runs this process as a rank, alone or under a launcher.
int run_rank(const RunFlags& flags, const Options& options, const Io& io) {
  const std::optional<Launched> by =
      find_launcher();  // read first: MPI_Init sets these variables even for one process
  if (!by) start_without_network();
  const Result<std::unique_ptr<World>> world = World::start();
  if (!world) return complain(world.error(), io);
  (*world)->barrier();
  const bool speaks = (*world)->rank() == 0;
  if (speaks && std::getenv(kScreenVariable) != nullptr) announce_ready();
  std::ostream nowhere(nullptr);
  const Io silent{.in = io.in, .out = nowhere, .err = nowhere};
  const int code = run_world(flags, options, by, **world, speaks ? io : silent);
  io.out.flush();
  io.err.flush();
  return code;
}

/// Returns the arguments of each rank of a local run.
std::vector<std::string> rank_args(Args args) {
  std::vector<std::string> words{"run"};
  for (const std::string& word : args)
    if (word != "--local" && !word.starts_with("--local=")) words.push_back(word);
  return words;
}

}  // namespace

int run_plan(Args args, const Io& io) {
  note_stop_signals();
  Options options(verb("run"));
  RunFlags flags;
  flags.add_to(options);
  if (const std::optional<int> done = options.parse(args, io)) return *done;
  if (find_launcher()) return run_rank(flags, options, io);

  // A single process before MPI starts: the plan says how many ranks to launch. Rank 0 reads the
  // plan again and prints its warnings.
  const std::string text =
      flags.plan.plan == "-" ? read_argument("-", io).value_or("") : std::string();
  std::istringstream first(text), again(text);
  const Ready ready = read_plan_to_run(flags, true, with_input(io, first));
  if (ready.code != kOk) return ready.code;
  if (const std::optional<int> code = refuse_start(*ready.config, flags, std::nullopt, io))
    return *code;
  const i64 ranks = ready.config->plan.ranks();
  if (ranks > 1)
    if (const std::optional<int> code =
            refuse_crowd("run", ranks, usable_cores(), flags.ranks_per_core, io))
      return *code;
  if (ranks > 1) return launch({rank_args(args), text}, *ready.config, io);
  return run_rank(flags, options, with_input(io, again));
}

}  // namespace rankwright::cli
