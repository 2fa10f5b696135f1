// Tests that every key of a plan file is read into the Draft. One row per key: a key without a row
// fails.
#include "rankwright/import/plan/plan_keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "rankwright/export/plan_file.h"
#include "rankwright/import/plan/plan_file.h"
#include "tests/support/finding_lines.h"

namespace rankwright::importer {
namespace plan_keys_test {

struct Example {
  std::string_view path;
  std::string_view value;  // as it is typed; not the default
  // Returns whether the value was read: not from an empty draft. Null: the key is a remark.
  bool (*was_read)(const Draft&) = nullptr;
};

template <auto member, auto value>
bool is(const Draft& draft) {
  return draft.*member == value;
}

const Example kExamples[] = {
    {"world_size", "64", is<&Draft::world, 64>},
    {"node_shape", "2_nodes_x_4_gpus",
     [](const Draft& d) { return d.shape && d.shape->nodes == 2 && d.shape->gpus == 4; }},
    {"reading_note", "a remark"},
    {"name", "a remark"},
    {"parallelism.tp_size", "8", is<&Draft::tp, 8>},
    {"parallelism.cp_size", "8", is<&Draft::cp, 8>},
    {"parallelism.pp_size", "8", is<&Draft::pp, 8>},
    {"parallelism.dp_size", "8", is<&Draft::dp, 8>},
    {"parallelism.ep_size", "8", is<&Draft::ep, 8>},
    {"parallelism.etp_size", "8", is<&Draft::etp, 8>},
    {"parallelism.order", "tp-cp-ep-pp-dp",
     [](const Draft& d) { return d.order && show(*d.order) == "tp-cp-ep-pp-dp"; }},
    {"parallelism.zero_stage", "3", is<&Draft::zero, 3>},
    {"parallelism.shard_size", "8", is<&Draft::shard_size, 8>},
    {"parallelism.bucket_size", "8", is<&Draft::bucket_size, 8>},
    {"parallelism.sequence_parallel", "off", is<&Draft::sequence_parallel, false>},
    {"parallelism.cp_comm", "a2a", is<&Draft::cp_comm, plan::CpComm::a2a>},
    {"parallelism.micro_batch", "8", is<&Draft::micro_batch, 8>},
    {"parallelism.virtual_stages", "8", is<&Draft::virtual_stages, 8>},
    {"parallelism.microbatch_group", "8", is<&Draft::microbatch_group, 8>},
    {"parallelism.schedule", "zb-v", is<&Draft::schedule, pipeline::Schedule::zb_v>},
    {"parallelism.stages", "Et|tL",
     [](const Draft& d) { return d.stages && show_layout(*d.stages) == "Et|tL"; }},
    {"parallelism.stages", "[3, 1]",
     [](const Draft& d) {
       return d.stage_layers == std::vector<i64>{3, 1};
     }},
    {"parallelism.recompute", "selective", is<&Draft::recompute, plan::Recompute::selective>},
    {"parallelism.recompute", "{full: 4}",
     [](const Draft& d) {
       return d.recompute == plan::Recompute::full && d.recompute_layers == 4;
     }},
    {"parallelism.recompute", "{modules: [moe_act, layernorm]}",
     [](const Draft& d) {
       return d.recompute == plan::Recompute::selective &&
              d.recompute_modules ==
                  plan::RecomputeModules{.core_attn = false, .layernorm = true, .moe_act = true};
     }},
    {"parallelism.overlap.grad_reduce", "no", is<&Draft::overlap_grad, false>},
    {"parallelism.overlap.param_gather", "no", is<&Draft::overlap_param, false>},
    {"parallelism.overlap.tp", "yes", is<&Draft::overlap_tp, true>},
    {"parallelism.overlap.pp", "yes", is<&Draft::overlap_pp, true>},
    {"parallelism.overlap.ep", "yes", is<&Draft::overlap_ep, true>},
    {"parallelism.overlap.wgrad", "yes", is<&Draft::overlap_wgrad, true>},
    {"parallelism.dispatcher", "deepep", is<&Draft::dispatcher, plan::Dispatcher::deepep>},
    {"parallelism.offload.optimizer", "0.5",
     [](const Draft& d) { return d.offload_optimizer == 0.5; }},
    {"parallelism.offload.optimizer", "true",
     [](const Draft& d) { return d.offload_optimizer == 1; }},
    {"parallelism.offload.parameters", "yes", is<&Draft::offload_parameters, true>},
    {"parallelism.offload.activations", "yes", is<&Draft::offload_activations, true>},
    {"parallelism.offload.nvme", "all", is<&Draft::offload_nvme, plan::NvmeStates::all>},
    {"parallelism.offload.nvme_path", "/local_nvme",
     [](const Draft& d) { return d.nvme_path == "/local_nvme"; }},
    {"placement", "cyclic", is<&Draft::placement, mesh::Placement::Kind::cyclic>},
    {"placement", "{ranks: [1, 0]}",
     [](const Draft& d) {
       return d.rank_devices == std::vector<i64>{1, 0};
     }},
    {"placement", "{hosts: [1, 0]}",
     [](const Draft& d) {
       return d.host_order == std::vector<i64>{1, 0};
     }},
    {"model", "llama-3.1-8b", [](const Draft& d) { return d.model && d.model->layers() == 32; }},
    {"model", "{architecture: llama, hidden: 64, layers: 3, heads: 4, ffn: 128, vocab: 100}",
     [](const Draft& d) { return d.model && d.model->layers() == 3; }},
    {"cluster", "dgx-h100 x 8",
     [](const Draft& d) { return d.cluster && d.cluster->devices() == 64; }},
    {"cluster", "{device: h100-sxm, levels: [{arity: 3, bandwidth: 1 GB/s}]}",
     [](const Draft& d) { return d.cluster && d.cluster->devices() == 3; }},
    {"job.global_batch", "8", is<&Draft::global_batch, 8>},
    {"job.sequence", "8", is<&Draft::sequence, 8>},
    {"job.doc_length", "512", is<&Draft::doc_length, 512>},
    {"job.images", "3", is<&Draft::images, 3>},
    {"job.clips", "4", is<&Draft::images, 4>},
    {"job.image_tokens", "576", is<&Draft::image_tokens, 576>},
    // Half of the documents have 2,048 tokens, half 8,192: (2048^2 + 8192^2) / (2048 + 8192) =
    // 6963.2
    {"job.doc_length", "'2k:0.5, 8k:0.5'", is<&Draft::doc_length, 6963>},
    {"job.doc_length", "1024:3", is<&Draft::doc_length, 1024>},
    {"job.method", "dpo", is<&Draft::method, plan::Method::dpo>},
    {"job.ref_model", "true", is<&Draft::ref_model, true>},
    {"job.param_dtype", "fp8", is<&Draft::param_dtype, plan::Dtype::fp8>},
    {"job.grad_dtype", "fp32", is<&Draft::grad_dtype, plan::Dtype::fp32>},
    {"job.matmul", "fp8", is<&Draft::matmul, plan::Matmul::fp8>},
    {"job.optimizer", "lion", is<&Draft::optimizer, plan::Optimizer::lion>},
    {"job.fp8_swiglu_input", "on", is<&Draft::fp8_swiglu_input, true>},
    {"job.moment_dtype", "bf16", is<&Draft::moment_dtype, plan::Dtype::bf16>},
    {"job.master_dtype", "bf16", is<&Draft::master_dtype, plan::Dtype::bf16>},
    {"job.lora_rank", "16", is<&Draft::lora_rank, 16>},
    {"job.lora_modules", "all",
     [](const Draft& d) { return d.lora_modules == plan::LoraModules{}; }},
    {"job.lora_modules", "[q_proj, v_proj]",
     [](const Draft& d) {
       return d.lora_modules == plan::LoraModules{true, false, true, false, false, false, false};
     }},
    {"job.frozen", "[embedding, layers 0-15, head]",
     [](const Draft& d) {
       return d.frozen == model::FrozenParts{.embedding = true, .end = 16, .head = true};
     }},
    {"job.frozen", "'encoder,layers 3-3'",
     [](const Draft& d) {
       return d.frozen == model::FrozenParts{.encoder = true, .first = 3, .end = 4};
     }},
    {"job.base_dtype", "nf4", is<&Draft::base_dtype, plan::BaseDtype::nf4>},
    {"job.base_dtype", "fp32", is<&Draft::base_dtype, plan::BaseDtype::fp32>},
    {"job.loss_tokens", "256", is<&Draft::loss_tokens, 256>},
    {"job.expert_imbalance", "1.25", [](const Draft& d) { return d.expert_imbalance == 1.25; }},
    {"job.expert_capacity", "1.5", [](const Draft& d) { return d.expert_capacity == 1.5; }},
    {"software.framework", "torchtitan",
     [](const Draft& d) { return d.framework && d.framework->name == "torchtitan"; }},
    {"software.release", "0.14", [](const Draft& d) { return d.release == "0.14"; }},
    {"software.target", "torchtitan", is<&Draft::target, rules::Target::torchtitan>},
    {"software.attention", "flash2", is<&Draft::attention, plan::AttentionKernel::flash2>},
    {"software.launch", "graphs", is<&Draft::launch, plan::Launch::graphs>},
    {"software.expert_kernel", "fused", is<&Draft::expert_kernel, plan::ExpertKernel::fused>},
    {"software.fused_permute", "no", is<&Draft::fused_permute, false>},
    {"software.compile", "yes", is<&Draft::compile, true>},
    {"software.sync_each_batch", "yes", is<&Draft::sync_each_batch, true>},
    {"software.loss", "eager", is<&Draft::loss, plan::Loss::eager>},
    {"software.tuned", "yes", is<&Draft::tuned, true>},
};

/// Returns "a: {b: {c: 8}}" for "a.b.c" and 8.
std::string file_with(std::string_view path, std::string_view value) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) return fmt::format("{}: {}", path, value);
  return fmt::format("{}: {{{}}}", path.substr(0, dot), file_with(path.substr(dot + 1), value));
}

