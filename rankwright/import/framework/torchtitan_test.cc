#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "rankwright/import/framework/torchtitan_facts.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/pipeline/order.h"
#include "rankwright/program/cells.h"
#include "tests/support/finding_lines.h"
#include "tests/support/golden.h"

namespace rankwright::importer {
namespace torchtitan_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

PlanFile read(std::string text, const FileReader& files = refuse_file) {
  return read_any_plan(std::move(text), "run.toml", files);
}

rankwright::plan::TrainingConfig resolve_on(PlanFile plan, i64 world) {
  plan.draft.world = world;
  return resolve(plan.draft);
}

/// Without it, every second layer is recomputed whole, which is reported.
const std::string kKept = "[activation_checkpoint]\nmode = \"none\"\n";

constexpr std::string_view kHybrid =
    "[model]\n"
    "name = \"llama3\"\n"
    "flavor = \"70B\"\n"
    "[training]\n"
    "local_batch_size = 2\n"
    "global_batch_size = 256\n"
    "seq_len = 8192\n"
    "[parallelism]\n"
    "data_parallel_replicate_degree = 4\n"
    "data_parallel_shard_degree = -1\n"
    "tensor_parallel_degree = 8\n"
    "[activation_checkpoint]\n"
    "mode = \"full\"\n";

// Versions with TOML files recompute every second layer whole unless told otherwise.
TEST(TorchtitanImport, DefaultOfSelectiveRecomputation_IsReported) {
  const std::string layers = "[training]\nseq_len = 2048\n[parallelism]\n";
  const auto lines = [&](const std::string& text) {
    std::string all;
    for (const Diagnostic& one : read(layers + text).findings) all += one.detail + "\n";
    return all;
  };
  const std::string reported = "selective_ac_option is 2 by default";
  EXPECT_THAT(lines("[activation_checkpoint]\nmode = \"selective\"\n"), HasSubstr(reported));
  EXPECT_THAT(lines(""), HasSubstr(reported));
  EXPECT_EQ(lines("[activation_checkpoint]\nmode = \"none\"\n"), "");
  EXPECT_EQ(lines("[activation_checkpoint]\nmode = \"selective\"\nselective_ac_option = \"op\"\n"),
            "");
}

TEST(TorchtitanImport, ReadsShardsReplicasAndTheModel) {
  const PlanFile plan = read(std::string(kHybrid));
  ASSERT_TRUE(plan.findings.empty()) << plan.findings[0].detail;
  EXPECT_EQ(plan.format->name, "torchtitan-0.2");
  const rankwright::plan::TrainingConfig config = resolve_on(plan, 256);
  EXPECT_EQ(config.plan.dp, 32);         // 256 / tp 8
  EXPECT_EQ(config.plan.shard_size, 8);  // 32 / 4 replicas
  EXPECT_EQ(config.plan.zero, 3);        // resharded after forward without a pipeline
  EXPECT_EQ(config.plan.micro_batch, 2);
  EXPECT_EQ(config.job.global_batch, 256);
  EXPECT_EQ(config.plan.recompute, plan::Recompute::full);
  EXPECT_TRUE(config.plan.sequence_parallel);
  EXPECT_EQ(config.job.grad_dtype, plan::Dtype::fp32);
  EXPECT_EQ(config.model.name, "llama-3.1-70b");
  EXPECT_EQ(config.software.name, "torchtitan");
  EXPECT_EQ(plan.where("parallelism.tp_size").line, 11);
}

TEST(TorchtitanImport, WorldSizeDefaultsToTheProductOfDegrees) {
  const rankwright::plan::TrainingConfig config = resolve(read(std::string(kHybrid)).draft);
  EXPECT_EQ(config.world, 32);  // tp 8 x 4 replicas of one shard
}

TEST(TorchtitanImport, ReplicasThatDoNotDivideTheDataRanks_AreReported) {
  const PlanFile plan = read(std::string(kHybrid));
  const Diagnostics found = plan.format->against(plan, resolve_on(plan, 48));  // dp 6
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].code, "RW0604");
  EXPECT_EQ(found[0].where.line, 9);
}

/// Returns a config with four stages and `local` sequences per data rank.
std::string pipeline(int local, std::string_view more) {
  return "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = " +
         std::to_string(local) +
         "\n[parallelism]\ndata_parallel_shard_degree = 2\npipeline_parallel_degree = 4\n" +
         std::string(more) + kKept;
}

