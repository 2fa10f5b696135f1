// Compares our rules for Megatron-LM with its own checks, which tests/support/megatron_judge.h
// copies from its sources: a plan is accepted exactly if its exported flags would be. Rules on
// memory and placement are left out, because Megatron-LM does not check these.
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "rankwright/export/exporter.h"
#include "rankwright/export/framework/megatron_settings.h"
#include "rankwright/rules/rule.h"
#include "tests/support/any_config.h"
#include "tests/support/megatron_judge.h"
#include "tests/support/typed_configs.h"

namespace rankwright::exporter {
namespace megatron_rules_test {

using sample::coin;
using sample::one_of;

/// Returns the codes of the errors that reject the plan.
std::string our_refusal(const rankwright::plan::TrainingConfig& config) {
  std::string codes;
  for (const Diagnostic& d : lint(config, rules::Target::megatron)) {
    const bool theirs = !d.code.starts_with("RW02") && !d.code.starts_with("RW03");
    if (theirs && d.severity == Severity::error) codes += std::string(d.code) + " ";
  }
  return codes;
}

std::string export_text(const rankwright::plan::TrainingConfig& config) {
  return export_plan(*find_exporter("megatron"), config).front().text;
}

std::string their_refusal(const rankwright::plan::TrainingConfig& config, const std::string& text) {
  const bool hopper = config.cluster.device.fp4 == FlopsPerSecond{};
  return megatron_judge::refusal(megatron_judge::parse(text), config.world, hopper);
}

bool rarely() { return *rc::gen::inRange(0, 8) == 0; }

model::Model random_stated_model() {
  if (coin()) return sample::random_known_model();
  model::Shapes shapes = random_shapes();
  shapes.ffn = one_of({64, 96, 100});
  shapes.expert_ffn = shapes.expert_ffn > 0 ? one_of({32, 48, 50}) : 0;
  shapes.shared_ffn = shapes.shared_ffn > 0 ? one_of({32, 48}) : 0;
  shapes.experts = shapes.experts > 0 ? one_of({4, 6, 8}) : 0;
  shapes.active_experts = shapes.experts > 0 ? 2 : 0;
  shapes.layers = one_of({4, 6, 8, 12, 24});
  shapes.mtp_layers = std::min<i64>(shapes.mtp_layers, 2);
  shapes.ffn_bias = shapes.qkv_bias = shapes.out_bias = std::nullopt;
  shapes.max_sequence = shapes.window = shapes.norms = 0;
  shapes.pattern.clear();
  shapes.head_bias = std::nullopt;
  if (shapes.positions > 0) shapes.positions = one_of({64, 2048});
  return *build(shapes);
}

/// Returns stages with MTP modules at valid and, rarely, at invalid places.
plan::Stages random_layout(const model::Model& model, i64 stages) {
  if (coin()) return plan::split_evenly(model.layers(), stages, model.mtp_layers);
  plan::Stages split = sample::random_stages(model, stages);
  if (model.mtp_layers > 0 && rarely()) std::swap(split.back().mtp, split.front().mtp);
  if (rarely()) ++split.front().layers;
  if (stages > 1 && rarely()) split.insert(split.begin() + 1, plan::Stage{});
  return split;
}

plan::Plan random_layout_plan(const model::Model& model) {
  plan::Plan p{.tp = one_of({1, 1, 2, 4, 8}),
               .cp = one_of({1, 1, 1, 2, 4}),
               .dp = one_of({1, 2, 4}),
               .pp = one_of({1, 1, 2, 3, 4})};
  p.ep = model.sparse() ? one_of({1, 2, 4, 8}) : rarely() ? 2 : 1;
  p.etp = model.sparse() ? (coin() ? p.tp : 1) : p.ep > 1 ? 1 : p.tp;
  p.zero = int(one_of({0, 1, 1, 2, 3}));
  const i64 data_ranks = p.dp * p.cp;
  if (p.zero > 0 && rarely()) p.shard_size = *rc::gen::elementOf(list_divisors(data_ranks));
  p.sequence_parallel = !rarely();
  p.cp_comm = plan::CpComm(one_of({0, 0, 1, 2}));
  p.micro_batch = one_of({1, 1, 2, 3});
  if (p.pp > 1 || rarely()) p.virtual_stages = one_of({1, 1, 2, 3});
  p.schedule =
      p.virtual_stages > 1 ? pipeline::Schedule::interleaved : pipeline::Schedule::one_f_one_b;
  if (p.virtual_stages > 1 && coin()) p.microbatch_group = one_of({2, 4, 6});
  if (coin()) p.stages = random_layout(model, p.pp * p.virtual_stages);
  p.recompute = plan::Recompute(one_of({0, 1, 2}));
  if (p.recompute == plan::Recompute::full) p.recompute_layers = one_of({0, 2});
  if (p.recompute == plan::Recompute::selective && coin())
    p.modules = {
        .core_attn = coin(), .layernorm = true, .mla_up_proj = rarely(), .moe_act = coin()};
  if (rarely())
    p.order =
        mesh::Order{mesh::Axis::tp, mesh::Axis::cp, mesh::Axis::ep, mesh::Axis::pp, mesh::Axis::dp};
  p.overlap = {.grad_reduce = !rarely(), .param_gather = false, .tp = rarely(), .pp = coin()};
  p.overlap.param_gather = p.zero > 0 ? coin() : rarely();
  return p;
}

rankwright::plan::TrainingConfig random_config() {
  const model::Model model = random_stated_model();
  const plan::Plan plan = random_layout_plan(model);
  rankwright::plan::TrainingConfig s = sample::config_of(model, plan, one_of({1, 2, 4, 6, 8, 12}));
  const i64 model_ranks = plan.tp * plan.cp * plan.pp;
  if (model_ranks > 1 && rarely()) ++s.world;
  if (plan.dp > 1 && rarely()) ++s.job.global_batch;
  s.cluster =
      *catalog::find_cluster(fmt::format("{} x {}", coin() ? "dgx-h100" : "dgx-b200", s.world));
  s.job.sequence = one_of({64, 64, 2048, 2048, 96, 100});
  s.job.param_dtype = plan::Dtype(one_of({0, 1, 1, 2}));
  s.job.grad_dtype = plan::Dtype::fp32;
  return s;
}

/// Returns a config that is random in half of the cases, and in the other half one without
/// constraint violations if 60 tries find one.
rankwright::plan::TrainingConfig random_case() {
  rankwright::plan::TrainingConfig s = random_config();
  const bool careful = coin();
  for (int tries = 0; careful && find_first_violation(s) && tries < 60; ++tries)
    s = random_config();
  return s;
}

TEST(MegatronRules, RandomPlan_IsAcceptedExactlyIfMegatronAcceptsIt) {
  int accepted = 0, refused = 0;
  std::map<std::string, int> reasons;
  const bool agreed = rc::check("ours and theirs", [&] {
    for (int i = 0; i < 12; ++i) {
      const rankwright::plan::TrainingConfig s = random_case();
      if (list_megatron_model(s).empty()) continue;  // shapes that no flags state
      const std::string text = export_text(s);
      const std::string ours = our_refusal(s), theirs = their_refusal(s, text);
      RC_LOG() << "ours: " << ours << "\ntheirs: " << theirs << "\n" << text;
      RC_ASSERT(ours.empty() == theirs.empty());
      (theirs.empty() ? accepted : refused) += 1;
      ++reasons[theirs];
    }
  });
  EXPECT_TRUE(agreed);
  EXPECT_GE(accepted, 100);
  EXPECT_GE(refused, 100);
  EXPECT_GE(accepted + refused, 300);
  EXPECT_GE(reasons.size(), 15u);  // of about 35 reasons to be refused
}

}  // namespace megatron_rules_test
}  // namespace rankwright::exporter
