#include "rankwright/import/framework/recipes.h"

#include <gmock/gmock.h>

#include "rankwright/cost/estimate.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/model/parameters.h"

namespace rankwright::importer {
namespace recipes_test {

using ::testing::Contains;
using ::testing::Field;
using ::testing::Optional;

PlanFile read(std::string text, std::string name, const FileReader& files = refuse_file) {
  return read_any_plan(std::move(text), std::move(name), files);
}

TEST(Verl, ReadsOverridesOfAScript_WithFsdp) {
  const PlanFile plan = read(
      "n=4\npython3 main_ppo.py data.max_prompt_length=$((512 * 2)) \\\n"
      "  data.max_response_length=3072 actor_rollout_ref.model.path=$HOME/models/Qwen3-8B \\\n"
      "  actor_rollout_ref.actor.ppo_mini_batch_size=64 actor_rollout_ref.rollout.n=$n \\\n"
      "  actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 \\\n"
      "  actor_rollout_ref.actor.ulysses_sequence_parallel_size=2 \\\n"
      "  +actor_rollout_ref.actor.fsdp_config.fsdp_size=-1 \\\n"
      "  actor_rollout_ref.rollout.tensor_model_parallel_size=4 \\\n"
      "  trainer.nnodes=2 trainer.n_gpus_per_node=8 \"$@\"\n",
      "run.sh");
  EXPECT_EQ(plan.format->name, "verl");
  EXPECT_FALSE(has_errors(plan.findings));
  const plan::TrainingConfig config = resolve(plan.draft);
  EXPECT_EQ(config.model.name, "qwen3-8b");
  EXPECT_EQ(config.world, 16);
  EXPECT_EQ(config.plan.tp, 1);  // the 4 are the rollout's
  EXPECT_EQ(config.plan.cp, 2);
  EXPECT_EQ(config.plan.zero, 3);
  EXPECT_EQ(config.job.global_batch, 256);  // 64 prompts x 4 responses
  EXPECT_EQ(config.job.sequence, 4096);
  EXPECT_EQ(config.plan.micro_batch, 2);
}

// A batch that is smaller than its mini-batches is one update.
TEST(NemoRl, ScriptThatOverridesAConfig_IsRead) {
  const FileReader files = [](const std::string& name) -> Result<std::string> {
    if (!name.ends_with("examples/configs/a.yaml")) return refuse_file(name);
    return "policy:\n  model_name: Qwen/Qwen2.5-1.5B\n  train_global_batch_size: 512\n"
           "  train_micro_batch_size: 4\n  max_total_sequence_length: 512\n"
           "  dtensor_cfg: {enabled: true}\ncluster: {gpus_per_node: 1, num_nodes: 1}\n";
  };
  const PlanFile plan = read_any_plan(
      "CMD=(uv run python examples/run_grpo.py --config examples/configs/a.yaml \\\n"
      "  policy.train_global_batch_size=32 cluster.gpus_per_node=8)\n\"${CMD[@]}\"\n",
      "tools/run.sh", files);
  ASSERT_NE(plan.format, nullptr);
  EXPECT_EQ(plan.format->name, "nemo-rl");
  EXPECT_EQ(plan.draft.model->name, "qwen2.5-1.5b");
  EXPECT_THAT(plan.draft.global_batch, Optional(32));
  EXPECT_THAT(plan.draft.micro_batch, Optional(4));
  EXPECT_EQ(plan.draft.shape->gpus, 8);
}

TEST(Verl, MiniBatchLargerThanTheBatch_IsOneUpdate) {
  const std::string text =
      "python3 main_ppo.py actor_rollout_ref.model.path=Qwen/Qwen3-8B data.train_batch_size=16 "
      "actor_rollout_ref.rollout.n=4 trainer.nnodes=1 trainer.n_gpus_per_node=8 "
      "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 "
      "actor_rollout_ref.actor.ppo_mini_batch_size=";
  const PlanFile larger = read(text + "128\n", "run.sh");
  EXPECT_THAT(larger.draft.global_batch, Optional(64));  // 16 prompts x 4
  EXPECT_THAT(larger.findings, Contains(Field(&Diagnostic::code, "RW0615")));
  EXPECT_THAT(read(text + "8\n", "run.sh").draft.global_batch, Optional(32));
  // Sequences of an environment are its steps, and a trainer without batches has one of 0.
  EXPECT_THAT(read(text + "128 env.rollout.n=8\n", "run.sh").draft.global_batch, Optional(512));
  const PlanFile none = read(text + "128 data.train_batch_size=0\n", "run.sh");
  EXPECT_FALSE(has_errors(none.findings));
  EXPECT_THAT(none.draft.global_batch, Optional(512));
}

TEST(Verl, ReadsTheDegreesOfMegatron_AndPackedMicroBatches) {
  const PlanFile plan = read(
      "python3 -m verl.trainer.main_ppo --config-name='ppo_megatron_trainer.yaml' \\\n"
      "  data.max_prompt_length=1024 data.max_response_length=1024 \\\n"
      "  actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2 \\\n"
      "  actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=2 \\\n"
      "  actor_rollout_ref.actor.megatron.expert_model_parallel_size=4 \\\n"
      "  actor_rollout_ref.actor.use_dynamic_bsz=True \\\n"
      "  actor_rollout_ref.actor.ppo_max_token_len_per_gpu=8192 \\\n"
      "  actor_rollout_ref.actor.ppo_mini_batch_size=30 actor_rollout_ref.rollout.n=1 \\\n"
      "  trainer.nnodes=1 trainer.n_gpus_per_node=8\n",
      "run.sh");
  EXPECT_THAT(plan.draft.tp, Optional(2));
  EXPECT_THAT(plan.draft.pp, Optional(2));
  EXPECT_THAT(plan.draft.ep, Optional(4));
  EXPECT_THAT(plan.draft.zero, Optional(1));
  EXPECT_THAT(plan.draft.sequence_parallel, Optional(true));
  EXPECT_THAT(plan.draft.micro_batch, Optional(3));  // at most 4 of 15 per data rank
  EXPECT_THAT(plan.open, Contains(Field(&OpenValue::key, "parallelism.micro_batch")));
}

// The reference model stays on the GPUs unless it is moved to the host; the entropy needs all
// logits in fp32.
TEST(Verl, ReadsTheReferenceModelAndTheLoss) {
  const std::string text =
      "python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.ppo_mini_batch_size=64 "
      "actor_rollout_ref.actor.use_kl_loss=True trainer.nnodes=1";
  const PlanFile plan = read(text + "\n", "run.sh");
  EXPECT_THAT(plan.draft.method, Optional(plan::Method::grpo));
  EXPECT_THAT(plan.draft.ref_model, Optional(true));
  EXPECT_THAT(plan.draft.loss, Optional(plan::Loss::fused));
  const PlanFile other = read(text +
                                  " actor_rollout_ref.ref.fsdp_config.param_offload=True "
                                  "actor_rollout_ref.actor.entropy_coeff=0.001\n",
                              "run.sh");
  EXPECT_THAT(other.draft.ref_model, Optional(false));
  EXPECT_THAT(other.draft.loss, Optional(plan::Loss::log_probs));
}

TEST(Verl, ReadsTheRankOfAdapters) {
  const PlanFile plan = read(
      "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.lora_rank=32 "
      "actor_rollout_ref.actor.ppo_mini_batch_size=64 trainer.nnodes=1\n",
      "run.sh");
  EXPECT_THAT(plan.draft.lora_rank, Optional(32));
}

// Settings that a script only prints are not a run.
TEST(Verl, IgnoresSettingsThatAreOnlyPrinted) {
  const PlanFile plan = read(
      "echo starts: name=a run=b log=c\n"
      "python3 -m verl.trainer.main_ppo trainer.nnodes=1 actor_rollout_ref.model.lora_rank=32 "
      "actor_rollout_ref.actor.ppo_mini_batch_size=64\n",
      "run.sh");
  EXPECT_THAT(plan.draft.lora_rank, Optional(32));
}

TEST(OpenRlhf, ReadsACommandInAHereDocument) {
  const PlanFile plan = read(
      "read -r -d '' training_commands <<EOF\nopenrlhf.cli.train_sft \\\n   --max_len 2048 \\\n"
      "   --train_batch_size 256 \\\n   --micro_train_batch_size 2 \\\n"
      "   --pretrain meta-llama/Meta-Llama-3-8B \\\n   --zero_stage 3 \\\n   --bf16 \\\n"
      "   --ring_attn_size 2 \\\n   --gradient_checkpointing\nEOF\n"
      "deepspeed --module $training_commands\n",
      "sft.sh");
  EXPECT_EQ(plan.format->name, "openrlhf");
  EXPECT_FALSE(has_errors(plan.findings));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "llama-3-8b");
  EXPECT_THAT(plan.draft.zero, Optional(3));
  EXPECT_THAT(plan.draft.cp, Optional(2));
  EXPECT_THAT(plan.draft.global_batch, Optional(256));
  EXPECT_THAT(plan.draft.micro_batch, Optional(2));
  EXPECT_THAT(plan.draft.recompute, Optional(plan::Recompute::full));
}

TEST(OpenRlhf, ReadsDottedFlags_AndTheActorsRanks) {
  const PlanFile plan = read(
      "python3 -m openrlhf.cli.train_ppo_ray --actor.num_nodes 2 --actor.num_gpus_per_node 8 "
      "--vllm.tensor_parallel_size 2 --train.batch_size 128 --train.micro_batch_size 4 "
      "--ds.zero_stage 2 --ds.param_dtype bf16 --actor.model_name_or_path Qwen/Qwen3-4B "
      "--data.max_len 4096\n",
      "ppo.sh");
  EXPECT_EQ(resolve(plan.draft).world, 16);
  EXPECT_THAT(plan.draft.zero, Optional(2));
  EXPECT_FALSE(plan.draft.tp.has_value());
  EXPECT_THAT(plan.draft.sequence, Optional(4096));
}

const std::string kNemoBase =
    "grpo: {num_prompts_per_step: 32}\npolicy:\n  model_name: Qwen/Qwen3-8B\n"
    "  train_global_batch_size: 512\n  train_micro_batch_size: 4\n"
    "  max_total_sequence_length: 2048\n  precision: bfloat16\n"
    "  dtensor_cfg: {enabled: true, tensor_parallel_size: 2, activation_checkpointing: True}\n"
    "  megatron_cfg: {enabled: false, tensor_model_parallel_size: 8}\n"
    "cluster: {gpus_per_node: 8, num_nodes: 1}\n";

TEST(NemoRl, ReadsTheEngineThatIsEnabled) {
  const PlanFile plan = read(kNemoBase, "grpo.yaml");
  EXPECT_EQ(plan.format->name, "nemo-rl");
  EXPECT_THAT(plan.draft.tp, Optional(2));
  EXPECT_THAT(plan.draft.zero, Optional(3));
  EXPECT_THAT(plan.draft.recompute, Optional(plan::Recompute::full));
  EXPECT_EQ(resolve(plan.draft).job.global_batch, 512);
}

// A public report (NVIDIA-NeMo/RL issue 903): supervised fine-tuning of Qwen 1.5B with sequences of
// 32k runs out of memory with cp 2 on 64 nodes, and not with cp 4. A rank has 16,384 tokens x
// 151,936 logits = 2.49e9, which Megatron-LM's loss keeps in 4 bytes (9.3 GiB) and NeMo-RL's in 16
// (37 GiB).
TEST(NemoRl, LossReadsLogProbabilities) {
  const auto read_cp = [](const std::string& cp) {
    return read(
        "sft: {max_num_epochs: 1}\npolicy:\n  model_name: Qwen/Qwen2.5-1.5B\n"
        "  train_global_batch_size: 1024\n  train_micro_batch_size: 1\n"
        "  max_total_sequence_length: 32768\n  precision: bfloat16\n"
        "  megatron_cfg: {enabled: true, tensor_model_parallel_size: 1, context_parallel_size: " +
            cp + "}\ncluster: {gpus_per_node: 8, num_nodes: 64}\n",
        "sft.yaml");
  };
  const PlanFile plan = read_cp("2");
  EXPECT_THAT(plan.draft.loss, Optional(plan::Loss::log_probs));
  EXPECT_THAT(plan.draft.method, Optional(plan::Method::lm));
  // With Megatron-LM's loss it would be 52 of 79 GiB, which fits with margin.
  const auto judge = [](const PlanFile& file, plan::Loss loss) {
    plan::TrainingConfig config = resolve(file.draft);
    config.software.loss = loss;
    return judge_memory(cost::fullest(config, select_calibration(config)), config);
  };
  EXPECT_EQ(judge(plan, plan::Loss::fused), cost::MemoryVerdict::fits_with_margin);
  EXPECT_EQ(judge(plan, plan::Loss::log_probs), cost::MemoryVerdict::tight);
  EXPECT_EQ(judge(read_cp("4"), plan::Loss::log_probs), cost::MemoryVerdict::fits_with_margin);
  const PlanFile fused = read_cp("2, use_linear_ce_fusion_loss: true");
  EXPECT_THAT(fused.draft.loss, Optional(plan::Loss::fused_linear));
}

// Batches of DPO count pairs, of two sequences each.
TEST(NemoRl, PairsOfDpo) {
  std::string text = kNemoBase;
  text.replace(0, text.find('\n'), "dpo: {reference_policy_kl_penalty: 0.05}");
  const PlanFile plan = read(text, "dpo.yaml");
  EXPECT_THAT(plan.draft.method, Optional(plan::Method::dpo));
  EXPECT_THAT(plan.draft.micro_batch, Optional(8));
  EXPECT_THAT(plan.draft.global_batch, Optional(1024));
  EXPECT_THAT(plan.draft.ref_model, Optional(false));
  EXPECT_THAT(read(kNemoBase, "grpo.yaml").draft.method, Optional(plan::Method::grpo));
}

TEST(NemoRl, InheritsDefaults) {
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    if (path != "conf/base.yaml") return refuse_file(path);
    return kNemoBase;
  };
  const PlanFile plan = read(
      "defaults: ./base.yaml\npolicy:\n  dtensor_cfg: {enabled: false}\n"
      "  megatron_cfg: {enabled: true}\ncluster: {num_nodes: 4}\n",
      "conf/big.yaml", [&](const std::string& path) {
        return files(path == "conf/./base.yaml" ? "conf/base.yaml" : path);
      });
  EXPECT_THAT(plan.draft.tp, Optional(8));
  EXPECT_THAT(plan.draft.zero, Optional(1));
  EXPECT_EQ(resolve(plan.draft).world, 32);
  const PlanFile alone =
      read("defaults: ./base.yaml\ncluster: {num_nodes: 4}\ngrpo: {n: 1}\n", "conf/big.yaml");
  EXPECT_THAT(alone.findings, Contains(Field(&Diagnostic::code, "RW0615")));
}

