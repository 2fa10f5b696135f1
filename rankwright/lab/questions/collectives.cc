// Lab 11: the bytes and the steps of collectives.
#include <fmt/format.h>

#include <cmath>

#include "rankwright/base/format.h"
#include "rankwright/lab/conditions.h"
#include "rankwright/lab/lab.h"

namespace rankwright::lab {
namespace collectives_impl {
namespace {

constexpr i64 kVeryMany = 1'000'000'000;  // ranks, for the limit of a ratio

/// Returns the gradients of one rank, the tensor of the questions.
Bytes gradient_bytes(const plan::TrainingConfig& s) {
  return find_max_traffic(s, plan::TrafficKind::dp_all_reduce).traffic.total;
}

/// Works out the bytes that a rank sends if `op` passes over the tensor once.
WorkedAnswer one_round(const plan::TrainingConfig& s, plan::Op op, std::string_view what) {
  const i64 n = s.plan.dp;
  const Bytes size = gradient_bytes(s), sent = cost::count_wire_bytes(op, size, n);
  return {sent.value,
          fmt::format("{} of {} in {} ring steps: {}/{} x {} = {}", what, show(size / n), n - 1,
                      n - 1, n, show(size), show(sent)),
          {{size.value, "that is the whole tensor: the part that a rank keeps is not sent"},
           {2 * sent.value, "that is an all-reduce: this collective is one half of it"},
           {size.value / double(n), "that is one ring step: there are more"}}};
}

WorkedAnswer reduce_scatter(const plan::TrainingConfig& s) {
  return one_round(s, plan::Op::reduce_scatter, "it sends a partial sum");
}

WorkedAnswer all_gather(const plan::TrainingConfig& s) {
  return one_round(s, plan::Op::all_gather, "it passes on a finished part");
}

WorkedAnswer all_reduce(const plan::TrainingConfig& s) {
  const Bytes size = gradient_bytes(s);
  const Bytes half = cost::count_wire_bytes(plan::Op::reduce_scatter, size, s.plan.dp),
              sent = cost::count_wire_bytes(plan::Op::all_reduce, size, s.plan.dp);
  return {sent.value,
          fmt::format("reduce-scatter {} + all-gather {} = {}", show(half), show(half), show(sent)),
          {{half.value, "that is one half: sums must be formed and then distributed"},
           {size.value, "that is the tensor: a ring sends almost two of it"},
           {2 * size.value, "that is the limit for very many ranks"}}};
}

WorkedAnswer ring_steps(const plan::TrainingConfig& s) {
  const i64 n = s.plan.dp, steps = 2 * (n - 1);
  return {
      double(steps),
      fmt::format("{} to form the sums + {} to distribute them = {}", n - 1, n - 1, steps),
      {{double(n - 1), "that is the reduce-scatter alone: the sums must also be distributed"},
       {double(2 * n), "a part needs one step less than there are ranks to reach all of them"},
       {double(n), "a part needs one step less than there are ranks, and there are two rounds"}}};
}

WorkedAnswer bound(const plan::TrainingConfig& s) {
  const double limit = cost::count_wire_bytes(plan::Op::all_reduce, Bytes{1}, kVeryMany) / Bytes{1};
  const double here = cost::count_wire_bytes(plan::Op::all_reduce, Bytes{1}, s.plan.dp) / Bytes{1};
  return {
      std::round(limit * 1000) / 1000,
      fmt::format("2 (n-1)/n is {:.3g} with {} ranks and tends to {:.3g}", here, s.plan.dp, limit),
      {{here, "that is for the ranks of this plan: more ranks send slightly more"},
       {1, "that is the limit of one round: an all-reduce has two"}}};
}

constexpr std::string_view kCompared[] = {"more", "equal", "less"};

WorkedAnswer zero_1(const plan::TrainingConfig& s) {
  plan::TrainingConfig sharded = s;
  sharded.plan.zero = 1;
  const Bytes plain = find_max_traffic(s, plan::TrafficKind::dp_all_reduce).wire,
              scattered = find_max_traffic(sharded, plan::TrafficKind::dp_reduce_scatter).wire,
              gathered = find_max_traffic(sharded, plan::TrafficKind::dp_all_gather).wire;
  const double ratio = (scattered + gathered) / plain;
  return {ratio > 1.01   ? 0.0
          : ratio < 0.99 ? 2.0
                         : 1.0,
          fmt::format("gradients {} + parameters {} = {}; one all-reduce sends {}", show(scattered),
                      show(gathered), show(scattered + gathered), show(plain))};
}

WorkedAnswer all_to_all(const plan::TrainingConfig& s) {
  const Bytes size = find_max_traffic(s, plan::TrafficKind::ep_all_to_all).traffic.bytes();
  const Bytes sent = cost::count_wire_bytes(plan::Op::all_to_all, size, s.plan.ep);
  return {sent.value,
          fmt::format("{} of tokens; those for its own experts stay: {}/{} x {} = {}", show(size),
                      s.plan.ep - 1, s.plan.ep, show(size), show(sent)),
          {{size.value, "that is the whole buffer: a part is for the rank's own experts"},
           {2 * sent.value, "an all-to-all passes over its buffer once: nothing is summed"}}};
}

constexpr std::string_view kFile = "labs/dp-1b.yaml", kExperts = "labs/experts.yaml";
constexpr std::string_view kSee = "rankwright explain examples/labs/dp-1b.yaml";
constexpr Question kQuestions[] = {
    {"reduce_scatter", AnswerKind::bytes, kFile, reduce_scatter, kSee,
     "Each rank ends with the sum of one part; it keeps that part and sends the others.",
     "(n-1)/n x tensor, with n ranks", kRounded},
    {"all_gather", AnswerKind::bytes, kFile, all_gather, kSee,
     "Each rank starts with one part and ends with all of them.", "(n-1)/n x tensor, with n ranks",
     kRounded},
    {"steps", AnswerKind::whole, kFile, ring_steps, kSee,
     "In a ring, a part travels from rank to rank until it has passed all of them.",
     "rounds x (ranks - one)"},
    {"all_reduce", AnswerKind::bytes, kFile, all_reduce, kSee,
     "Which two collectives, one after the other, give every rank the whole sum?",
     "bytes of the reduce-scatter + bytes of the all-gather", kRounded},
    {"bound", AnswerKind::number, kFile, bound, kSee,
     "Let the number of ranks grow: the part that a rank does not send vanishes.",
     "limit of rounds x (n-1)/n", kRounded},
    {"zero_1", AnswerKind::choice, kFile, zero_1, "rankwright explain zero_stage",
     "ZeRO-1 scatters the gradients, updates a shard, and gathers the parameters.",
     "(reduce-scatter of gradients + all-gather of parameters) / all-reduce of gradients", 0,
     kCompared},
    {"all_to_all", AnswerKind::bytes, kExperts, all_to_all,
     "rankwright explain examples/labs/experts.yaml",
     "A rank keeps the tokens that its own experts serve.",
     "(n-1)/n x buffer, with n ranks of the EP group", kRounded},
};

}  // namespace
}  // namespace collectives_impl

std::span<const Question> collective_questions() { return collectives_impl::kQuestions; }

}  // namespace rankwright::lab