TEST(TorchtitanImport, SplitsTheLocalBatchIntoMicrobatches) {
  const PlanFile plan = read(pipeline(16, "pipeline_parallel_microbatch_size = 2\n"));
  const rankwright::plan::TrainingConfig config = resolve(plan.draft);
  EXPECT_EQ(config.microbatches(), 8);  // 16 / 2
  EXPECT_EQ(config.job.global_batch, 32);
  EXPECT_EQ(config.plan.zero, 2);  // kept after forward with a pipeline
  // 34 over 4 stages is 9 9 8 8, minus the embedding and the output: 8 9 8 7.
  EXPECT_EQ(show_layers(config.stages()), "8 9 8 7");
}

TEST(TorchtitanImport, AccumulationBeyondThePipeline_IsReported) {
  std::string text = pipeline(8, "");
  text.insert(text.find("[parallelism]"), "global_batch_size = 64\n");
  const PlanFile plan = read(text);
  const rankwright::plan::TrainingConfig config = resolve(plan.draft);
  EXPECT_EQ(config.job.global_batch, 16);
  const Diagnostics found = plan.format->against(plan, config);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].code, "RW0601");
  // 64 sequences are 4 passes of 16.
  golden::expect("import/torchtitan-accumulation.txt", format_findings(found));
}

TEST(TorchtitanImport, ReadsChunksFromTheListOfModules) {
  std::string list =
      "pipeline_parallel_schedule = \"Interleaved1F1B\"\n"
      "module_fqns_per_model_part = [[\"tok_embeddings\", \"layers.0\"]";
  for (int stage = 1; stage < 7; ++stage) list += ", [\"layers." + std::to_string(stage) + "\"]";
  list += ", [\"norm\", \"output\"]]\n";
  const PlanFile plan = read(pipeline(8, list));
  ASSERT_TRUE(plan.findings.empty()) << plan.findings[0].detail;
  EXPECT_EQ(plan.draft.virtual_stages, 2);
  EXPECT_EQ(show_layers(*plan.draft.stages), "1 1 1 1 1 1 1 0");
  EXPECT_TRUE(plan.draft.stages->front().embedding && plan.draft.stages->back().loss);
}

Result<std::string> zero_bubble(const std::string&) {
  return program::show_cells(pipeline::cells({pipeline::Schedule::zb_h1, 4, 1, 8}));
}

TEST(TorchtitanImport, IdentifiesAScheduleFromItsCells) {
  const std::string text = pipeline(8,
                                    "pipeline_parallel_schedule = \"PipelineScheduleSingle\"\n"
                                    "pipeline_parallel_schedule_csv = \"cells.csv\"\n");
  EXPECT_EQ(read(text, zero_bubble).draft.schedule, pipeline::Schedule::zb_h1);
  const PlanFile unread = read(text);
  ASSERT_THAT(unread.findings, SizeIs(1));
  golden::expect("import/torchtitan-unread-schedule.txt", format_findings(unread.findings));
}

// Versions of 2024: 8 sequences in 4 microbatches of 2.
TEST(TorchtitanImport, NumberOfMicrobatches_GivesTheirSize) {
  const PlanFile plan = read(
      "[training]\nbatch_size = 8\n[experimental]\npipeline_parallel_degree = 2\n"
      "pipeline_parallel_microbatches = 4\n");
  EXPECT_EQ(plan.draft.micro_batch, 2);
  EXPECT_EQ(plan.draft.accumulation, 4);
}

TEST(TorchtitanImport, InputThatTripsLibraryAssertions_IsRejected) {
  for (const std::string_view bad :
       {"[training]\n[{t]]\n", "[training]\n[ ]\n", "[training]\nx = [\u039f]\n"}) {
    const PlanFile plan = read(std::string(bad));
    ASSERT_THAT(plan.findings, SizeIs(1)) << bad;
    EXPECT_EQ(plan.findings[0].code, "RW0901");
    EXPECT_EQ(plan.findings[0].where.line, 2);
  }
  // Inside strings, comments and nested arrays these characters are valid.
  EXPECT_TRUE(
      read("# \u039f\n[training]\nseq_len = 64\ndataset = [\n  [\"\u039f [{\"],\n  [],\n]\n" +
           kKept)
          .findings.empty());
}

TEST(TorchtitanImport, SpellsEditsAsKeys) {
  const PlanFormat& format = *find_plan_format("torchtitan-0.2");
  EXPECT_EQ(spell_edits(format, {{"parallelism.tp_size", "4"}, {"parallelism.zero_stage", "2"}}),
            "parallelism.tensor_parallel_degree = 4, "
            "parallelism.fsdp_reshard_after_forward = \"never\"");
}