TEST(NemoRl, ReadsAdapters) {
  EXPECT_EQ(read(kNemoBase, "grpo.yaml").draft.lora_rank, std::nullopt);
  std::string text = kNemoBase;
  const std::string mark = "activation_checkpointing: True";
  text.replace(text.find(mark), mark.size(),
               mark +
                   ", lora_cfg: {enabled: true, dim: 32, match_all_linear: false, "
                   "target_modules: [q_proj, v_proj]}");
  const PlanFile plan = read(text, "grpo.yaml");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.lora_rank, Optional(32));
  EXPECT_THAT(plan.draft.lora_modules,
              Optional(plan::LoraModules{true, false, true, false, false, false, false}));
}

TEST(Automodel, ReadsDegreesAndAdapters) {
  const std::string text =
      "step_scheduler: {global_batch_size: 64, local_batch_size: 2}\nmodel:\n"
      "  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained\n"
      "  pretrained_model_name_or_path: meta-llama/Llama-3.1-8B\ndistributed:\n"
      "  strategy: fsdp2\n  dp_size: none\n  tp_size: 2\n  cp_size: 1\ndataset: {seq_length: "
      "4096}\n";
  const PlanFile plan = read(text, "recipe.yaml");
  EXPECT_EQ(plan.format->name, "automodel");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.tp, Optional(2));
  EXPECT_FALSE(plan.draft.dp.has_value());
  EXPECT_THAT(plan.draft.zero, Optional(3));
  EXPECT_THAT(plan.draft.global_batch, Optional(64));
  EXPECT_THAT(read(text + "peft: {dim: 8}\n", "recipe.yaml").draft.lora_rank, Optional(8));
}

TEST(GptNeox, ReadsShapes_WithDashesOrUnderscores) {
  const PlanFile plan = read(
      "{\n  \"pipe-parallel-size\": 2, \"model_parallel_size\": 4,\n  \"num-layers\": 36, "
      "\"hidden-size\": 5120, \"num-attention-heads\": 40, \"seq-length\": 2048,\n"
      "  \"pos-emb\": \"rotary\", \"no-weight-tying\": true, \"train_micro_batch_size_per_gpu\": "
      "8, "
      "\"gradient_accumulation_steps\": 2,\n  \"zero_optimization\": {\"stage\": 1},\n"
      "  \"fp16\": {\"enabled\": true}, \"checkpoint-activations\": true,\n}\n",
      "12B.yml");
  EXPECT_EQ(plan.format->name, "gpt-neox");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.pp, Optional(2));
  EXPECT_THAT(plan.draft.tp, Optional(4));
  EXPECT_THAT(plan.draft.zero, Optional(1));
  EXPECT_THAT(plan.draft.param_dtype, Optional(plan::Dtype::fp16));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_NEAR(double(count_parameters(*plan.draft.model).total()), 11.85e9, 0.02e9);  // Pythia 12B
}

TEST(LlmFoundry, ResolvesReferences_AndReadsTheShards) {
  const PlanFile plan = read(
      "variables: {max_seq_len: 2048}\nmax_seq_len: ${variables.max_seq_len}\nmodel:\n"
      "  name: mpt_causal_lm\n  d_model: 4096\n  n_heads: 32\n  n_layers: 32\n"
      "  expansion_ratio: 4\n  vocab_size: 50368\nglobal_train_batch_size: 1024\n"
      "device_train_microbatch_size: 8\nprecision: amp_bf16\nmax_duration: 100ba\nfsdp_config:\n"
      "  sharding_strategy: SHARD_GRAD_OP\n  mixed_precision: PURE\n"
      "  activation_checkpointing: true\n",
      "mpt.yaml");
  EXPECT_EQ(plan.format->name, "llm-foundry");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.sequence, Optional(2048));
  EXPECT_THAT(plan.draft.zero, Optional(2));
  EXPECT_THAT(plan.draft.grad_dtype, Optional(plan::Dtype::bf16));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_NEAR(double(count_parameters(*plan.draft.model).total()), 6.65e9, 0.02e9);  // MPT 7B
}

