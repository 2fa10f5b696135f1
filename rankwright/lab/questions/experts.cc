// Lab 8: experts distributed over ranks, and the all-to-alls that reach them.
#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/lab/conditions.h"
#include "rankwright/lab/lab.h"
#include "rankwright/model/parameters.h"

namespace rankwright::lab {
namespace experts_impl {
namespace {

WorkedAnswer active(const plan::TrainingConfig& s) {
  const i64 some = count_active_parameters(s.model), all = count_parameters(s);
  const model::FeedForward& ffn = s.model.layer(0).ffn;
  return {
      double(some) / double(all),
      fmt::format("{} / {} = {}; every token uses attention and embedding, and of {} experts {}",
                  format_short_count(double(some)), format_short_count(double(all)),
                  percent(double(some) / double(all)), ffn.experts, ffn.active),
      {{double(ffn.active) / double(ffn.experts),
        "that counts the experts alone: every token also uses the rest"}}};
}

WorkedAnswer held(const plan::TrainingConfig& s) {
  const i64 all = s.model.layer(0).ffn.experts;
  return {double(all / s.plan.ep),
          fmt::format("{} experts per layer / EP {} = {}", all, s.plan.ep, all / s.plan.ep)};
}

WorkedAnswer copies_of(const plan::TrainingConfig& s) {
  return {
      double(s.plan.expert_dp()),
      fmt::format("{} ranks / (ETP {} x EP {} x PP {}) = {}", s.plan.ranks(), s.plan.etp, s.plan.ep,
                  s.plan.pp, s.plan.expert_dp()),
      {{double(s.plan.dp), "that is the value for the dense layers: EP takes its ranks from DP"}}};
}

WorkedAnswer all_to_alls(const plan::TrainingConfig& s) {
  const i64 n = find_max_traffic(s, plan::TrafficKind::ep_all_to_all).traffic.calls;
  const i64 layers = contents(s, 0).layers, m = s.microbatches();
  return {double(n), fmt::format("{} layers per PP rank x {} micro-batches x {} (dispatch and "
                                 "combine, in both passes) = {}",
                                 layers, m, n / (layers * m), count(n))};
}

WorkedAnswer size(const plan::TrainingConfig& s) {
  const Bytes one = find_max_traffic(s, plan::TrafficKind::ep_all_to_all).traffic.bytes();
  const i64 active = s.model.layer(0).ffn.active;
  return {one.value,
          fmt::format("{} tokens x {} experts each x {} hidden x 2 bytes = {}",
                      count(s.job.sequence), active, count(s.model.hidden), show(one)),
          {{one.value / double(active), "that sends a token to one expert: it uses two"}}};
}

WorkedAnswer slower(const plan::TrainingConfig& s) {
  const plan::TrainingConfig inner = load_example_config("labs/experts.yaml");
  const Seconds here = find_max_traffic(s, plan::TrafficKind::ep_all_to_all).total,
                there = find_max_traffic(inner, plan::TrafficKind::ep_all_to_all).total;
  return {here / there,
          fmt::format("{} / {} = {:.3g}: with PP first, a node holds {} of the {} ranks of a group",
                      show(here), show(there), here / there,
                      cost::find_span(s, mesh::GroupKind::ep).inside[0], s.plan.ep)};
}

constexpr std::string_view kFile = "labs/experts.yaml";
constexpr std::string_view kSee = "rankwright explain examples/labs/experts.yaml";
constexpr Question kQuestions[] = {
    {"active", AnswerKind::percent, kFile, active, "rankwright catalog models mixtral-8x7b",
     "Every token uses attention and embedding, but only some of the experts.",
     "(other parameters + expert parameters x used experts / experts) / all parameters", kRounded},
    {"experts", AnswerKind::whole, kFile, held, kSee,
     "The experts of a layer are divided over the EP ranks.", "experts per layer / EP"},
    {"copies", AnswerKind::whole, kFile, copies_of,
     "rankwright explain examples/labs/experts.yaml --rank 0",
     "Expert parallelism takes its ranks from data parallelism.", "world size / (ETP x EP x PP)"},
    {"calls", AnswerKind::whole, kFile, all_to_alls, kSee,
     "Tokens travel to their experts and back, in both passes.",
     "MoE layers per PP rank x micro-batches x (dispatch + combine) x passes"},
    {"size", AnswerKind::bytes, kFile, size, kSee,
     "A token is sent once for each expert that it uses.",
     "tokens x experts per token x hidden size x bytes per element", kRounded},
    {"slower", AnswerKind::number, "labs/experts-across.yaml", slower,
     "rankwright check examples/labs/experts-across.yaml",
     "Which link do the groups cross when stages are neighbors?",
     "time of the all-to-alls across nodes / time of those inside a node", kEstimated},
};

}  // namespace
}  // namespace experts_impl

std::span<const Question> expert_questions() { return experts_impl::kQuestions; }

}  // namespace rankwright::lab