TEST(PlanKeys, EveryKeyIsReadIntoItsMember) {
  for (const Example& example : kExamples) {
    const PlanFile file = read_plan(file_with(example.path, example.value), "p.yaml", refuse_file);
    EXPECT_EQ(format_findings(file.findings), "") << example.path;
    if (example.was_read == nullptr) {  // a remark changes nothing
      EXPECT_EQ(exporter::write_plan_yaml(resolve(file.draft)),
                exporter::write_plan_yaml(resolve(Draft{})))
          << example.path;
      continue;
    }
    EXPECT_TRUE(example.was_read(file.draft)) << example.path << ": " << example.value;
    EXPECT_FALSE(example.was_read(Draft{})) << example.path;
  }
}

TEST(PlanKeys, EveryKeyHasAnExample) {
  std::set<std::string_view> shown;
  for (const Example& example : kExamples) shown.insert(example.path);
  std::set<std::string_view> known;
  for (const KeyRow& row : key_rows()) known.insert(row.key.path);
  EXPECT_EQ(shown, known);
}

TEST(PlanKeys, AreDocumentedAndBelongToAGroup) {
  std::set<std::string_view> paths;
  ASSERT_FALSE(key_rows().empty());
  for (const KeyRow& row : key_rows()) {
    const PlanKey& key = row.key;
    EXPECT_TRUE(paths.insert(key.path).second) << key.path << " stands twice";
    EXPECT_FALSE(key.values.empty() || key.missing.empty() || key.meaning.empty()) << key.path;
    const std::size_t dot = key.path.rfind('.');
    if (dot == std::string_view::npos) continue;
    const std::span<const std::string_view> groups = key_groups();
    EXPECT_NE(std::find(groups.begin(), groups.end(), key.path.substr(0, dot)), groups.end())
        << key.path;
  }
}

}  // namespace plan_keys_test
}  // namespace rankwright::importer