// Configs of OLMo have some keys of the same names, and shapes and shards of other ones.
TEST(LlmFoundry, LeavesConfigsOfOlmo) {
  const PlanFile plan = read(
      "model: {d_model: 2048, n_heads: 16, n_layers: 16, mlp_hidden_size: 16384}\n"
      "global_train_batch_size: 512\ndevice_train_microbatch_size: 4\nmax_duration: 1ep\n"
      "fsdp: {sharding_strategy: FULL_SHARD, precision: mixed}\n",
      "olmo.yaml");
  EXPECT_TRUE(has_errors(plan.findings));
}

TEST(LlmFoundry, ReadsAdapters) {
  const std::string text =
      "max_seq_len: 2048\nglobal_train_batch_size: 64\nmax_duration: 1ep\nmodel:\n"
      "  pretrained_model_name_or_path: meta-llama/Llama-3.1-8B\n";
  const PlanFile plan =
      read(text + "  peft_config: {r: 64, peft_type: LORA, target_modules: [Wqkv]}\n", "ft.yaml");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.lora_rank, Optional(64));
  EXPECT_THAT(plan.draft.lora_modules,
              Optional(plan::LoraModules{true, true, true, false, false, false, false}));
  EXPECT_TRUE(has_errors(read(text + "  peft_config: {peft_type: IA3}\n", "ft.yaml").findings));
}

TEST(MaxText, CountsTheBatchPerDevice) {
  const PlanFile plan = read(
      "base_config: base.yml\nmodel_name: llama3.1-8b\nper_device_batch_size: 2\n"
      "max_target_length: 8192\nici_tensor_parallelism: 4\nici_fsdp_parallelism: 2\n"
      "dcn_data_parallelism: 2\nremat_policy: minimal\n",
      "run.yml");
  EXPECT_EQ(plan.format->name, "maxtext");
  const plan::TrainingConfig config = resolve(plan.draft);
  EXPECT_EQ(config.world, 16);
  EXPECT_EQ(config.job.global_batch, 32);  // 2 per device
  EXPECT_EQ(config.plan.tp, 4);
  EXPECT_EQ(config.model.name, "llama-3.1-8b");
}

const std::string kPython =
    "from torchtitan.config import TrainingConfig  # def no_function()\n\n"
    "def llama3_debugmodel():\n    \"\"\"Trainer.Config(\n    \"\"\"\n"
    "    return Trainer.Config(training=TrainingConfig(seq_len=64))\n\n"
    "def llama3_8b() -> Trainer.Config:\n    spec = model_registry(\"8B\", attn_backend=\"flex\")\n"
    "    return Trainer.Config(\n        model_spec=spec,\n        training=TrainingConfig(\n"
    "            num_tokens_per_microbatch_per_dp_rank=2 * 8192,\n"
    "            max_context_length=8192,  # a comment, with a comma\n        ),\n"
    "        parallelism=ParallelismConfig(tensor_parallel_degree=2),\n"
    "        activation_checkpoint=FullAC.Config(),\n    )\n\n"
    "def llama3_8b_float8():\n    config = llama3_8b()\n"
    "    config.parallelism.pipeline_parallel_degree = 4\n    return config\n";

TEST(TorchtitanPython, ReadsTheFirstConfig_WithoutRunningIt) {
  const PlanFile plan = read(kPython, "models/llama3/config_registry.py");
  EXPECT_EQ(plan.format->name, "torchtitan-python");
  EXPECT_FALSE(has_errors(plan.findings));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "llama-3.1-8b");
  EXPECT_THAT(plan.draft.tp, Optional(2));
  EXPECT_THAT(plan.draft.micro_batch, Optional(2));
  EXPECT_THAT(plan.draft.sequence, Optional(8192));
  EXPECT_THAT(plan.draft.recompute, Optional(plan::Recompute::full));
}

TEST(TorchtitanPython, VariableSelectsAFunction_WhichMayChangeAnother) {
  ShellInput input;
  input.variables["config"] = "llama3_8b_float8";
  const PlanFile plan = read_any_plan(kPython, "config_registry.py", refuse_file, input);
  EXPECT_THAT(plan.draft.pp, Optional(4));
  EXPECT_THAT(plan.draft.tp, Optional(2));
  EXPECT_FALSE(has_errors(plan.findings));
}

TEST(TorchtitanPython, EmptyArgument_IsReportedAtItsPlace) {
  const PlanFile plan = read(
      "from torchtitan.config import TrainingConfig\n\ndef llama3_debugmodel():\n"
      "    return Trainer.Config(training=TrainingConfig(seq_len=))\n",
      "models/llama3/config_registry.py");
  for (const Diagnostic& one : plan.findings) {
    EXPECT_GE(one.where.column, 0);
    EXPECT_LE(one.where.column, 64);
  }
}

TEST(TorchtitanPython, RecursiveFunctions_End) {
  const PlanFile plan = read(
      "# torchtitan\ndef a():\n    x = a()\n    return a()\n\ndef b():\n"
      "    return C(training=TrainingConfig(seq_len=a()))\n",
      "c.py");
  EXPECT_EQ(plan.format->name, "torchtitan-python");
}

TEST(Automodel, ReadsTheStagesOfARank) {
  const std::string text =
      "step_scheduler: {global_batch_size: 64, local_batch_size: 2}\nmodel:\n"
      "  _target_: nemo_automodel.from_pretrained\n"
      "  pretrained_model_name_or_path: meta-llama/Llama-3.1-8B\ndistributed:\n"
      "  pp_size: 4\n  enable_compile: true\n  pipeline: {pp_schedule: interleaved1f1b, "
      "layers_per_stage: ";
  const PlanFile plan = read(text + "2}\n", "recipe.yaml");
  EXPECT_THAT(plan.draft.virtual_stages, Optional(4));  // 32 layers / 2 / 4 ranks
  EXPECT_THAT(plan.draft.compile, Optional(true));
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(read(text + "7}\n", "recipe.yaml").findings,
              Contains(Field(&Diagnostic::code, "RW0601")));
}

TEST(LlmFoundry, ReadsTheOptimizer) {
  const std::string text =
      "max_seq_len: 2048\nglobal_train_batch_size: 64\nmax_duration: 1ep\noptimizer: {name: ";
  EXPECT_THAT(read(text + "decoupled_lionw}\n", "a.yaml").draft.optimizer,
              Optional(plan::Optimizer::lion));
  EXPECT_THAT(read(text + "decoupled_adamw}\n", "a.yaml").draft.optimizer,
              Optional(plan::Optimizer::adam));
}

TEST(MaxText, OneActivation_IsNotGated) {
  const std::string shapes =
      "base_emb_dim: 12288\nbase_num_query_heads: 96\nbase_num_kv_heads: 96\n"
      "base_mlp_dim: 49152\nbase_num_decoder_layers: 96\nhead_dim: 128\nvocab_size: 50304\n"
      "logits_via_embedding: True\nmlp_activations: ";
  const PlanFile plan = read(shapes + "[\"gelu\"]\n", "gpt3-175b.yml");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_NEAR(double(count_parameters(*plan.draft.model).total()), 174.6e9, 1e9);
  const PlanFile gated = read(shapes + "[\"silu\", \"linear\"]\n", "gated.yml");
  EXPECT_NEAR(double(count_parameters(*gated.draft.model).total()), 232.6e9, 1e9);
}

TEST(Verl, RepeatsOfAnAgent_AreResponses) {
  const PlanFile plan = read(
      "python3 -m agent.main actor_rollout_ref.actor.ppo_mini_batch_size=64 "
      "actor_rollout_ref.rollout.n_repeat=5 trainer.nnodes=1\n",
      "run.sh");
  EXPECT_THAT(plan.draft.global_batch, Optional(320));
}

TEST(GptNeox, WidthOfGatedLayers_CountsThreeMatrices) {
  const PlanFile plan = read(
      "{\"pipe_parallel_size\": 1, \"model_parallel_size\": 1, \"num_layers\": 80, "
      "\"hidden_size\": 8192,\n \"intermediate_size\": 86016, \"num_attention_heads\": 64, "
      "\"num_kv_heads\": 8, \"pos_emb\": \"rotary\",\n \"no_weight_tying\": true, \"norm\": "
      "\"rmsnorm\", \"activation\": \"swiglu\", \"mlp_multiple_of\": 256,\n \"optimizer\": "
      "{\"type\": \"adam8bit\"}}\n",
      "70B.yml");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_NEAR(double(count_parameters(*plan.draft.model).total()), 69.3e9, 0.5e9);
  EXPECT_THAT(plan.draft.optimizer, Optional(plan::Optimizer::adam_8bit));
}

TEST(NemoRl, ProductsOfRelativeReferences_AreRead) {
  const PlanFile plan = read(
      kNemoBase.substr(0, kNemoBase.find("cluster:")) +
          "  sequence_packing: {enabled: true, train_mb_tokens: \"${mul:${..max_total_sequence_"
          "length}, ${..train_micro_batch_size}}\"}\n"
          "cluster: {gpus_per_node: 8, num_nodes: 1}\n",
      "grpo.yaml");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.micro_batch, Optional(4));  // 8,192 tokens
}

TEST(OpenRlhf, ScriptWithoutItsName_IsRecognized) {
  const PlanFile plan = read(
      "deepspeed train_sft.py --pretrain Qwen/Qwen3-4B --train_batch_size 64 "
      "--micro_train_batch_size 2 --zero_stage 3 --bf16\n",
      "run.sh");
  EXPECT_EQ(plan.format->name, "openrlhf");
  EXPECT_THAT(plan.draft.zero, Optional(3));
}

