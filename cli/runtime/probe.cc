// `rankwright probe`: runs one rank, or launches all of them. All ranks measure; rank 0 writes.
#include "rankwright/runtime/probe/probe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <memory>
#include <ostream>

#include "cli/io/print_refusal.h"
#include "cli/run/probe_flags.h"
#include "cli/run/run_flags.h"
#include "cli/runtime/launch.h"
#include "cli/runtime/verbs.h"
#include "rankwright/export/cluster_file.h"
#include "rankwright/report/explain/findings.h"
#include "rankwright/report/run/probe_text.h"

namespace rankwright::cli {
namespace {

int complain(const Diagnostic& fault, const Io& io) {
  io.err << report::render_findings_text({fault}, fault.where.file, "",
                                         {.on = io.color && io.err_terminal});
  return kUnreadable;
}

/// Shows progress: one redrawn line on a terminal, one line per kind of measurement otherwise.
class Progress {
 public:
  Progress(bool on, const Io& io) : on_(on), io_(io) {}
  ~Progress() {
    if (on_ && io_.err_terminal) io_.err << "\r\033[K" << std::flush;
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const std::string& what) {
    if (!on_) return;
    if (io_.err_terminal) {
      io_.err << "\r\033[K" << what << std::flush;
      return;
    }
    const std::string kind = what.substr(0, what.rfind(" of "));
    if (kind == last_) return;
    io_.err << kind << "\n" << std::flush;
    last_ = kind;
  }

 private:
  bool on_;
  const Io& io_;
  std::string last_{};
};

/// Writes the cluster file to -o or standard output, and the readable summary to the other stream.
int write(const fit::ProbeFigures& probe, const Options& options, const Io& io) {
  const cluster::Cluster cluster = make_probed_cluster(probe);
  const std::string file =
      exporter::write_cluster_yaml(cluster, report::list_probe_comments(probe));
  const bool to_file = !options.output().empty();
  if (to_file)
    if (const int code = options.save(file, options.output(), io)) return code;
  if (options.json()) return options.print(report::make_probe_json(probe, cluster), io);
  if (!options.quiet()) {
    const report::Paint paint = to_file ? options.paint_printed(io) : report::Paint{.on = false};
    (to_file ? io.out : io.err) << render_probe_text(probe, cluster, paint);
  }
  if (!to_file) io.out << file;
  return kOk;
}

int probe_rank(const ProbeFlags& flags, const Options& options, const Io& io) {
  if (!find_launcher()) start_without_network();
  const Result<std::unique_ptr<runtime::World>> world = runtime::World::start();
  if (!world) return complain(world.error(), io);
  const bool speaks = (*world)->rank() == 0;
  std::ostream nowhere(nullptr);
  const Io silent{.in = io.in, .out = nowhere, .err = nowhere};
  const Io& said = speaks ? io : silent;
  const runtime::Backend* const backend = runtime::find_backend(flags.backend);
  if (backend == nullptr) {
    std::vector<std::string> known;
    for (const runtime::Backend& one : runtime::backends()) known.emplace_back(one.name);
    return print_refusal(
        "probe",
        planner::unknown_name({"backend", flags.backend, known,
                               fmt::format("--backend accepts {}", fmt::join(known, ", "))}),
        said);
  }
  std::optional<Progress> progress(std::in_place, speaks && !options.quiet(), io);
  const Result<fit::ProbeFigures> found = runtime::probe(
      **world, *backend,
      {.quick = flags.quick, .said = [&](const std::string& what) { progress->show(what); }});
  progress.reset();
  if (!found) return complain(found.error(), said);
  // Only rank 0 writes; all ranks return the same code.
  std::vector<double> code{speaks ? double(write(*found, options, io)) : double(kOk)};
  (*world)->max(code);
  io.out.flush();
  io.err.flush();
  return int(code[0]);
}

/// Returns the arguments of each rank of a local probe.
std::vector<std::string> rank_args(Args args) {
  std::vector<std::string> words{"probe"};
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string& word = args[i];
    if (word == "-n" || word == "--ranks")
      ++i;  // skip its value
    else if (!word.starts_with("--local") && !word.starts_with("--ranks=") &&
             !word.starts_with("-n"))
      words.push_back(word);
  }
  return words;
}

}  // namespace

int probe_machine(Args args, const Io& io) {
  Options options(verb("probe"));
  ProbeFlags flags;
  flags.add_to(options);
  if (const std::optional<int> done = options.parse(args, io)) return *done;
  if (find_launcher() || !flags.local) return probe_rank(flags, options, io);
  plan::TrainingConfig config;
  config.plan.dp = flags.ranks > 0 ? flags.ranks : usable_cores();
  if (const std::optional<int> code =
          refuse_crowd("probe", config.plan.dp, usable_cores(), flags.ranks_per_core, io))
    return *code;
  return launch({.args = rank_args(args), .verb = "probe"}, config, io);
}

}  // namespace rankwright::cli