TEST(TorchtitanFacts, SplitMatchesTheFramework) {
  // 80 + 2 over 4: 21 21 20 20, minus one at either end.
  EXPECT_THAT(*split_like_torchtitan(80, 4, 1, 1), ElementsAre(20, 21, 20, 19));
  EXPECT_THAT(*split_like_torchtitan(3, 2, 2, 2), ElementsAre(2, 1));  // 7 over 2: 4 3
  EXPECT_FALSE(split_like_torchtitan(2, 8, 1, 1).has_value());
}

RC_GTEST_PROP(TorchtitanFacts, SplitContainsEveryLayer, ()) {
  const i64 layers = *rc::gen::inRange<i64>(1, 200), stages = *rc::gen::inRange<i64>(1, 40);
  const std::optional<std::vector<i64>> split = split_like_torchtitan(layers, stages, 1, 1);
  if (!split) return;
  RC_ASSERT(std::accumulate(split->begin(), split->end(), i64{0}) == layers);
}

TEST(TorchtitanFacts, FlavorsAreDistinctCatalogModels) {
  ASSERT_FALSE(torchtitan_flavors().empty());
  for (const TorchtitanFlavor& flavor : torchtitan_flavors())
    EXPECT_EQ(find_flavor(make_flavor_model(flavor)), &flavor)
        << flavor.name << " " << flavor.flavor;
}

TEST(TorchtitanFacts, GroupsAreRoundsOfEqualSize) {
  EXPECT_EQ(torch_group_size(4, 16), 4);
  EXPECT_EQ(torch_group_size(4, 10), 5);  // two rounds of 5
  EXPECT_EQ(torch_group_size(4, 9), std::nullopt);
  EXPECT_EQ(torch_group_size(4, 3), std::nullopt);
}

TEST(TorchtitanImport, ReadsDegreesFromTheirOldSections) {
  const PlanFile plan = read(
      "[training]\ndata_parallel_shard_degree = 32\ndata_parallel_replicate_degree = 2\n"
      "tensor_parallel_degree = 8\nbatch_size = 2\n");
  const rankwright::plan::TrainingConfig config = resolve(plan.draft);
  EXPECT_EQ(config.world, 512);  // 2 x 32 x 8
  EXPECT_EQ(config.plan.tp, 8);
  EXPECT_EQ(plan.where("parallelism.tp_size").line, 4);
}

TEST(TorchtitanImport, Bfloat16Weights_HaveBfloat16Gradients) {
  const PlanFile plan = read(
      "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 1\n"
      "seq_len = 8192\ndtype = \"bfloat16\"\n[optimizer]\nearly_step_in_backward = true\n" +
      kKept);
  EXPECT_EQ(plan.draft.param_dtype, plan::Dtype::bf16);
  EXPECT_EQ(plan.draft.grad_dtype, plan::Dtype::bf16);
  EXPECT_EQ(std::count_if(plan.findings.begin(), plan.findings.end(),
                          [](const Diagnostic& found) { return found.code == "RW0601"; }),
            2);
  EXPECT_FALSE(has_errors(plan.findings));
}

TEST(Torchtitan, SettingsUnderPrimus_AreRead) {
  const PlanFile plan = read_any_plan(
      "modules:\n  pre_trainer:\n    framework: torchtitan\n    model: qwen3_8b.yaml\n"
      "    overrides:\n      training: {local_batch_size: 4, seq_len: 4096}\n"
      "      parallelism: {tensor_parallel_degree: 2}\n",
      "run.yaml", refuse_file);
  EXPECT_EQ(plan.format->name, "torchtitan-0.2");
  EXPECT_EQ(plan.draft.tp, 2);
  EXPECT_EQ(plan.draft.micro_batch, 4);
  EXPECT_EQ(plan.draft.sequence, 4096);
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "qwen3-8b");
}

TEST(Torchtitan, DataRanksOf2024_AreRead) {
  const std::string text = "[training]\nseq_len = 2048\ndata_parallel_degree = ";
  EXPECT_EQ(read_any_plan(text + "4\n", "a.toml", refuse_file).draft.dp, 4);
  const PlanFile plan = read_any_plan(text + "-1\n" + kKept, "a.toml", refuse_file);
  EXPECT_EQ(plan.draft.dp, std::nullopt);
  EXPECT_TRUE(plan.findings.empty());
}