TEST(NemoRl, ReadsTheOptimizerAndTheMethod) {
  const std::string text =
      "policy:\n  model_name: Qwen/Qwen3-8B\n  train_global_batch_size: 64\n"
      "  train_micro_batch_size: 1\n  max_total_sequence_length: 2048\n"
      "  dtensor_cfg: {enabled: false}\n"
      "  dtensor_v2_cfg: {enabled: true, expert_parallel_size: 4}\n"
      "  optimizer: {name: torchao.optim.AdamW8bit}\n";
  const PlanFile dpo = read("dpo: {max_num_epochs: 1}\n" + text, "dpo.yaml");
  EXPECT_EQ(dpo.format->name, "nemo-rl");
  EXPECT_THAT(dpo.draft.optimizer, Optional(plan::Optimizer::adam_8bit));
  EXPECT_THAT(dpo.draft.ep, Optional(4));
  EXPECT_THAT(dpo.draft.method, Optional(plan::Method::dpo));
  EXPECT_THAT(dpo.draft.micro_batch, Optional(2));  // a pair
  EXPECT_THAT(dpo.draft.global_batch, Optional(128));
  const PlanFile grpo = read(
      "grpo: {num_prompts_per_step: 8}\npolicy:\n  train_global_batch_size: 64\n"
      "  megatron_cfg: {enabled: true, fp8_cfg: {enabled: true}}\n",
      "grpo.yaml");
  EXPECT_THAT(grpo.draft.method, Optional(plan::Method::grpo));
  EXPECT_THAT(grpo.draft.matmul, Optional(plan::Matmul::fp8));
}

TEST(Automodel, ReadsOptimizers_Formats_AndPacks) {
  const std::string text =
      "step_scheduler: {global_batch_size: 32, local_batch_size: 1}\n"
      "packed_sequence: {pack_size: 4096}\n"
      "model:\n  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained\n"
      "  pretrained_model_name_or_path: Qwen/Qwen3-8B\n"
      "  backend: {te_fp8: {recipe: mxfp8}}\n"
      "distributed: {offload_policy: cpu}\n"
      "optimizer: {exp_avg_dtype: torch.bfloat16, _target_: ";
  const PlanFile plan = read(text + "bitsandbytes.optim.AdamW8bit}\n", "sft.yaml");
  EXPECT_THAT(plan.draft.optimizer, Optional(plan::Optimizer::adam_8bit));
  EXPECT_THAT(plan.draft.matmul, Optional(plan::Matmul::mxfp8));
  EXPECT_THAT(plan.draft.moment_dtype, Optional(plan::Dtype::bf16));
  EXPECT_THAT(plan.draft.sequence, Optional(4096));
  EXPECT_THAT(plan.draft.offload_parameters, Optional(true));
  const PlanFile other = read(text + "torch.optim.SGD}\nteacher_model: {name: big}\n", "a.yaml");
  EXPECT_EQ(std::count_if(other.findings.begin(), other.findings.end(),
                          [](const Diagnostic& one) { return one.code == "RW0601"; }),
            2);
}

TEST(Automodel, DiffusionModels_AreRefused) {
  const PlanFile plan = read(
      "model: {_target_: nemo_automodel.Pipeline}\nflow_matching: {shift: 3}\n"
      "step_scheduler: {global_batch_size: 8}\n",
      "video.yaml");
  ASSERT_TRUE(has_errors(plan.findings));
  EXPECT_EQ(plan.findings[0].code, "RW0603");
}

TEST(TorchtitanPython, ReadsConverters_AndModelsOfAHub) {
  const PlanFile plan = read(
      "import torchtitan\n\ndef qwen():\n    return Config(\n"
      "        hf_model=\"Qwen/Qwen3-4B\", model_spec=model_registry(\"full\"),\n"
      "        model_converters=Container.Config(converters=[LoRAConverter.Config(rank=16)]),\n"
      "        training=TrainingConfig(seq_len=2048))\n",
      "a/config_registry.py");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "qwen3-4b");
  EXPECT_THAT(plan.draft.lora_rank, Optional(16));
  EXPECT_FALSE(has_errors(plan.findings));
}

TEST(TorchtitanPython, ReadsTheTrainerOfReinforcementLearning) {
  const PlanFile plan = read(
      "import torchtitan\n\ndef _registry(flavor: str, backend=\"flex\"):\n"
      "    spec = model_registry(flavor, attn_backend=backend)\n    return spec\n\n"
      "def rl_qwen3_8b():\n    return Controller.Config(\n"
      "        model_spec=_registry(\"8B\"),\n"
      "        rollouter=Rollouter.Config(batch=BatchConfig(local_batch_size=2, seq_len=4096)),\n"
      "        trainer=PolicyTrainer.Config(training=TrainingConfig(),\n"
      "            parallelism=ParallelismConfig(tensor_parallel_degree=2)))\n",
      "a/config_registry.py");
  EXPECT_FALSE(has_errors(plan.findings));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "qwen3-8b");
  EXPECT_THAT(plan.draft.tp, Optional(2));
  EXPECT_THAT(plan.draft.micro_batch, Optional(2));
  EXPECT_THAT(plan.draft.sequence, Optional(4096));
  EXPECT_THAT(plan.draft.method, Optional(plan::Method::grpo));
}

TEST(TorchtitanPython, ReadsTheNameOfAnOptimizersFunction) {
  const std::string text =
      "import torchtitan\n\ndef _muon(spec):\n    return Container.Config(lr=1)\n\n"
      "def qwen3_8b():\n    return Config(training=TrainingConfig(seq_len=2048), optimizer=";
  EXPECT_THAT(read(text + "_muon(x))\n", "a/config_registry.py").draft.optimizer,
              Optional(plan::Optimizer::muon));
  EXPECT_THAT(read(text + "default_adamw(lr=1))\n", "a/config_registry.py").draft.optimizer,
              Optional(plan::Optimizer::adam));
}

TEST(NemoRl, ReadsTheLayersOfTheEndStages) {
  const PlanFile plan = read(
      "policy:\n  model_name: Qwen/Qwen3-235B-A22B\n  train_global_batch_size: 64\n"
      "  megatron_cfg: {enabled: true, pipeline_model_parallel_size: 8,\n"
      "    num_layers_in_first_pipeline_stage: 11, num_layers_in_last_pipeline_stage: 11}\n",
      "grpo.yaml");
  EXPECT_THAT(plan.draft.stage_layers,
              Optional(testing::ElementsAre(11, 12, 12, 12, 12, 12, 12, 11)));
}

TEST(Automodel, ReadsLengths_AndLayersThatAreNotResharded) {
  const std::string text =
      "step_scheduler: {global_batch_size: 32, local_batch_size: 1}\n"
      "model: {_target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained}\n"
      "dataset: {max_length: 2048}\ndistributed: {moe: {reshard_after_forward: ";
  const PlanFile plan = read(text + "false}}\n", "sft.yaml");
  EXPECT_THAT(plan.draft.sequence, Optional(2048));
  EXPECT_THAT(plan.draft.zero, Optional(2));
  EXPECT_THAT(read(text + "true}}\n", "sft.yaml").draft.zero, Optional(3));
}

TEST(Automodel, HasNoLayersOfMultiTokenPrediction) {
  const PlanFile plan = read(
      "step_scheduler: {global_batch_size: 32, local_batch_size: 1}\n"
      "model: {_target_: nemo_automodel.NeMoAutoModelForCausalLM.from_config,\n"
      "  torch_dtype: float32, config: {pretrained_model_name_or_path: deepseek-ai/DeepSeek-V3}}\n"
      "peft: {dim: 8}\n",
      "a.yaml");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->mtp_layers, 0);
  EXPECT_THAT(plan.draft.base_dtype, Optional(plan::BaseDtype::fp32));
}

const std::string kVerlMegatron =
    "python3 -m verl.trainer.main_ppo --config-name='ppo_megatron_trainer.yaml' \\\n"
    "  actor_rollout_ref.model.path=Qwen/Qwen3-235B-A22B \\\n"
    "  actor_rollout_ref.actor.ppo_mini_batch_size=64 trainer.nnodes=32 \\\n"
    "  actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=8";

// Settings of Megatron-LM that verl passes on: 94 layers are 5, six times 14, and 5.
TEST(Verl, ReadsTheLayersOfTheEndStages) {
  const std::string key = " +actor_rollout_ref.actor.megatron.override_transformer_config.";
  const PlanFile plan = read(kVerlMegatron + key + "num_layers_in_first_pipeline_stage=5" + key +
                                 "num_layers_in_last_pipeline_stage=5\n",
                             "run.sh");
  EXPECT_THAT(plan.draft.stage_layers,
              Optional(testing::ElementsAre(5, 14, 14, 14, 14, 14, 14, 5)));
  const PlanFile layout =
      read(kVerlMegatron + key + "pipeline_model_parallel_layout=Et\\|t\\|tL\n", "run.sh");
  EXPECT_THAT(layout.findings, Contains(Field(&Diagnostic::code, "RW0601")));
}

