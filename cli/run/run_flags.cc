#include "cli/run/run_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ostream>
#include <string_view>
#include <thread>

#include "rankwright/base/format.h"
#include "rankwright/base/shell_word.h"

namespace rankwright::cli {
namespace {

constexpr i64 kMaxSteps = 10'000'000;  // the summary keeps all of them in memory

/// Reads an environment variable; nothing if it is not set or not an integer.
std::optional<i64> read_number(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  const std::string_view digits(text);
  i64 value = 0;
  const std::from_chars_result read =
      std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return std::nullopt;
  return value;
}

}  // namespace

void RunFlags::add_to(Options& options) {
  options.add("plan", plan.plan, "plan file, or - for standard input").required();
  options
      .add("--data", data, "token file: one byte per token, or two if the vocabulary exceeds 256")
      .type_name("FILE");
  options.add("--steps", steps, "optimizer steps").show_default().range(i64{1}, kMaxSteps);
  options.add_switch("--local", local, "start all ranks on this machine with mpirun");
  add_ranks_per_core(options, ranks_per_core);
  options.add("--seed", seed, "random seed for weights and batches").show_default();
  options.add("--lr", learning_rate, "learning rate").show_default().range(0.0, 1e6);
  options.add("--clip", clip, "maximum global norm of the gradients; 0: no clipping")
      .show_default()
      .range(0.0, 1e12);
  options.add("--backend", backend, "communication backend: mpi or nccl").show_default();
  options
      .add("--trace", trace, "write a trace of the last step: .json for Chrome, otherwise Perfetto")
      .type_name("FILE");
  options.add("--csv", csv, "write loss, gradient norm and time of every step").type_name("FILE");
  plan.add_to(options);
}

void add_ranks_per_core(Options& options, i64& ranks_per_core) {
  constexpr i64 kMax = 4096;
  options.add("--ranks-per-core", ranks_per_core, "with --local: maximum number of ranks per core")
      .show_default()
      .range(i64{1}, kMax);
}

i64 usable_cores() { return std::max<i64>(1, i64(std::thread::hardware_concurrency())); }

std::optional<int> refuse_crowd(std::string_view verb, i64 ranks, i64 cores, i64 ranks_per_core,
                                const Io& io) {
  if (ranks <= cores * ranks_per_core) return std::nullopt;
  const i64 needed = (ranks + cores - 1) / cores;
  io.err << fmt::format(
      "rankwright {}: {} on {} are {} per core, more than the limit of {}\n"
      "  help: --ranks-per-core {} raises the limit; each rank is a process\n",
      verb, plural(ranks, "rank", "ranks"), plural(cores, "core", "cores"), count(needed),
      count(ranks_per_core), needed);
  return kUsage;
}

std::optional<Launched> find_launcher() {
  // Open MPI's mpirun; PMI of MPICH and Slurm; PMIx, which sets the rank but not the number of
  // ranks.
  for (const char* const size : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const std::optional<i64> ranks = read_number(size)) return Launched{ranks};
  if (std::getenv("PMIX_RANK") != nullptr) return Launched{};
  return std::nullopt;
}

std::string ranks_text(const plan::TrainingConfig& config) {
  const plan::Plan& p = config.plan;
  if (p.ranks() == 1) return "1 rank";
  std::string factors;
  const auto factor = [&](std::string_view axis, i64 degree) {
    if (degree > 1) factors += fmt::format("{}{} {}", factors.empty() ? "" : " x ", axis, degree);
  };
  factor("tp", p.tp);
  factor("cp", p.cp);
  factor("pp", p.pp);
  factor("dp", p.dp);
  return fmt::format("{} ({})", plural(p.ranks(), "rank", "ranks"), factors);
}

std::optional<int> refuse_start(const plan::TrainingConfig& config, const RunFlags& flags,
                                const std::optional<Launched>& by, const Io& io) {
  const i64 ranks = config.plan.ranks();
  const std::string typed =
      fmt::format("mpirun -n {} rankwright run {}", ranks, quote_shell_path(flags.plan.plan));
  const auto refuse = [&](const std::string& what, const std::string& help) {
    io.err << fmt::format("rankwright run: {}\n  help: {}\n", what, help);
    return kUsage;
  };
  if (by && flags.local)
    return refuse("--local starts mpirun, but this process is already one of its ranks",
                  "remove --local");
  if (by && by->ranks && *by->ranks != ranks)
    return refuse(fmt::format("the plan has {}, but {} started", ranks_text(config),
                              *by->ranks == 1 ? "1 was" : count(*by->ranks) + " were"),
                  typed);
  if (!by && !flags.local && ranks > 1)
    return refuse(fmt::format("the plan has {}, but this is one process", ranks_text(config)),
                  fmt::format("add --local, or {}", typed));
  return std::nullopt;
}

}  // namespace rankwright::cli