TEST(Torchtitan, SettingsOf2024_AreRead) {
  const PlanFile plan = read(
      "[model]\nname = \"llama2\"\nflavor = \"7B\"\n[training]\nseq_len = 2048\n"
      "enable_float8_linear = true\n" +
      kKept);
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "llama-2-7b");
  EXPECT_EQ(plan.draft.matmul, plan::Matmul::fp8);
  EXPECT_TRUE(plan.findings.empty());
}

TEST(Torchtitan, NameOfAHubsModel_IsRead) {
  const PlanFile plan =
      read("[model]\nname = \"meta-llama/Llama-3.1-8B\"\n[training]\nseq_len = 2048\n");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "llama-3.1-8b");
}

TEST(Torchtitan, SwitchOfTheFloat8Table_IsRead) {
  const PlanFile plan =
      read("[training]\nseq_len = 2048\n[float8]\nenable_float8_linear = true\n" + kKept);
  EXPECT_EQ(plan.draft.matmul, plan::Matmul::fp8);
  EXPECT_TRUE(plan.findings.empty());
}

TEST(Torchtitan, DualPipeV_OverlapsDispatchesUnlessTurnedOff) {
  const std::string degrees =
      "[training]\nseq_len = 2048\nlocal_batch_size = 8\n[parallelism]\n"
      "pipeline_parallel_degree = 2\nexpert_parallel_degree = 4\n";
  const std::string dual = degrees + "pipeline_parallel_schedule = \"DualPipeV\"\n";
  EXPECT_EQ(read(dual).draft.overlap_ep, true);
  EXPECT_EQ(read(dual + "pipeline_parallel_expert_parallel_overlap = false\n").draft.overlap_ep,
            false);
  EXPECT_EQ(read(degrees + "pipeline_parallel_schedule = \"1F1B\"\n").draft.overlap_ep, false);
}

TEST(Torchtitan, DiffusionModels_AreRefused) {
  const PlanFile plan =
      read("[model]\nname = \"flux\"\nflavor = \"flux-dev\"\n[training]\nlocal_batch_size = 4\n" +
           kKept);
  ASSERT_TRUE(has_errors(plan.findings));
  EXPECT_EQ(plan.findings[0].code, "RW0603");
}

TEST(Torchtitan, LossAlone_IsNotACompiledModel) {
  const std::string text = "[training]\nseq_len = 2048\n[compile]\nenable = true\ncomponents = ";
  EXPECT_EQ(read(text + "[\"loss\"]\n").draft.compile, false);
  EXPECT_EQ(read(text + "[\"model\", \"loss\"]\n").draft.compile, true);
}

TEST(TorchtitanImport, ReadsTheFirstFloat8Switch_AndTheDispatcher) {
  const std::string training = "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\n";
  EXPECT_EQ(read(training + "fp8_linear = \"dynamic\"\n").draft.matmul, plan::Matmul::fp8);
  EXPECT_EQ(read(training + "fp8_linear = \"\"\n").draft.matmul, std::nullopt);
  const PlanFile plan =
      read(training + "[parallelism]\nexpert_parallel_comm_backend = \"deepep\"\n");
  EXPECT_EQ(plan.draft.dispatcher, plan::Dispatcher::deepep);
}

// Experiments name a model of a hub, beside the flavor or in its place.
TEST(Torchtitan, ModelOfAHub_IsRead) {
  const auto model = [](const std::string& text) {
    const PlanFile plan = read("[training]\nseq_len = 1024\n" + text);
    return plan.draft.model ? plan.draft.model->name : "";
  };
  const std::string backend = "[model]\nname = \"transformers_modeling_backend\"\nflavor = ";
  const std::string hub = "[hf_transformers]\nmodel = \"Qwen/Qwen3-8B\"\n";
  EXPECT_EQ(model(backend + "\"full\"\n" + hub), "qwen3-8b");
  EXPECT_EQ(model(backend + "\"debugmodel\"\n" + hub), "");
  EXPECT_EQ(model("[model]\nname = \"deepseek\"\nflavor = \"deepseek-ai/DeepSeek-V2-Lite\"\n"),
            "deepseek-v2-lite");
}