TEST(Verl, ReadsRecomputedLayers_OffloadingAndFusedKernels) {
  const std::string key = " +actor_rollout_ref.actor.megatron.override_transformer_config.";
  const std::string optim = " +actor_rollout_ref.actor.optim.override_optimizer_config.";
  const PlanFile plan =
      read(kVerlMegatron + key + "recompute_granularity=full" + key + "recompute_method=block" +
               key + "recompute_num_layers=3" + key + "moe_token_dispatcher_type=flex" + optim +
               "optimizer_cpu_offload=True" + optim +
               "optimizer_offload_fraction=0.5 "
               "actor_rollout_ref.model.use_fused_kernels=True\n",
           "run.sh");
  EXPECT_THAT(plan.draft.recompute, Optional(plan::Recompute::full));
  EXPECT_THAT(plan.draft.recompute_layers, Optional(3));
  EXPECT_THAT(plan.draft.dispatcher, Optional(plan::Dispatcher::deepep));
  EXPECT_THAT(plan.draft.offload_optimizer, Optional(0.5));
  EXPECT_THAT(plan.draft.loss, Optional(plan::Loss::fused_linear));
}

// The reference model is a process of its own, on the actor's GPUs only if it is colocated.
TEST(OpenRlhf, ColocatedReferenceModel_IsOnTheActorsGpus) {
  const std::string text =
      "python3 -m openrlhf.cli.train_ppo_ray --train_batch_size 128 --zero_stage 2 "
      "--pretrain Qwen/Qwen2.5-7B";
  EXPECT_THAT(read(text + "\n", "a.sh").draft.ref_model, Optional(false));
  for (const char* const flag : {" --colocate_actor_ref", " --colocate_all_models",
                                 " --train.colocate_actor_ref", " --train.colocate_all"}) {
    EXPECT_THAT(read(text + flag + "\n", "a.sh").draft.ref_model, Optional(true)) << flag;
    EXPECT_THAT(read(text + flag + " --ref_reward_offload\n", "a.sh").draft.ref_model,
                Optional(false));
    EXPECT_THAT(read(text + flag + " --ref.offload\n", "a.sh").draft.ref_model, Optional(false));
    EXPECT_THAT(read(text + flag + " --init_kl_coef 0\n", "a.sh").draft.ref_model, Optional(false));
  }
}

const std::string kAutomodelMoe =
    "step_scheduler: {global_batch_size: 512, local_batch_size: 16}\n"
    "distributed: {strategy: fsdp2, ep_size: 8}\ndataset: {seq_len: 4096}\nmodel:\n"
    "  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_config\n"
    "  config: {pretrained_model_name_or_path: Qwen/Qwen3-30B-A3B}\n";

// torch.optim makes its states in the format of the weights, which are loaded in bf16 unless the
// recipe says otherwise; Transformer Engine's optimizer may keep fp32 weights.
TEST(Automodel, StatesHaveTheFormatOfTheWeights) {
  const std::string torch = "optimizer: {_target_: torch.optim.AdamW}\n";
  const std::string te =
      "optimizer: {_target_: transformer_engine.pytorch.optimizers.FusedAdam, master_weights: ";
  const Draft narrow = read(kAutomodelMoe + torch, "a.yaml").draft;
  EXPECT_THAT(narrow.master_dtype, Optional(plan::Dtype::bf16));
  EXPECT_THAT(narrow.moment_dtype, Optional(plan::Dtype::bf16));
  const Draft wide = read(kAutomodelMoe + "  torch_dtype: float32\n" + torch, "a.yaml").draft;
  EXPECT_FALSE(wide.master_dtype.has_value());
  EXPECT_FALSE(wide.moment_dtype.has_value());
  EXPECT_FALSE(read(kAutomodelMoe + te + "true}\n", "a.yaml").draft.master_dtype.has_value());
  const Draft without = read(kAutomodelMoe + te + "false}\n", "a.yaml").draft;
  EXPECT_THAT(without.master_dtype, Optional(plan::Dtype::bf16));
  EXPECT_FALSE(without.moment_dtype.has_value());
}

TEST(Automodel, ReadsTheLoss) {
  const std::string loss = "loss_fn:\n  _target_: nemo_automodel.components.loss.";
  const auto read_loss = [&](const std::string& name) {
    return read(kAutomodelMoe + loss + name + "\n", "a.yaml");
  };
  EXPECT_THAT(read_loss("linear_ce.FusedLinearCrossEntropy").draft.loss,
              Optional(plan::Loss::fused_linear));
  EXPECT_THAT(read_loss("te_parallel_ce.TEParallelCrossEntropy").draft.loss,
              Optional(plan::Loss::fused));
  EXPECT_THAT(read_loss("masked_ce.MaskedCrossEntropy").draft.loss, Optional(plan::Loss::eager));
  const PlanFile narrow = read_loss("masked_ce.MaskedCrossEntropy\n  fp32_upcast: false");
  EXPECT_FALSE(narrow.draft.loss.has_value());
  EXPECT_THAT(narrow.findings, Contains(Field(&Diagnostic::code, "RW0601")));
  EXPECT_THAT(read_loss("kd_loss.KDLoss").findings, Contains(Field(&Diagnostic::code, "RW0601")));
}

TEST(Automodel, ReadsHowExpertsRun) {
  const auto read_backend = [](const std::string& keys) {
    return read(kAutomodelMoe + "  backend: {" + keys + "}\n", "a.yaml");
  };
  const PlanFile plan = read_backend("experts: te, dispatcher: hybridep, attn: te");
  EXPECT_THAT(plan.draft.dispatcher, Optional(plan::Dispatcher::hybridep));
  EXPECT_THAT(plan.draft.expert_kernel, Optional(plan::ExpertKernel::grouped));
  const PlanFile slow = read_backend("experts: torch, dispatcher: torch, attn: eager");
  EXPECT_THAT(slow.draft.expert_kernel, Optional(plan::ExpertKernel::sequential));
  EXPECT_THAT(slow.draft.attention, Optional(plan::AttentionKernel::unfused));
  EXPECT_THAT(slow.findings, Contains(Field(&Diagnostic::code, "RW0601")));
}

TEST(NemoRl, ReadsTheFusedLogProbabilities_AndTheDispatcher) {
  const PlanFile plan = read(
      "sft: {seed: 1}\npolicy:\n  model_name: Qwen/Qwen3-30B-A3B\n  train_global_batch_size: 64\n"
      "  megatron_cfg: {enabled: true, expert_model_parallel_size: 8,\n"
      "    use_fused_linear_logprobs: true, moe_token_dispatcher_type: flex,\n"
      "    fine_grained_activation_offloading: true}\n",
      "sft.yaml");
  EXPECT_THAT(plan.draft.loss, Optional(plan::Loss::fused_linear));
  EXPECT_THAT(plan.draft.dispatcher, Optional(plan::Dispatcher::deepep));
  EXPECT_THAT(plan.findings, Contains(Field(&Diagnostic::code, "RW0601")));
}

TEST(Verl, FolderOfTheUser_IsNotReported) {
  const PlanFile plan = read(
      "DATA=${DATA:-\"${HOME}/verl\"}\nN=${NODES:-2}\npython3 -m verl.trainer.main_ppo "
      "actor_rollout_ref.model.path=$DATA/models/Qwen3-8B trainer.nnodes=$N "
      "actor_rollout_ref.actor.ppo_mini_batch_size=$((N * 64)) trainer.n_gpus_per_node=8\n",
      "run.sh");
  ASSERT_TRUE(plan.draft.model.has_value());
  std::string notes;
  for (const Diagnostic& found : plan.findings) notes += found.detail + "\n";
  EXPECT_THAT(notes, testing::HasSubstr("NODES = 2"));  // not 128, the batch that it decides
  EXPECT_THAT(notes, testing::Not(testing::HasSubstr("DATA")));
}

// "${.a.b}" is relative to the map that the reference is in, "${..a}" to the one around it.
TEST(References, AreRelativeToTheirMap) {
  const PlanFile plan = read(
      "model:\n  tensor_model_parallel_size: 2\n  encoder_seq_length: 1024\n"
      "  global_batch_size: ${.data.train_ds.size}\n  micro_batch_size: 2\n"
      "  data:\n    train_ds:\n      size: 64\n      max_seq_length: ${..longest}\n"
      "    longest: 2048\n",
      "conf.yaml");
  EXPECT_TRUE(plan.findings.empty()) << plan.findings[0].detail;
  EXPECT_THAT(plan.draft.global_batch, Optional(64));
  EXPECT_THAT(plan.draft.sequence, Optional(2048));
}

TEST(NemoYaml, ReadsAModelByItsName_AndReportsWideWeights) {
  const PlanFile plan = read(
      "trainer:\n  precision: bf16\nmodel:\n  name_or_path: mistralai/Mixtral-8x7B-v0.1\n"
      "  tensor_model_parallel_size: 4\n  pipeline_model_parallel_size: 4\n"
      "  megatron_amp_O2: False\n",
      "conf.yaml");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "mixtral-8x7b");
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].code, "RW0601");
  EXPECT_TRUE(read("model:\n  tensor_model_parallel_size: 4\n  megatron_amp_O2: True\n", "c.yaml")
                  .findings.empty());
}

// A layer of MaxText's Gemma 2 is a local and a global one.
TEST(Maxtext, LayersOfGemma2AreTwo) {
  const PlanFile plan = read(
      "base_emb_dim: 2304\nbase_num_query_heads: 8\nbase_num_kv_heads: 4\nbase_mlp_dim: 9216\n"
      "base_num_decoder_layers: 13\nhead_dim: 256\nmlp_activations: [\"gelu\",\"linear\"]\n"
      "vocab_size: 256128\ndecoder_block: \"gemma2\"\nlogits_via_embedding: True\n",
      "gemma2-2b.yml");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layers(), 26);
}

