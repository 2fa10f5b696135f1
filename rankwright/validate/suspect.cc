#include "rankwright/validate/suspect.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/cost/faults/straggler.h"

namespace rankwright::validate {
namespace {

void scale(cluster::Calibration& c, cluster::Constant first, cluster::Constant last, double by) {
  for (std::size_t i = std::size_t(first); i <= std::size_t(last); ++i) c.values[i] *= by;
}

bool always(const plan::TrainingConfig&) { return true; }

struct SuspectRow {
  std::string_view name;
  double slower, faster;
  std::string_view reason, suggestion;
  bool (*applies)(const plan::TrainingConfig&);
  void (*grow)(Trial&, double, std::size_t);
};

constexpr SuspectRow kRows[] = {
    {"matmul rate", 1.3, 1.15, "clocks, power limits and odd shapes cost up to a third",
     "nvidia-smi -q -d CLOCK,POWER,PERFORMANCE under load; shapes that are multiples of 128 on "
     "each rank",
     always,
     [](Trial& t, double f, std::size_t) {
       scale(t.calibration, cluster::Constant::matmul_ampere,
             cluster::Constant::matmul_blackwell_fp8, 1 / f);
       scale(t.calibration, cluster::Constant::matmul_measured, cluster::Constant::matmul_unknown,
             1 / f);
     }},
    {"attention kernel", 2.5, 1.3, "an older or unfused kernel takes at least twice as long",
     "the attention backend in the log; NVTE_DEBUG=1 NVTE_DEBUG_LEVEL=2", always,
     [](Trial& t, double f, std::size_t) {
       scale(t.calibration, cluster::Constant::flash_ampere, cluster::Constant::flash_unknown,
             1 / f);
       t.calibration[cluster::Constant::unfused_bytes] *= f;
     }},
    {"unfused elementwise kernels", 2, 1.4,
     "norms, activations and rotary embeddings run as separate kernels",
     "the framework's fusions (SwiGLU, RoPE, bias, norm), or a compiled model", always,
     [](Trial& t, double f, std::size_t) { t.calibration[cluster::Constant::elementwise] *= f; }},
    {"loss and logits", 3, 1.6, "fp32 logits and an unfused loss move 3 times as much",
     "a fused cross-entropy: --cross-entropy-loss-fusion", always,
     [](Trial& t, double f, std::size_t) { t.calibration[cluster::Constant::loss_bytes] *= f; }},
    {"kernel launches", 3, 3, "a slow host, Python between kernels, or synchronization",
     "CPU frequency and affinity; CUDA graphs; no .item() or CUDA_LAUNCH_BLOCKING in a step",
     [](const plan::TrainingConfig& s) { return s.software.launch != plan::Launch::blocking; },
     [](Trial& t, double f, std::size_t) { t.calibration[cluster::Constant::launch_floor] *= f; }},
    {"unbalanced experts", 2, 1.1, "without balancing, the busiest expert gets twice the average",
     "tokens per expert; the router's auxiliary loss or bias",
     [](const plan::TrainingConfig& s) { return s.model.sparse(); },
     [](Trial& t, double f, std::size_t) {
       t.calibration[cluster::Constant::imbalance_experts] *= f;
     }},
    {"TP overlap", 2.8, 1.5, "collectives that should overlap with matmuls run alone",
     "whether the overlap is on: --tp-comm-overlap, user buffers",
     [](const plan::TrainingConfig& s) { return s.plan.overlap.tp && s.plan.tp > 1; },
     [](Trial& t, double f, std::size_t) {
       t.calibration[cluster::Constant::tp_shown] =
           std::min(1.0, t.calibration[cluster::Constant::tp_shown] * f);
     }},
    {"uneven stages, or one slow GPU", 1.25, 1,
     "one throttled GPU, or a stage with more work, slows all others",
     "rankwright explain PLAN --stages; step times or timers per rank; nvidia-smi on each host",
     always, [](Trial& t, double f, std::size_t) { t.slow = f; }},
    {"exposed gradient reduction", 6, 2, "buckets that wait for the last gradient do not overlap",
     "--overlap-grad-reduce --overlap-param-gather; bucket size; CUDA_DEVICE_MAX_CONNECTIONS",
     [](const plan::TrainingConfig& s) {
       return s.plan.data_ranks() > 1 && s.plan.zero < 3 &&
              (s.plan.overlap.grad_reduce || s.plan.overlap.param_gather);
     },
     [](Trial& t, double f, std::size_t) {
       t.calibration[cluster::Constant::dp_shown] =
           std::min(1.0, t.calibration[cluster::Constant::dp_shown] * f);
     }},
    {"optimizer step", 3, 1.6, "one kernel per tensor instead of fused ones, or offloaded states",
     "a fused optimizer (Apex, Transformer Engine); no offload; gradient clipping", always,
     [](Trial& t, double f, std::size_t) {
       t.calibration[cluster::Constant::step_bytes] *= f;
       t.calibration[cluster::Constant::adam_bytes] *= f;
     }},
};

/// The forward and backward times by pp rank, over all its cells and without exposed sends.
struct TimerCells {
  std::vector<Seconds> forward, backward;
};

TimerCells sum_cells(const plan::TrainingConfig& config, const cluster::Calibration& c) {
  const cost::CellTimes times = cost::estimate_cell_times(config, c);
  const double m = double(config.stage_microbatches());
  TimerCells cells;
  for (i64 r = 0; r < config.plan.pp; ++r) {
    Seconds forward{}, backward{};
    for (const i64 s : list_stages(config.plan, r)) {
      const pipeline::StageTimes& at = times.stages[std::size_t(s)];
      const pipeline::StageTimes& sent = times.sends[std::size_t(s)];
      forward += m * (at.forward - sent.forward);
      backward += m * (at.input - sent.input + at.weight);
    }
    cells.forward.push_back(forward);
    cells.backward.push_back(backward);
  }
  return cells;
}

/// Returns the shortest and the longest time, the latter multiplied by `slow`.
importer::TimerSample find_range(const std::vector<Seconds>& of, double slow) {
  const auto [min, max] = std::minmax_element(of.begin(), of.end());
  return {*min, slow * *max};
}

}  // namespace

TrialPrediction predict_trial(const Trial& trial) {
  const plan::TrainingConfig& config = trial.config;
  TrialPrediction predicted{.items = cost::estimate_step_time(config, trial.calibration)};
  const Seconds whole = predicted.items.total();
  const Seconds before_jitter = whole - predicted.items[cost::Item::jitter];
  const double jitter = before_jitter.value > 0 ? whole / before_jitter : 1;
  const TimerCells cells = sum_cells(config, trial.calibration);
  if (trial.slow > 1) {
    const i64 rank = predicted.items.slowest * config.plan.meshes().dense.stride(mesh::Axis::pp);
    const cost::SlowRank slow[] = {{rank, trial.slow}};
    predicted.items[cost::Item::imbalance] +=
        cost::SlowSteps(config, trial.calibration, false).step(slow) - whole;
  }
  const Seconds optimizer = jitter * predicted.items[cost::Item::optimizer];
  const Seconds inside = predicted.items.total();
  const auto alike = [](Seconds time) { return importer::TimerSample{{}, time, false}; };
  predicted.timers = {
      {"forward-backward", "all but the optimizer", alike(inside - optimizer)},
      {"forward-compute", "matmuls to CP exchange, forward", find_range(cells.forward, trial.slow)},
      {"backward-compute", "matmuls to CP exchange and recomputation, backward",
       find_range(cells.backward, trial.slow)},
      {"batch-generator", "none: the next batch is ready", alike(trial.loading)},
      {"all-grads-sync", "DP and ZeRO", alike(jitter * predicted.items[cost::Item::dp])},
      {"optimizer", "optimizer", alike(optimizer)},
  };
  predicted.step = inside + trial.outside;
  return predicted;
}

std::vector<Suspect> find_suspects(const plan::TrainingConfig& config) {
  std::vector<Suspect> all;
  for (const SuspectRow& row : kRows)
    if (row.applies(config))
      all.push_back({std::string(row.name), row.slower, row.faster, row.reason,
                     std::string(row.suggestion), row.grow});
  const std::vector<cluster::Level>& levels = config.cluster.levels;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const bool inner = l == 0 && levels.size() > 1;
    all.push_back({.name = levels[l].name,
                   .slower = 3.0,
                   .faster = 1.3,
                   .reason = inner ? "broken NVLink links, or a detour over PCIe, leave a third"
                                   : "shared links, unused rails and congestion leave a third",
                   .suggestion = fmt::format("nccl-tests over {}: all_reduce_perf -b 8M -e 1G; "
                                             "NCCL_DEBUG=INFO shows the NICs in use",
                                             levels[l].name),
                   .grow =
                       [](Trial& t, double f, std::size_t level) {
                         BytesPerSecond& bandwidth = t.config.cluster.levels[level].bandwidth;
                         bandwidth = bandwidth / f;
                       },
                   .level = l});
  }
  return all;
}

}  // namespace rankwright::validate
