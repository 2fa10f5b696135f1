// Lab 5: from 16 bytes per parameter to a configuration.
#include <fmt/format.h>

#include <cmath>

#include "rankwright/base/format.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/cost/memory/states.h"
#include "rankwright/lab/conditions.h"
#include "rankwright/lab/lab.h"

namespace rankwright::lab {
namespace sizing_impl {
namespace {

constexpr double kBytesPerParameter =
    16;  // bytes per parameter with bf16 and Adam: formulas M1 to M3

Bytes model_states(const plan::TrainingConfig& s) {
  plan::TrainingConfig one = s;
  one.plan = plan::Plan{};
  return cost::compute_states(one, 0).total();
}

Bytes capacity(const plan::TrainingConfig& s) {
  return cost::estimate_plan(s, select_calibration(s)).capacity;
}

WorkedAnswer whole_states(const plan::TrainingConfig& s) {
  const Bytes all = model_states(s);
  const double billions = std::round(double(count_parameters(s)) / 1e9);
  return {all.value,
          fmt::format("{} parameters x (2 + 2 + 12) bytes = {}",
                      format_short_count(double(count_parameters(s))), show(all)),
          {{all.value * 2 / kBytesPerParameter, "those are the weights alone, 2 bytes each"},
           {billions * 1e9 * kBytesPerParameter,
            fmt::format("that is for {} billion parameters: it has fewer", billions)}}};
}

WorkedAnswer count_units(const plan::TrainingConfig& s, double each, std::string_view what) {
  const double ratio = model_states(s).value / each;
  return {std::ceil(ratio),
          fmt::format("{} / {} per {} = {:.3g}, so {}", show_memory(model_states(s)),
                      show_memory(Bytes{each}), what, ratio, std::ceil(ratio))};
}

WorkedAnswer gpus(const plan::TrainingConfig& s) {
  return count_units(s, capacity(s).value, "GPU");
}

WorkedAnswer nodes(const plan::TrainingConfig& s) {
  return count_units(s, double(s.cluster.levels[0].arity) * capacity(s).value, "node");
}

WorkedAnswer cut_states(const plan::TrainingConfig& s) {
  const Bytes held = cost::compute_states(s, 0).total();
  return {held.value,
          fmt::format("{} x 16 bytes over TP {} x PP {} ranks are {} on average; PP rank 0, with "
                      "the embedding, holds {}",
                      format_short_count(double(count_parameters(s))), s.plan.tp, s.plan.pp,
                      show(model_states(s) / (s.plan.tp * s.plan.pp)), show(held)),
          {{model_states(s).value / double(s.world),
            "that also divides by the copies: DP does not divide the states without ZeRO"},
           {model_states(s).value / double(s.plan.tp * s.plan.pp),
            "that is the average of the PP ranks: the first also holds the embedding"}}};
}

WorkedAnswer copies_of(const plan::TrainingConfig& s) {
  return {double(s.plan.dp),
          fmt::format("{} GPUs / (TP {} x PP {}) = {}", s.world, s.plan.tp, s.plan.pp, s.plan.dp)};
}

constexpr Condition kFits[] = {
    {"keep model, cluster, job and software", keeps_task},
    {"fit in memory", fits_memory},
    {"keep TP inside the node", keeps_tp_inside},
};

constexpr std::string_view kSmall = "labs/dp-7b.yaml", kLarge = "labs/tp-8.yaml";
constexpr Question kQuestions[] = {
    {"states", AnswerKind::bytes, kSmall, whole_states,
     "rankwright explain examples/labs/dp-7b.yaml --rank 0",
     "Start from the exact number of parameters: rankwright catalog models llama-2-7b.",
     "parameters x (weight + gradient + optimizer bytes)", kRounded},
    {"gpus", AnswerKind::whole, kSmall, gpus, "rankwright check examples/labs/dp-7b.yaml",
     "Divide by the usable memory of one H100, in the same unit.",
     "states / memory per GPU, rounded up"},
    {"nodes", AnswerKind::whole, kLarge, nodes, "rankwright check examples/labs/dp-64.yaml",
     "A node has the memory of all of its GPUs.",
     "states / (GPUs per node x memory per GPU), rounded up"},
    {"held", AnswerKind::bytes, kLarge, cut_states,
     "rankwright explain examples/labs/tp-8.yaml --rank 0",
     "The first PP rank has its layers and the embedding.",
     "(parameters of its layers + embedding) x bytes per parameter / TP", 0.015},
    {"copies", AnswerKind::whole, kLarge, copies_of, "rankwright check examples/labs/tp-8.yaml",
     "The degrees multiply to the world size.", "world size / (TP x PP)"},
    {"plan",
     AnswerKind::plan,
     "labs/dp-64.yaml",
     nullptr,
     "rankwright check examples/labs/dp-64.yaml",
     "Split one copy over enough ranks before you replicate it.",
     "TP inside the node, then PP until it fits, then DP = world size / (TP x PP)",
     0,
     {},
     kFits},
};

}  // namespace
}  // namespace sizing_impl

std::span<const Question> sizing_questions() { return sizing_impl::kQuestions; }

}  // namespace rankwright::lab