TEST(GptNeox, ReadsJson_AndAListOfStages) {
  const PlanFile plan = read(
      "{\"pipe-parallel-size\": 1, \"model-parallel-size\": 8, \"num-layers\": 32,\n"
      " \"hidden-size\": 4096, \"num-attention-heads\": 32, \"seq-length\": 2048,\n"
      " \"train_micro_batch_size_per_gpu\": 1, \"zero_optimization\": {\"stage\": [0, 1, 2, 3]}}",
      "tune.json");
  EXPECT_EQ(plan.format->name, "gpt-neox");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.tp, Optional(8));
  ASSERT_TRUE(plan.draft.model.has_value());
}

// Other models of Composer than MPT state the width of Llama's gated layers.
TEST(LlmFoundry, WidthOfGatedLayers) {
  const PlanFile plan = read(
      "max_seq_len: 4096\nmodel:\n  name: mosaic_llama2_7b\n  d_model: 4096\n  n_heads: 32\n"
      "  n_layers: 32\n  intermediate_size: 11008\n  vocab_size: 32000\n"
      "global_train_batch_size: 32\ndevice_train_microbatch_size: 8\nfsdp_config: {}\n"
      "max_duration: 800ba\n",
      "7b.yaml");
  ASSERT_TRUE(plan.draft.model.has_value());
  // 32 layers of 4 x 4096^2 + 3 x 4096 x 11008, an embedding and a head of 4096 x 32000
  EXPECT_NEAR(model::count_parameters(*plan.draft.model).total(), 6.738e9, 0.01e9);
}

// A recipe that restates some shapes of the model that it names has the others too.
TEST(Primus, RestatedShapes_AreThoseOfTheModel) {
  const PlanFile plan = read(
      "modules:\n  pre_trainer:\n    framework: megatron\n"
      "    model: ${PRIMUS_MODEL:gpt_oss_20B}.yaml\n    overrides:\n      num_layers: 24\n"
      "      hidden_size: 2880\n      ffn_hidden_size: 2880\n      num_attention_heads: 64\n"
      "      num_query_groups: 8\n      num_experts: 32\n      moe_ffn_hidden_size: 2880\n"
      "      moe_router_topk: 4\n      window_size: [128, 0]\n"
      "      window_attn_skip_freq: [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, "
      "1, "
      "0, 1, 0]\n      tensor_model_parallel_size: 1\n      seq_length: 8192\n",
      "pretrain.yaml");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "gpt-oss-20b");
  for (const Diagnostic& found : plan.findings) {
    EXPECT_NE(found.code, "RW0601") << found.detail;
    EXPECT_FALSE(found.detail.starts_with("vocabulary size")) << found.detail;
  }
}

TEST(Verl, GradientsReducedIn16Bits_AreReported) {
  const PlanFile plan = read(
      "python3 -m verl.trainer.main_ppo data.max_prompt_length=1024 \\\n"
      "  actor_rollout_ref.model.path=Qwen/Qwen3-8B trainer.nnodes=1 trainer.n_gpus_per_node=8 \\\n"
      "  +actor_rollout_ref.actor.fsdp_config.mixed_precision.reduce_dtype=bf16\n",
      "run.sh");
  EXPECT_THAT(plan.findings, Contains(Field(&Diagnostic::code, "RW0601")));
}

// LLaMA-Factory has its own keys beside Megatron-LM's.
TEST(MegatronYaml, ReadsTheKeysOfLlamaFactory) {
  const PlanFile plan = read(
      "model_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\nfinetuning_type: full\n"
      "cutoff_len: 4096\nper_device_train_batch_size: 1\ngradient_accumulation_steps: 2\n"
      "bf16: true\ntensor_model_parallel_size: 4\npipeline_model_parallel_size: 2\n",
      "qwen.yaml");
  EXPECT_THAT(plan.draft.sequence, Optional(4096));
  EXPECT_THAT(plan.draft.micro_batch, Optional(1));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "qwen2.5-7b");
}

TEST(NemoYaml, MomentsIn16Bits) {
  const PlanFile plan = read(
      "model:\n  tensor_model_parallel_size: 4\noptimizer:\n  use_precision_aware_optimizer: true\n"
      "  exp_avg_dtype: torch.bfloat16\n  exp_avg_sq_dtype: torch.bfloat16\n",
      "conf.yaml");
  EXPECT_THAT(plan.draft.moment_dtype, Optional(plan::Dtype::bf16));
}

// Other trainers of reinforcement learning have a strategy per role: none of them is the file's.
TEST(MegatronYaml, StrategiesOfRoles_AreNotRead) {
  const PlanFile plan = read(
      "actor_train:\n  strategy_args:\n    strategy_config:\n      tensor_model_parallel_size: 1\n"
      "      expert_model_parallel_size: 8\nnum_gpus_per_node: 16\n",
      "rlvr.yaml");
  EXPECT_NE(plan.format->name, "megatron");
}

// An axis of -1 leaves the number of devices open; the others divide it.
TEST(Maxtext, ReadsExpertsOfMixtral_AndTheStatedDevices) {
  PlanFile plan = read(
      "base_emb_dim: 6144\nbase_num_query_heads: 48\nbase_num_kv_heads: 8\nbase_mlp_dim: 32768\n"
      "base_moe_mlp_dim: 32768\nbase_num_decoder_layers: 64\nhead_dim: 128\n"
      "mlp_activations: [\"silu\",\"linear\"]\nvocab_size: 131072\nnum_experts: 8\n"
      "num_experts_per_tok: 2\ndecoder_block: \"mixtral\"\ndcn_data_parallelism: -1\n"
      "dcn_fsdp_parallelism: 4\nici_expert_parallelism: 8\nper_device_batch_size: 11\n"
      "max_target_length: 8192\n",
      "grok-1.yml");
  ASSERT_TRUE(plan.draft.model.has_value());
  // 64 layers of 8 x 3 x 6144 x 32768 + 2 x 6144 x (6144 + 1024), and 2 x 6144 x 131072
  EXPECT_NEAR(model::count_parameters(*plan.draft.model).total(), 316.5e9, 0.5e9);
  assume_world(plan);
  EXPECT_THAT(plan.draft.world, Optional(32));
}

TEST(GptNeox, GatedLayers_AndStatesOfBf16) {
  const std::string text =
      "num_layers: 32\nhidden_size: 4096\nnum_attention_heads: 32\nseq_length: 2048\n"
      "pipe_parallel_size: 1\nmlp_type: gated\nmlp_multiple_of: 256\nactivation: silu\n";
  const PlanFile plan = read(text + "bf16: {enabled: true}\n", "a.yml");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layer(0).ffn.width, 11008);
  EXPECT_THAT(plan.draft.zero, Optional(1));
  EXPECT_THAT(read(text + "fp16: {enabled: true}\n", "a.yml").draft.zero, Optional(0));
}

// TP ranks keep a part each of the activations between layers.
TEST(GptNeox, PartitionedActivations_AreReported) {
  const std::string text =
      "num_layers: 32\nhidden_size: 4096\nnum_attention_heads: 32\nseq_length: 2048\n"
      "pipe_parallel_size: 1\nvocab_size: 50304\ncheckpoint_activations: true\n"
      "partition_activations: true\n";
  EXPECT_TRUE(read(text, "a.yml").findings.empty());
  EXPECT_THAT(read(text + "model_parallel_size: 2\n", "a.yml").findings,
              Contains(Field(&Diagnostic::code, "RW0601")));
}

TEST(Verl, SecondTrainedModel_IsReported) {
  const auto reports = [](const std::string& more) {
    const PlanFile plan = read(
        "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen2.5-7B "
        "actor_rollout_ref.actor.ppo_mini_batch_size=8 data.train_batch_size=8 "
        "data.max_prompt_length=512 data.max_response_length=512 " +
            more + "\n",
        "a.sh");
    return std::count_if(plan.findings.begin(), plan.findings.end(), [](const Diagnostic& found) {
      return found.code == "RW0601" && found.detail.starts_with("coach");
    });
  };
  EXPECT_EQ(reports("+coach.actor.ppo_mini_batch_size=4"), 1);
  EXPECT_EQ(reports("+coach.reward=a"), 0);
}

TEST(GptNeox, LayersRecomputedAtOnce_AreReported) {
  const std::string text =
      "num_layers: 32\nhidden_size: 4096\nnum_attention_heads: 32\nseq_length: 2048\n"
      "pipe_parallel_size: 1\nvocab_size: 50304\ncheckpoint_activations: true\n"
      "checkpoint_num_layers: ";
  EXPECT_TRUE(read(text + "1\n", "a.yml").findings.empty());
  EXPECT_THAT(read(text + "2\n", "a.yml").findings, Contains(Field(&Diagnostic::code, "RW0601")));
}

TEST(Maxtext, TeacherOfDistillation_IsReported) {
  const auto reports = [](const std::string& on) {
    const PlanFile plan = read(
        "python3 -m MaxText.train a.yml model_name=llama3.1-8b max_target_length=2048 "
        "per_device_batch_size=1 use_kd=" +
            on + "\n",
        "a.sh");
    return std::count_if(plan.findings.begin(), plan.findings.end(), [](const Diagnostic& found) {
      return found.code == "RW0601" && found.detail.find("teacher") != std::string::npos;
    });
  };
  EXPECT_EQ(reports("True"), 1);
  EXPECT_EQ(reports("False"), 0);
}