// Two thirds of 4 x 768 are 2,048; times 1.3, in multiples of 1,024: 3,072. Embedding and head of
// 128,256 rows, and 8 layers of 2 x 768 x (768 + 384) + 3 x 768 x 3,072: 268 M.
TEST(Torchtitan, FlavorOfTheRepository_IsRead) {
  const FileReader files = [](const std::string& name) -> Result<std::string> {
    if (!name.ends_with("models/llama3/__init__.py")) return refuse_file(name);
    return "llama3_configs = {\n    \"small\": TransformerModelArgs(dim=256, n_layers=6),\n"
           "    \"1B\": TransformerModelArgs(\n        dim=768,\n        n_layers=8,\n"
           "        n_heads=16,\n        n_kv_heads=8,\n        ffn_dim_multiplier=1.3,  # wide\n"
           "        multiple_of=1024,\n    ),\n}\n";
  };
  const PlanFile plan = read(
      "[model]\nname = \"llama3\"\nflavor = \"1B\"\n[training]\nlocal_batch_size = 1\n", files);
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layer(0).ffn.width, 3072);
  EXPECT_EQ(plan.draft.model->layers(), 8);
  EXPECT_EQ(plan.draft.model->vocab, 128256);
  const FileReader experts = [&](const std::string& name) -> Result<std::string> {
    const Result<std::string> text = files(name);
    return text ? Result<std::string>(std::string(*text).replace(text->find("multiple_of"), 0,
                                                                 "moe_args=MoEArgs(), "))
                : text;
  };
  EXPECT_FALSE(
      read("[model]\nname = \"llama3\"\nflavor = \"1B\"\n[training]\nlocal_batch_size = 1\n",
           experts)
          .draft.model.has_value());
}

// torch.distributed.pipelining finds schedules by their names in any case.
TEST(Torchtitan, ScheduleInLowerCase_IsTheSame) {
  const auto schedule = [](const std::string& name) {
    return read(
               "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 8\n"
               "[parallelism]\npipeline_parallel_degree = 4\npipeline_parallel_schedule = \"" +
               name + "\"\n")
        .draft.schedule;
  };
  EXPECT_EQ(schedule("gpipe"), pipeline::Schedule::gpipe);
  EXPECT_EQ(schedule("1f1b"), pipeline::Schedule::one_f_one_b);
  EXPECT_EQ(schedule("interleaved1f1b"), schedule("Interleaved1F1B"));
}

// Since converters turn float8 on, the old switch does nothing.
TEST(Torchtitan, OldSwitchOfFloat8_HasNoEffectToday) {
  const std::string text =
      "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[float8]\nenable_float8_linear = true\n";
  EXPECT_EQ(read(text + "[training]\nlocal_batch_size = 2\n").draft.matmul, std::nullopt);
  EXPECT_EQ(read(text + "[training]\nbatch_size = 2\n").draft.matmul, plan::Matmul::fp8);
}

// Since 2026, configs are functions of Python, which a command names by module and function.
TEST(TorchtitanScript, ConfigByModuleAndName_IsRead) {
  const std::string flags =
      "--training.local_batch_size 4 --training.seq_len 1024 "
      "--parallelism.tensor_parallel_degree 2\n";
  const PlanFile named = read_any_plan(
      "torchrun --nproc_per_node=8 -m torchtitan.train --module llama3 --config llama3_8b " + flags,
      "run.sh", refuse_file);
  EXPECT_FALSE(has_errors(named.findings));
  EXPECT_EQ(named.draft.micro_batch, 4);
  EXPECT_EQ(named.draft.tp, 2);
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    if (!path.ends_with("torchtitan/models/mine/config_registry.py")) return refuse_file(path);
    return "from torchtitan.trainer import Trainer\n"
           "def mine_1b() -> Trainer.Config:\n"
           "    return Trainer.Config(\n        training=TrainingConfig(local_batch_size=3, "
           "seq_len=512),\n        parallelism=ParallelismConfig(tensor_parallel_degree=4),\n    "
           ")\n";
  };
  const PlanFile registered =
      read_any_plan("env NGPU=8 MODULE=mine CONFIG=mine_1b ./run_train.sh\n", "run.sh", files);
  EXPECT_EQ(registered.draft.micro_batch, 3);
  EXPECT_EQ(registered.draft.sequence, 512);
  EXPECT_EQ(registered.draft.tp, 4);
}

TEST(Torchtitan, DebugModel_IsSmall) {
  const PlanFile plan = read(
      "[model]\nname = \"llama3\"\nflavor = \"debugmodel\"\n[training]\nlocal_batch_size = 2\n");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->hidden, 256);
  EXPECT_EQ(plan.draft.model->layers(), 6);
}

}  // namespace torchtitan_test
}  // namespace rankwright::importer
