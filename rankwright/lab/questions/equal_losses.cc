// Lab 13: two layouts of one tiny model, trained by the runtime, have equal losses.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "rankwright/base/format.h"
#include "rankwright/lab/conditions.h"
#include "rankwright/lab/lab.h"

namespace rankwright::lab {
namespace equal_losses_impl {
namespace {

constexpr std::string_view kCopies = "labs/tiny-dp4.yaml", kSplit = "labs/tiny-tp2-pp2.yaml";

WorkedAnswer first_loss(const plan::TrainingConfig& s) {
  const double loss = std::log(double(s.model.vocab));
  return {
      loss,
      fmt::format("all {} words are about equally likely: ln {} = {:.3g}", s.model.vocab,
                  s.model.vocab, loss),
      {{std::log2(double(s.model.vocab)), "that is in bits: frameworks use the natural logarithm"},
       {0, "a loss of zero is a model that is always right"}}};
}

WorkedAnswer sequences(const plan::TrainingConfig& s) {
  const i64 each = s.job.global_batch / s.plan.dp;
  return {double(each),
          fmt::format("{} / DP {} = {}", s.job.global_batch, s.plan.dp, each),
          {{double(s.job.global_batch), "that is the whole batch: DP divides it"}}};
}

WorkedAnswer gradients(const plan::TrainingConfig& s) {
  const cost::TrafficCost row = find_max_traffic(s, plan::TrafficKind::dp_all_reduce);
  return {row.traffic.total.value,
          fmt::format("{} parameters x 4 bytes (fp32) = {}", count(count_parameters(s)),
                      show(row.traffic.total)),
          {{row.traffic.total.value / 2, "that is with 2 bytes: these gradients are fp32"},
           {row.wire.value, "that is what a ring sends: the question asks for the tensor"}}};
}

WorkedAnswer tp_groups(const plan::TrainingConfig& s) {
  const i64 groups = s.world / s.plan.tp;
  return {double(groups),
          fmt::format("{} ranks / TP {} = {}, one per PP rank", s.world, s.plan.tp, groups),
          {{double(s.world), "that is the number of ranks: each group has more than one"},
           {1, "ranks of different stages hold different layers: they are not in one TP group"}}};
}

WorkedAnswer message(const plan::TrainingConfig& s) {
  const Bytes size = find_max_traffic(s, plan::TrafficKind::pp_forward).traffic.bytes();
  const Bytes whole =
      Bytes{4.0 * double(s.plan.micro_batch) * double(s.job.sequence) * double(s.model.hidden)};
  return {size.value,
          fmt::format("{} x {} tokens x {} hidden x 4 bytes = {}, over TP {} with sequence "
                      "parallelism: {}",
                      s.plan.micro_batch, s.job.sequence, s.model.hidden, show(whole), s.plan.tp,
                      show(size)),
          {{whole.value, "that is the whole tensor: each TP rank sends its part"},
           {size.value / 2, "that is with 2 bytes per number: this model is fp32"}}};
}

constexpr std::string_view kAgreement[] = {"bitwise", "rounding", "different"};

/// Works out how the losses of both layouts agree: sums over other groups are rounded in another
/// order.
WorkedAnswer agreement(const plan::TrainingConfig& s) {
  const plan::TrainingConfig other = load_example_config(kCopies);
  const bool same_sums = s.plan.tp == other.plan.tp && s.plan.dp == other.plan.dp;
  return {same_sums ? 0.0 : 1.0,
          fmt::format("the weights and the batch are equal, and TP {} DP {} adds the same numbers "
                      "as TP {} DP {}, in another order: fp32 sums then differ in the last digits",
                      s.plan.tp, s.plan.dp, other.plan.tp, other.plan.dp)};
}

WorkedAnswer digits(const plan::TrainingConfig&) {
  constexpr int kBits = std::numeric_limits<float>::digits;
  constexpr int kDigits = std::numeric_limits<float>::digits10;
  return {double(kDigits),
          fmt::format("fp32 has {} significant bits: ({} - 1) x log10 2 = {:.3g}, rounded down {}",
                      kBits, kBits, (kBits - 1) * std::log10(2.0), kDigits),
          {{double(std::numeric_limits<double>::digits10), "that is fp64"}}};
}

constexpr std::string_view kSeeCopies = "rankwright explain examples/labs/tiny-dp4.yaml";
constexpr std::string_view kSeeSplit = "rankwright explain examples/labs/tiny-tp2-pp2.yaml";
constexpr std::string_view kRunSplit =
    "rankwright run examples/labs/tiny-tp2-pp2.yaml --local --steps 5";
constexpr Question kQuestions[] = {
    {"sequences", AnswerKind::whole, kCopies, sequences, kSeeCopies,
     "Each replica works on its own part of the global batch.", "global batch / DP"},
    {"gradients", AnswerKind::bytes, kCopies, gradients, kSeeCopies,
     "This model trains in fp32, so a gradient has more bytes than in the other labs.",
     "parameters x bytes per gradient", kRounded},
    {"tp_groups", AnswerKind::whole, kSplit, tp_groups, kSeeSplit,
     "Each rank is in exactly one TP group.", "world size / TP"},
    {"message", AnswerKind::bytes, kSplit, message, kSeeSplit,
     "A stage sends the activations of one micro-batch; with sequence parallelism, in parts.",
     "micro-batch x sequence x hidden size x bytes per number / TP", kRounded},
    {"first_loss", AnswerKind::number, kCopies, first_loss,
     "rankwright run examples/labs/tiny-dp4.yaml --local --steps 5",
     "Before training, every word is about equally likely.", "natural logarithm of the vocabulary",
     kEstimated},
    {"agreement", AnswerKind::choice, kSplit, agreement, kRunSplit,
     "Both layouts add the same numbers. Do they add them in the same order?",
     "(a + b) + c against a + (b + c), in floating point", 0, kAgreement},
    {"digits", AnswerKind::whole, kSplit, digits, kRunSplit,
     "How many significant bits does an fp32 number have?",
     "(significant bits - one) x log10 of the base, rounded down"},
};

}  // namespace
}  // namespace equal_losses_impl

std::span<const Question> equal_loss_questions() { return equal_losses_impl::kQuestions; }

}  // namespace rankwright::lab