TEST(OpenRlhf, OffloadedReferenceOfDpo_IsReported) {
  const std::string text =
      "deepspeed --num_gpus 8 --module openrlhf.cli.train_dpo --pretrain meta-llama/Llama-3.1-8B "
      "--train_batch_size 128 --micro_train_batch_size 1 --max_len 2048 --zero_stage 3";
  const auto reports = [&](const std::string& flag) {
    const PlanFile plan = read(text + flag + "\n", "a.sh");
    return std::count_if(plan.findings.begin(), plan.findings.end(),
                         [](const Diagnostic& found) { return found.code == "RW0601"; });
  };
  EXPECT_EQ(reports(" --ref_offload"), reports("") + 1);
}

TEST(Verl, FrozenWeights_AreInFp32UnlessStated) {
  const std::string text =
      "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen2.5-7B "
      "actor_rollout_ref.model.lora_rank=8 actor_rollout_ref.actor.ppo_mini_batch_size=16 "
      "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 trainer.n_gpus_per_node=4 ";
  EXPECT_THAT(read(text + "\n", "a.sh").draft.base_dtype, Optional(plan::BaseDtype::fp32));
  const std::string half = "actor_rollout_ref.actor.fsdp_config.model_dtype=bf16\n";
  EXPECT_EQ(read(text + half, "a.sh").draft.base_dtype, std::nullopt);
}

TEST(GptNeox, PairsOfDpo_AreTwoSequences) {
  const std::string text =
      "{\"num_layers\": 24, \"hidden_size\": 1024, \"num_attention_heads\": 16, "
      "\"seq_length\": 2048, \"max_position_embeddings\": 2048, \"pos_emb\": \"rotary\", "
      "\"train_micro_batch_size_per_gpu\": 4, \"bf16\": {\"enabled\": true}, "
      "\"zero_optimization\": {\"stage\": 1}";
  EXPECT_FALSE(read(text + "}", "a.json").draft.method.has_value());
  const Draft pairs = read(text + ", \"train_impl\": \"dpo\"}", "a.json").draft;
  EXPECT_THAT(pairs.method, Optional(plan::Method::dpo));
  EXPECT_THAT(pairs.micro_batch, Optional(8));
  EXPECT_THAT(pairs.ref_model, Optional(true));
}

TEST(LlmFoundry, LossOfMpt_IsFusedByDefault) {
  const std::string text =
      "max_seq_len: 2048\nglobal_train_batch_size: 256\ndevice_train_microbatch_size: 16\n"
      "precision: amp_bf16\nfsdp_config: {sharding_strategy: FULL_SHARD}\n"
      "model: {name: mpt_causal_lm, d_model: 768, n_heads: 12, n_layers: 12, vocab_size: 50368";
  EXPECT_THAT(read(text + "}\n", "a.yaml").draft.loss, Optional(plan::Loss::fused));
  EXPECT_FALSE(read(text + ", loss_fn: torch_crossentropy}\n", "a.yaml").draft.loss.has_value());
}

TEST(OpenRlhf, KtoHasAReference_AndUnknownProgramsAreReported) {
  const std::string flags =
      " --pretrain meta-llama/Llama-2-7b-hf --train_batch_size 128 --micro_train_batch_size 4 "
      "--max_len 2048 --zero_stage 3\n";
  const Draft kto = read("deepspeed --module openrlhf.cli.train_kto" + flags, "a.sh").draft;
  EXPECT_THAT(kto.ref_model, Optional(true));
  EXPECT_THAT(kto.micro_batch, Optional(4));  // sequences, not pairs
  EXPECT_NE(kto.method, plan::Method::dpo);
  const auto reports = [&](const std::string& program) {
    const PlanFile plan = read("deepspeed --module openrlhf.cli." + program + flags, "a.sh");
    return std::count_if(plan.findings.begin(), plan.findings.end(), [](const Diagnostic& found) {
      return found.detail.find("only the trained model") != std::string::npos;
    });
  };
  EXPECT_EQ(reports("train_sft"), 0);
  EXPECT_EQ(reports("train_ebft_ray"), 1);
}

TEST(Verl, ConfigOfFineTuning_IsRead) {
  const PlanFile plan = read(
      "data: {train_batch_size: 4, micro_batch_size_per_gpu: 1, max_length: 8192}\n"
      "model: {partial_pretrain: Qwen/Qwen2.5-7B-Instruct, enable_gradient_checkpointing: True}\n"
      "trainer: {nnodes: 1, n_gpus_per_node: 2}\n",
      "a.yaml");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.global_batch, Optional(4));
  EXPECT_THAT(plan.draft.sequence, Optional(8192));
  EXPECT_THAT(plan.draft.sync_each_batch, Optional(true));
}

// DeepSpeed's optimizer of bf16 accumulates in fp32 unless told otherwise.
TEST(GptNeox, GradientsOfBf16WithoutZero_AreInFp32) {
  const std::string text =
      "{\"pipe_parallel_size\": 1, \"num_layers\": 12, \"hidden_size\": 768, "
      "\"num_attention_heads\": 12, \"seq_length\": 2048, \"max_position_embeddings\": 2048, "
      "\"precision\": \"bfloat16\", \"bf16\": {\"enabled\": true}, "
      "\"zero_optimization\": {\"stage\": ";
  EXPECT_THAT(read(text + "0}}", "a.json").draft.grad_dtype, Optional(plan::Dtype::fp32));
  EXPECT_THAT(read(text + "1}}", "a.json").draft.grad_dtype, Optional(plan::Dtype::bf16));
}

TEST(Maxtext, StatesHaveTheFormatOfTheWeights) {
  const std::string text =
      "model_name: deepseek2-16b\nici_fsdp_parallelism: 8\nper_device_batch_size: 8\n"
      "max_target_length: 4096\n";
  const PlanFile wide = read(text, "a.yaml");
  EXPECT_FALSE(wide.draft.master_dtype.has_value());
  EXPECT_THAT(wide.draft.grad_dtype, Optional(plan::Dtype::fp32));
  ASSERT_TRUE(wide.draft.model.has_value());
  EXPECT_EQ(wide.draft.model->name, "deepseek-v2-lite");
  const Draft narrow = read(text + "weight_dtype: bfloat16\n", "a.yaml").draft;
  EXPECT_THAT(narrow.master_dtype, Optional(plan::Dtype::bf16));
  EXPECT_THAT(narrow.moment_dtype, Optional(plan::Dtype::bf16));
  EXPECT_THAT(narrow.grad_dtype, Optional(plan::Dtype::bf16));
}

// Prompts and answers are padded to what the degrees divide: 2 x 4 for exchanges of heads, and the
// 4 tensor ranks of Megatron-LM.
TEST(Verl, SequencesArePadded) {
  const std::string lengths =
      "python3 -m verl.trainer.main_ppo data.train_files=a data.max_prompt_length=30767 "
      "data.max_response_length=2000 actor_rollout_ref.model.path=Qwen/Qwen2.5-7B "
      "trainer.n_gpus_per_node=8 ";
  const PlanFile ulysses =
      read(lengths + "actor_rollout_ref.actor.ulysses_sequence_parallel_size=4\n", "run.sh");
  EXPECT_EQ(ulysses.draft.sequence, 32768);
  const PlanFile megatron =
      read(lengths + "actor_rollout_ref.actor.megatron.tensor_model_parallel_size=4\n", "run.sh");
  EXPECT_EQ(megatron.draft.sequence, 32768);
  EXPECT_EQ(read(lengths + "\n", "run.sh").draft.sequence, 32767);
}

// A value that only an argument of the script gives is open.
TEST(Verl, OptionsOfTheScript_AreOpen) {
  const PlanFile plan = read(
      "while [[ $# -gt 0 ]]; do\n case $1 in\n --nnodes) NNODES=\"$2\"; shift 2 ;;\n esac\ndone\n"
      "python3 -m verl.trainer.main_ppo data.train_files=a data.max_prompt_length=512 \\\n"
      "  actor_rollout_ref.model.path=Qwen/Qwen2.5-7B trainer.nnodes=${NNODES} \\\n"
      "  trainer.n_gpus_per_node=8 actor_rollout_ref.actor.ppo_mini_batch_size=256\n",
      "run.sh");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_FALSE(plan.draft.shape.has_value());
}

// Overrides of a script, above the config that it names.
TEST(Maxtext, LaunchScriptsAreRead) {
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    if (path == "configs/gpu/llama2_7b.yml")
      return "base_config: base.yml\nmodel_name: llama2-7b\nper_device_batch_size: 4\n"
             "dcn_data_parallelism: 1\nici_fsdp_parallelism: 8\nmax_target_length: 4096\n";
    if (path == "configs/gpu/base.yml") return "remat_policy: minimal\nici_fsdp_parallelism: -1\n";
    return refuse_file(path);
  };
  const PlanFile plan = read_any_plan(
      "export RUN_NAME=a-$(date)\npython MaxText/train.py configs/gpu/llama2_7b.yml "
      "run_name=$RUN_NAME dcn_data_parallelism=16 ici_fsdp_parallelism=8 profiler=xplane\n",
      "16vm.sh", files);
  EXPECT_EQ(plan.format->name, "maxtext");
  EXPECT_FALSE(has_errors(plan.findings));
  const plan::TrainingConfig config = resolve(plan.draft);
  EXPECT_EQ(config.model.name, "llama-2-7b");
  EXPECT_EQ(config.world, 128);
  EXPECT_EQ(config.plan.shard_size, 8);
  EXPECT_EQ(config.job.global_batch, 512);
  EXPECT_EQ(config.plan.recompute, plan::Recompute::selective);
}

// Many scripts have the name of the program in a variable.
TEST(Maxtext, ScriptsWithANamedProgram_AreRead) {
  const PlanFile plan = read(
      "EXECUTABLE=\"train\"\npython3 -m MaxText.$EXECUTABLE a.yml model_name=llama3.1-405b "
      "per_device_batch_size=1 max_target_length=8192 ici_fsdp_parallelism=8\n",
      "128vm.sh");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_EQ(resolve(plan.draft).model.name, "llama-3.1-405b");
}

// A value that only the running script knows is not that of the config below.
TEST(Maxtext, UnknownOverrides_AreOpen) {
  const FileReader files = [](const std::string&) -> Result<std::string> {
    return "model_name: default\nbase_emb_dim: 2048\nbase_num_query_heads: 16\n"
           "base_num_decoder_layers: 16\nbase_mlp_dim: 7168\nhead_dim: 128\n";
  };
  const std::string command =
      "python3 MaxText/train.py base.yml ici_tensor_parallelism=2 steps=30 ";
  const PlanFile open = read_any_plan(command + "model_name=$1\n", "run.sh", files);
  EXPECT_FALSE(has_errors(open.findings));
  EXPECT_FALSE(open.draft.model.has_value());
  const PlanFile scaled = read_any_plan(command + "global_parameter_scale=64\n", "run.sh", files);
  ASSERT_TRUE(scaled.draft.model.has_value());
  EXPECT_EQ(scaled.draft.model->layers(), 64);
  EXPECT_EQ(scaled.draft.model->hidden, 8192);
}

TEST(Maxtext, Pipelines_SplitTheBatch) {
  const std::string text =
      "model_name: llama2-7b\nper_device_batch_size: 8\nmax_target_length: 4096\n"
      "ici_pipeline_parallelism: 4\nici_fsdp_parallelism: 2\ndcn_data_parallelism: 1\n";
  EXPECT_EQ(resolve(read(text, "a.yml").draft).plan.micro_batch, 8);  // 32 in 4 parts
  const PlanFile stated = read(text + "num_pipeline_microbatches: 16\n", "a.yml");
  EXPECT_EQ(resolve(stated.draft).plan.micro_batch, 2);
  EXPECT_EQ(resolve(stated.draft).job.global_batch, 64);
}

TEST(Maxtext, AxisOfExperts_ShardsTheOtherWeights) {
  const PlanFile plan = read(
      "model_name: qwen3-30b-a3b\nper_device_batch_size: 4\nmax_target_length: 4096\n"
      "ici_fsdp_parallelism: 1\nici_expert_parallelism: 8\ndcn_data_parallelism: 2\n",
      "a.yml");
  EXPECT_THAT(plan.draft.zero, Optional(3));
  EXPECT_EQ(resolve(plan.draft).plan.shard_size, 8);
}

const std::string kTitanScript =
    "CONFIG=configs/llama3_8b.toml\ntorchrun --nnodes 2 --nproc_per_node 8 -m torchtitan.train "
    "--job.config_file ${CONFIG} --parallelism.tensor_parallel_degree 4 \\\n"
    "  --training.seq-len=16384 --activation_checkpoint.mode full\n";

// The flags of a script override the config that it names.
TEST(TorchtitanScript, ReadsTheConfigAndItsOverrides) {
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    if (path != "configs/llama3_8b.toml") return refuse_file(path);
    return "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 2\n"
           "seq_len = 8192\n[parallelism]\ntensor_parallel_degree = 1\n"
           "[activation_checkpoint]\nmode = \"selective\"\n";
  };
  const PlanFile plan = read_any_plan(kTitanScript, "run.sh", files);
  EXPECT_EQ(plan.format->name, "torchtitan-script");
  EXPECT_TRUE(plan.findings.empty()) << plan.findings[0].detail;
  const plan::TrainingConfig config = resolve(plan.draft);
  EXPECT_EQ(config.model.name, "llama-3.1-8b");
  EXPECT_EQ(config.world, 16);
  EXPECT_EQ(config.plan.tp, 4);
  EXPECT_EQ(config.plan.micro_batch, 2);
  EXPECT_EQ(config.job.sequence, 16384);
  EXPECT_EQ(config.plan.recompute, plan::Recompute::full);
}

TEST(TorchtitanScript, ConfigThatCannotBeRead_LeavesItsSettingsOpen) {
  const PlanFile plan = read_any_plan(kTitanScript, "run.sh", refuse_file);
  EXPECT_FALSE(has_errors(plan.findings));
  ASSERT_TRUE(plan.draft.model.has_value());  // by the name of the config
  EXPECT_EQ(plan.draft.model->name, "llama-3-8b");
  EXPECT_FALSE(plan.draft.micro_batch.has_value());
  EXPECT_THAT(plan.draft.sequence, Optional(16384));
  const PlanFile wrapper = read_any_plan(
      "NGPU=4 CONFIG_FILE=\"./configs/llama3_8b.toml\" ./run_train.sh "
      "--parallelism.pipeline_parallel_degree 2\n",
      "run.sh", refuse_file);
  EXPECT_THAT(wrapper.draft.pp, Optional(2));
  EXPECT_EQ(resolve(wrapper.draft).world, 4);
}

const std::string kEasyR1 =
    "data:\n  max_prompt_length: 1024\n  max_response_length: 3072\n  rollout_batch_size: 512\n"
    "algorithm:\n  use_kl_loss: true\nworker:\n  actor:\n    global_batch_size: 128\n"
    "    micro_batch_size_per_device_for_update: 2\n    model:\n"
    "      model_path: Qwen/Qwen2.5-7B-Instruct\n      enable_gradient_checkpointing: true\n"
    "    fsdp:\n      enable_full_shard: true\n      enable_cpu_offload: false\n"
    "  rollout:\n    n: 5\n    gpu_memory_utilization: 0.6\n  ref:\n    fsdp:\n"
    "      enable_cpu_offload: true\ntrainer:\n  nnodes: 1\n  n_gpus_per_node: 8\n";

// EasyR1 is a fork of verl with names of its own; a batch counts prompts.
TEST(EasyR1, ReadsItsConfig_AndTheOverridesOfAScript) {
  const PlanFile plan = read(kEasyR1, "config.yaml");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.global_batch, Optional(640));  // 128 x 5
  EXPECT_THAT(plan.draft.micro_batch, Optional(2));
  EXPECT_THAT(plan.draft.sequence, Optional(4096));
  EXPECT_THAT(plan.draft.zero, Optional(3));
  EXPECT_THAT(plan.draft.ref_model, Optional(false));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "qwen2.5-7b");
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    if (path != "examples/config.yaml") return refuse_file(path);
    return kEasyR1;
  };
  const PlanFile script = read(
      "M=Qwen/Qwen2.5-3B-Instruct\npython3 -m verl.trainer.main config=examples/config.yaml \\\n"
      "  data.max_response_length=1024 worker.actor.model.model_path=$M \\\n"
      "  worker.rollout.n=8 trainer.n_gpus_per_node=4\n",
      "run.sh", files);
  EXPECT_THAT(script.draft.global_batch, Optional(1024));
  EXPECT_THAT(script.draft.sequence, Optional(2048));
  EXPECT_EQ(script.draft.model->name, "qwen2.5-3b");
  EXPECT_EQ(resolve(script.draft).world, 4);
}

TEST(Verl, FileThatInheritsATrainer_HasVerlsDefaults) {
  const PlanFile plan = read(
      "hydra:\n  searchpath: [file://verl/trainer/config]\ndefaults:\n  - ppo_trainer\n  - _self_\n"
      "data:\n  max_prompt_length: 1024\n  max_response_length: 2048\n"
      "actor_rollout_ref:\n  rollout: {name: vllm, n: 4}\n",
      "grpo.yaml");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.sequence, Optional(3072));
  EXPECT_THAT(plan.draft.global_batch, Optional(1024));  // 256 x 4
  EXPECT_THAT(plan.findings, Contains(Field(&Diagnostic::code, "RW0615")));
}

// Older versions state the micro-batch of all ranks.
TEST(Verl, MicroBatchOfAllRanks_IsDivided) {
  const PlanFile plan = read(
      "python3 -m verl.trainer.main_ppo data.train_files=a actor_rollout_ref.model.path=Qwen3-4B "
      "\\\n  actor_rollout_ref.actor.ppo_mini_batch_size=64 "
      "actor_rollout_ref.actor.ppo_micro_batch_size=32 \\\n"
      "  actor_rollout_ref.actor.ulysses_sequence_parallel_size=2 \\\n"
      "  actor_rollout_ref.model.enable_activation_offload=True trainer.nnodes=1 "
      "trainer.n_gpus_per_node=8\n",
      "run.sh");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.micro_batch, Optional(8));  // 32 / (8 / 2)
  EXPECT_THAT(plan.draft.offload_activations, Optional(true));
}

TEST(GptNeox, TypeOfItsHalfPrecision_IsRead) {
  const auto dtype = [](const std::string& type) {
    return read(
               "{\"pipe_parallel_size\": 0, \"model_parallel_size\": 1, \"num_layers\": 2,\n"
               "\"hidden_size\": 64, \"num_attention_heads\": 8, \"seq_length\": 128,\n"
               "\"max_position_embeddings\": 128, \"train_micro_batch_size_per_gpu\": 4,\n"
               "\"fp16\": {\"enabled\": true" +
                   type + "}}\n",
               "small.yml")
        .draft.param_dtype;
  };
  EXPECT_THAT(dtype(""), Optional(plan::Dtype::fp16));
  EXPECT_THAT(dtype(", \"type\": \"bfloat16\""), Optional(plan::Dtype::bf16));
}

}  // namespace recipes_test
}  // namespace rankwright::importer
