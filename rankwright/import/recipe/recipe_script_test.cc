// Scripts and programs that run recipes of Megatron-Bridge and configs or recipes of NeMo.
#include <gmock/gmock.h>

#include <algorithm>

#include "rankwright/import/plan/plan_format.h"
#include "rankwright/model/parameters.h"
#include "tests/support/left_out.h"
#include "tests/support/repository.h"

namespace rankwright::importer {
namespace recipe_script_test {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

PlanFile read(const std::string& text, const std::string& name = "run.sh",
              const FileReader& files = refuse_file) {
  return read_any_plan(text, name, files);
}

bool is_open(const PlanFile& plan, std::string_view key) {
  return std::any_of(plan.open.begin(), plan.open.end(),
                     [&](const OpenValue& one) { return one.key == key; });
}

const std::string kRecipe =
    "torchrun --nproc_per_node=8 run_recipe.py --recipe qwen3_8b_pretrain_config ";

TEST(BridgeScript, RecipeWithoutDegrees_IsRead_AndItsSettingsAreAssumed) {
  const PlanFile plan = read(kRecipe + "train.global_batch_size=16 model.seq_length=2048\n");
  EXPECT_EQ(plan.format->name, "megatron");
  EXPECT_FALSE(has_errors(plan.findings));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "qwen3-8b");
  EXPECT_EQ(resolve(plan.draft).world, 8);
  EXPECT_THAT(plan.draft.global_batch, Optional(16));
  EXPECT_THAT(plan.draft.zero, Optional(1));
  for (const char* const key : {"parallelism.tp_size", "parallelism.pp_size"})
    EXPECT_TRUE(is_open(plan, key)) << key;
  EXPECT_FALSE(is_open(plan, "job.global_batch"));
  EXPECT_FALSE(is_open(plan, "parallelism.ep_size"));  // the model has no experts
  // The recipe's own settings are those of one revision (recipe_defaults/megatron-bridge.txt).
  EXPECT_THAT(plan.findings, assumes("as the recipe qwen3_8b_pretrain_config has them at "));
  EXPECT_THAT(plan.draft.tp, Optional(1));
  EXPECT_THAT(plan.draft.overlap_grad, Optional(true));
  const PlanFile unknown = read(
      "torchrun --nproc_per_node=8 run_recipe.py --recipe my_pretrain_config "
      "train.global_batch_size=16\n");
  EXPECT_THAT(unknown.findings, assumes("the recipe my_pretrain_config sets these"));
  EXPECT_TRUE(is_open(unknown, "parallelism.recompute"));
  EXPECT_TRUE(is_open(unknown, "parallelism.zero_stage"));
}

TEST(BridgeScript, StatedSettings_AreNotAssumed) {
  const PlanFile plan = read(kRecipe +
                             "model.tensor_model_parallel_size=2 model.sequence_parallel=False "
                             "ddp.use_distributed_optimizer=False\n");
  EXPECT_FALSE(is_open(plan, "parallelism.tp_size"));
  EXPECT_FALSE(is_open(plan, "parallelism.sequence_parallel"));
  EXPECT_THAT(plan.draft.zero, Optional(0));
}

// The examples of Megatron-Bridge have a program per recipe, whose settings are under `train`.
TEST(BridgeScript, ProgramOfAnExample_RunsItsRecipe) {
  const PlanFile plan = read(
      "torchrun --nproc-per-node=8 examples/models/llama/pretrain_llama3_8b.py "
      "model.tensor_model_parallel_size=2 train.global_batch_size=64 train.micro_batch_size=1 "
      "model.seq_length=4096 mixed_precision=bf16_with_fp8_current_scaling_mixed\n");
  EXPECT_FALSE(has_errors(plan.findings));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "llama-3-8b");
  EXPECT_THAT(plan.draft.zero, Optional(1));
  EXPECT_THAT(plan.draft.matmul, Optional(plan::Matmul::fp8));
  EXPECT_THAT(plan.findings, assumes("the recipe pretrain_llama3_8b.py sets these"));
  EXPECT_TRUE(is_open(plan, "parallelism.recompute"));
  EXPECT_FALSE(is_open(plan, "parallelism.tp_size"));
  const PlanFile experts = read(
      "torchrun --nproc-per-node=8 pretrain_qwen3_moe_30b.py train.micro_batch_size=1 "
      "train.global_batch_size=64 model.tensor_model_parallel_size=1\n");
  ASSERT_TRUE(experts.draft.model.has_value());
  EXPECT_EQ(experts.draft.model->name, "qwen3-30b-a3b");
}

TEST(BridgeScript, NamesOfMixedPrecision_AreRead) {
  const auto read_precision = [](const std::string& name) {
    return read(kRecipe + "train.global_batch_size=16 mixed_precision=" + name + "\n").draft;
  };
  const Draft plain = read_precision("bf16_mixed");
  EXPECT_THAT(plain.param_dtype, Optional(plan::Dtype::bf16));
  EXPECT_FALSE(plain.matmul.has_value());
  EXPECT_THAT(read_precision("fp16_mixed").param_dtype, Optional(plan::Dtype::fp16));
  EXPECT_THAT(read_precision("bf16_with_mxfp8_mixed").matmul, Optional(plan::Matmul::mxfp8));
  EXPECT_THAT(read_precision("bf16_with_nvfp4_mixed").matmul, Optional(plan::Matmul::fp4));
}

TEST(BridgeYaml, Teacher_IsReported_AndItsDegreesAreNotTheStudents) {
  const PlanFile plan = read(
      "model:\n  hf_model_id: Qwen/Qwen3-8B\n  tensor_model_parallel_size: 2\n"
      "  teacher: {tensor_model_parallel_size: 8, seq_length: 64}\n  kd_config: {a: 1}\n"
      "train: {train_iters: 5, micro_batch_size: 1, global_batch_size: 8}\n",
      "kd.yaml");
  EXPECT_THAT(plan.draft.tp, Optional(2));
  EXPECT_EQ(plan.draft.sequence, std::nullopt);
  EXPECT_THAT(plan.findings, left_out("without its teacher"));
}

const std::string kNemo =
    "python /opt/NeMo/examples/megatron_gpt_pretraining.py --config-path=conf --config-name=small "
    "trainer.num_nodes=2 trainer.devices=4 model.global_batch_size=32 ++model.bias=False ";

TEST(NemoScript, ConfigOfHydra_IsReadUnderTheOverrides) {
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    if (!path.ends_with("conf/small.yaml")) return refuse_file(path);
    return "trainer: {num_nodes: 1, devices: 8, precision: bf16}\nmodel:\n"
           "  tensor_model_parallel_size: 2\n  encoder_seq_length: 1024\n  num_layers: 4\n"
           "  hidden_size: 512\n  num_attention_heads: 8\n  global_batch_size: 8\n"
           "  micro_batch_size: 1\n  fp8: true\n"
           "  data: {seq_length: '${model.encoder_seq_length}'}\n";
  };
  const PlanFile plan = read(kNemo + "model.encoder_seq_length=512 '~model.fp8'\n", "a.sh", files);
  EXPECT_EQ(plan.format->name, "megatron");
  EXPECT_THAT(plan.draft.tp, Optional(2));
  EXPECT_THAT(plan.draft.global_batch, Optional(32));
  EXPECT_THAT(plan.draft.sequence, Optional(512));
  EXPECT_EQ(plan.draft.matmul, std::nullopt);
  EXPECT_EQ(resolve(plan.draft).world, 8);
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layers(), 4);
}

TEST(NemoScript, ConfigThatCannotBeRead_IsReported) {
  const PlanFile plan = read(kNemo + "\n");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.global_batch, Optional(32));
  EXPECT_THAT(plan.findings, assumes("conf/small.yaml, which the script names"));
  EXPECT_TRUE(is_open(plan, "parallelism.tp_size"));
  EXPECT_TRUE(is_open(plan, "parallelism.zero_stage"));
  EXPECT_FALSE(is_open(plan, "job.global_batch"));
}

TEST(NemoScript, OffloadedActivations_AreReported) {
  EXPECT_THAT(read(kNemo + "++model.cpu_offloading_num_layers=3\n").findings,
              left_out("activations are counted on the GPU"));
}

TEST(NemoYaml, LayersOfTransformerEngine_HaveFusedAttention) {
  const std::string text =
      "model:\n  tensor_model_parallel_size: 1\n  num_layers: 4\n  hidden_size: 512\n"
      "  num_attention_heads: 8\n  data: {data_impl: mmap}\n";
  const std::string bf16 = "trainer: {precision: bf16}\n";
  const auto attention = [&](const std::string& more) {
    return read(bf16 + text + more, "a.yaml").draft.attention;
  };
  EXPECT_EQ(attention(""), plan::AttentionKernel::unfused);
  EXPECT_EQ(attention("  transformer_engine: true\n"), std::nullopt);
  EXPECT_EQ(attention("  mcore_gpt: True\n"), std::nullopt);
  EXPECT_EQ(attention("  mcore_gpt: False\n"), plan::AttentionKernel::unfused);
  EXPECT_EQ(attention("  use_flash_attention: true\n"), plan::AttentionKernel::flash2);
}

TEST(TransformerEngine, KernelsThatAScriptTurnsOff_AreNotUsed) {
  const auto attention = [](const std::string& variables, const std::string& more = "") {
    return read(variables +
                "torchrun pretrain_gpt.py --num-layers 4 --hidden-size 512 "
                "--num-attention-heads 8 --tensor-model-parallel-size 1 --bf16 " +
                more + "\n")
        .draft.attention;
  };
  const std::string no_flash = "export NVTE_FLASH_ATTN=0\n";
  const std::string no_fused = "export NVTE_FUSED_ATTN=0\n";
  EXPECT_EQ(attention(no_flash + no_fused), plan::AttentionKernel::unfused);
  EXPECT_EQ(attention("NVTE_FLASH_ATTN=0 NVTE_FUSED_ATTN=0 "), plan::AttentionKernel::unfused);
  EXPECT_EQ(attention(no_flash), plan::AttentionKernel::fused);
  EXPECT_EQ(attention(no_fused), std::nullopt);
  EXPECT_EQ(attention("export NVTE_FLASH_ATTN=1\n" + no_fused), std::nullopt);
  EXPECT_EQ(attention(no_flash + no_fused, "--attention-backend flash"),
            plan::AttentionKernel::flash2);
}

const std::string kProgram =
    "from nemo.collections import llm\n\ndef make():\n"
    "    recipe = llm.llama3_8b.pretrain_recipe(\n        name=\"a, (b\",\n        num_nodes=2,\n"
    "        num_gpus_per_node=4)\n    recipe.trainer.strategy.tensor_model_parallel_size = 2\n"
    "    recipe.data.global_batch_size = 32\n";

TEST(NemoProgram, AssignmentsToARecipe_AreRead) {
  const PlanFile plan = read(kProgram + "    recipe.data.seq_length = 1_024\n", "a.py");
  EXPECT_EQ(plan.format->name, "megatron");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "llama-3-8b");
  EXPECT_EQ(resolve(plan.draft).world, 8);
  EXPECT_THAT(plan.draft.tp, Optional(2));
  EXPECT_THAT(plan.draft.global_batch, Optional(32));
  EXPECT_THAT(plan.draft.sequence, Optional(1024));
  EXPECT_THAT(plan.draft.zero, Optional(1));
  EXPECT_TRUE(is_open(plan, "parallelism.pp_size"));
  EXPECT_FALSE(is_open(plan, "parallelism.tp_size"));
  EXPECT_THAT(plan.findings, assumes("CP 2, micro-batch 1, PP 1, as the recipe "));
}

TEST(NemoProgram, DataAndAdapters_AreRead) {
  const auto program = [](const std::string& scheme) {
    return read(
        "from nemo.collections.llm.recipes import llama3_8b\n"
        "recipe = llama3_8b.finetune_recipe(name='a', " +
            scheme + ")\nrecipe.data = run.Config(Mock, seq_length=512, micro_batch_size=2)\n",
        "a.py");
  };
  const PlanFile full = program("peft_scheme=None");
  EXPECT_EQ(full.draft.lora_rank, std::nullopt);
  EXPECT_THAT(full.draft.sequence, Optional(512));
  EXPECT_THAT(full.draft.micro_batch, Optional(2));
  EXPECT_THAT(full.findings, Not(assumes("adapters")));
  const PlanFile adapters = program("num_nodes=1");
  EXPECT_THAT(adapters.draft.lora_rank, Optional(8));
  EXPECT_THAT(adapters.findings, assumes("adapters of rank 8"));
}

// A call that is never closed takes the rest of the file.
TEST(NemoProgram, CallWithoutAnEnd_IsNoError) {
  const PlanFile plan =
      read("from nemo.collections import llm\nr = llm.llama3_8b.pretrain_recipe(\n" +
               std::string(5000, '(') + "\nnum_nodes=",
           "a.py");
  EXPECT_THAT(plan.draft.tp, Optional(1));  // the recipe's
}

TEST(NemoScript, Factory_NamesTheRecipe) {
  const PlanFile plan = read(
      "python run.py --factory \"llama3_8b(name='a',num_nodes=2)\" trainer.devices=4 "
      "trainer.strategy.tensor_model_parallel_size=2 trainer.max_steps=5\n");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "llama-3-8b");
  EXPECT_EQ(resolve(plan.draft).world, 8);
  EXPECT_THAT(plan.draft.zero, Optional(1));
  EXPECT_THAT(plan.findings, assumes("the recipe llama3_8b sets these"));
}

const std::string kVerl =
    "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen2.5-3B "
    "data.train_batch_size=1024 actor_rollout_ref.actor.ppo_mini_batch_size=64 "
    "data.max_prompt_length=2048 trainer.n_gpus_per_node=4\n";

// Words of the form a=b are not overrides of the training in every command.
TEST(Overrides, CommandsThatDoNotTrain_DoNotCount) {
  for (const char* const other :
       {"pip install torch==2.5.1 torchvision==0.20.1 torchaudio==2.5.1\n",
        "python3 -m verl.trainer.main_generation data.n=1 model.path=Qwen/Qwen2.5-0.5B a.b=1\n",
        "python gen.py model.path=Qwen/Qwen2.5-0.5B data.x=2 e.f=3\n",
        "ray start --head a=1 b=2 c=3\n"})
    for (const std::string& script : {other + kVerl, kVerl + other}) {
      const PlanFile plan = read(script);
      ASSERT_TRUE(plan.draft.model.has_value()) << script;
      EXPECT_EQ(plan.draft.model->name, "qwen2.5-3b") << script;
      EXPECT_THAT(plan.draft.sequence, Optional(2560)) << script;
      EXPECT_EQ(resolve(plan.draft).world, 4) << script;
      EXPECT_THAT(plan.findings, Not(assumes("training runs"))) << script;
    }
}

const std::string kMegatronRun =
    "--tensor-model-parallel-size 2 --num-layers 32 --hidden-size 4096 --num-attention-heads 32 "
    "--micro-batch-size 1 --bf16 ";

// A converter of checkpoints has flags of Megatron-LM, as its arguments are parsed there.
TEST(MegatronScript, Converter_IsNotTheTraining) {
  const std::string converter =
      "python tools/hf2megads_weight_converter.py --global-batch-size 1 "
      "--seq-length 8192 " +
      kMegatronRun + "\n";
  const std::string training =
      "torchrun --nproc_per_node 8 finetune_llama.py "
      "--global-batch-size 256 --seq-length 4096 " +
      kMegatronRun + "\n";
  for (const std::string& script : {converter + training, training + converter}) {
    const PlanFile plan = read(script);
    EXPECT_THAT(plan.draft.global_batch, Optional(256));
    EXPECT_THAT(plan.draft.sequence, Optional(4096));
    EXPECT_EQ(resolve(plan.draft).world, 8);
    EXPECT_THAT(plan.findings, Not(assumes("training runs")));
  }
  EXPECT_THAT(read(converter).draft.global_batch, Optional(1));  // nothing else is known
}

/// Returns "2 x 4" for two nodes of four GPUs, which the script states or leaves open.
std::string nodes_of(const std::string& script) {
  PlanFile plan = read(script);
  assume_world(plan);
  const plan::TrainingConfig config = resolve(plan.draft);
  const i64 gpus = config.cluster.host_devices;
  return std::to_string(config.world / gpus) + " x " + std::to_string(gpus);
}

const std::string kTrainer =
    " train.py --model_name_or_path Qwen/Qwen2.5-7B --bf16 True --per_device_train_batch_size 1 "
    "--output_dir x\n";
const std::string kGpt = " pretrain_gpt.py --global-batch-size 64 " + kMegatronRun + "\n";

// Nodes have as many GPUs as the script says, also where it leaves their number open.
TEST(Nodes, OpenNumber_HasTheStatedGpus) {
  EXPECT_EQ(nodes_of("torchrun --nproc_per_node=4 --nnodes=$SLURM_NNODES" + kTrainer), "1 x 4");
  EXPECT_EQ(nodes_of("NUM_GPUS=4\nNNODES=$SLURM_NNODES\ntorchrun --nproc_per_node=$NUM_GPUS "
                     "--nnodes=$NNODES" +
                     kTrainer),
            "1 x 4");
  EXPECT_EQ(nodes_of("GPUS_PER_NODE=4\nmpirun -np $W -npernode $GPUS_PER_NODE python" + kGpt),
            "1 x 4");
  EXPECT_EQ(nodes_of("python3 -m verl.trainer.main_ppo trainer.n_gpus_per_node=4 "
                     "trainer.nnodes=$N actor_rollout_ref.actor.ppo_mini_batch_size=64\n"),
            "1 x 4");
}

TEST(Nodes, DefaultsOfVariables_DecideTheirNumberAndTheirGpus) {
  const std::string script =
      "G=${G:-4}\nN=${N:-2}\ntorchrun --nproc_per_node $G --nnodes $N" + kGpt;
  EXPECT_EQ(nodes_of(script), "2 x 4");
  PlanFile plan = read(script);
  assume_world(plan);
  EXPECT_THAT(plan.findings, assumes("number of ranks: 8, by the default of $N"));
}

// Slurm's tasks are the ranks, or one launcher per node.
TEST(Nodes, TasksOfSlurmAndMpi_AreRanksOrLaunchers) {
  const std::string one = "#SBATCH --ntasks=1\n";
  EXPECT_EQ(nodes_of(one + "torchrun --nproc_per_node ${G:-4} --nnodes ${N:-1}" + kTrainer),
            "1 x 4");
  EXPECT_EQ(nodes_of(one + "torchrun --nproc_per_node 4" + kTrainer), "1 x 4");
  EXPECT_EQ(nodes_of(one + "g=${G:-4}\nnnodes=${N:-1}\nn_gpus_per_node=$g\n"
                           "python3 -m verl.trainer.main_ppo trainer.n_gpus_per_node=$g "
                           "trainer.nnodes=$nnodes "
                           "actor_rollout_ref.actor.ppo_mini_batch_size=64\n"),
            "1 x 4");
  EXPECT_EQ(nodes_of("mpirun -np 16 -npernode 4 python" + kTrainer), "4 x 4");
  EXPECT_EQ(nodes_of("srun -n 16 --ntasks-per-node 4 python" + kTrainer), "4 x 4");
}

// deepspeed/launcher/runner.py: -i is --include, with "NAME:SLOT,SLOT" for each node.
TEST(Nodes, GpusThatDeepspeedIncludes_AreTheRanks) {
  EXPECT_EQ(nodes_of("deepspeed -i localhost:0" + kTrainer), "1 x 1");
  EXPECT_EQ(nodes_of("deepspeed --include localhost:0,1,2" + kTrainer), "1 x 3");
  EXPECT_EQ(nodes_of("deepspeed --include=\"node1:0,1@node2:0,1\"" + kTrainer), "2 x 2");
  EXPECT_EQ(nodes_of("deepspeed -i a:0,1@b:0,1 --module openrlhf.cli.train_sft --zero_stage 2 "
                     "--micro_train_batch_size 2\n"),
            "2 x 2");
}

TEST(NemoProgram, FunctionThatMakesTheRecipe_AndOverridesBehindIt) {
  const PlanFile plan = read(
      "from nemo.collections import llm\n"
      "def configure(nodes=1, gpus=2):\n"
      "    recipe = llm.llama3_8b.pretrain_recipe(num_nodes=nodes, num_gpus_per_node=gpus)\n"
      "    recipe.data.micro_batch_size = 2\n    return recipe\n"
      "def run():\n    recipe = configure()\n    recipe.model.config.num_layers = 8\n",
      "a.py");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layers(), 8);
  EXPECT_THAT(plan.draft.micro_batch, Optional(2));
  EXPECT_THAT(plan.findings, Not(assumes("several configs")));
}

// NeMo 2.0 without a recipe: 6 layers of 12 x 384 squared and 50,304 x 384 of embeddings, 2,048
// positions: 30.7 M.
TEST(NemoProgram, CallsOfItsClasses_AreRead) {
  const PlanFile plan = read(
      "from nemo import lightning as nl\nfrom nemo.collections import llm\n"
      "if __name__ == '__main__':\n    seq_length = 2048\n"
      "    data = llm.MockDataModule(seq_length=seq_length, global_batch_size=16)\n"
      "    config = llm.GPTConfig(num_layers=6, hidden_size=384, ffn_hidden_size=1536,\n"
      "        num_attention_heads=6, seq_length=seq_length, make_vocab_size_divisible_by=128)\n"
      "    opt = OptimizerConfig(optimizer='adam', bf16=True)\n"
      "    trainer = nl.Trainer(devices=1,\n"
      "        strategy=nl.MegatronStrategy(tensor_model_parallel_size=1),\n"
      "        plugins=nl.MegatronMixedPrecision(precision=\"bf16-mixed\"))\n",
      "a.py");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_NEAR(double(count_parameters(*plan.draft.model).total()), 30.7e6, 0.1e6);
  EXPECT_EQ(resolve(plan.draft).world, 1);
  EXPECT_THAT(plan.draft.global_batch, Optional(16));
  EXPECT_THAT(plan.draft.micro_batch, Optional(4));  // MockDataModule's default
  EXPECT_THAT(plan.draft.zero, Optional(0));         // OptimizerConfig's default
  EXPECT_THAT(plan.draft.param_dtype, Optional(plan::Dtype::bf16));
  const PlanFile known = read(
      "from nemo.collections import llm\nargs = parse()\n"
      "model = llm.LlamaModel(run.Config(llm.Llama3Config8B))\n"
      "strategy = run.Config(nl.MegatronStrategy, tensor_model_parallel_size=2)\n",
      "a.py");
  EXPECT_THAT(known.draft.tp, Optional(2));
}

TEST(BridgePython, SettingsThroughAnAlias_AreRead) {
  const PlanFile plan = read(
      "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n"
      "cfg = llama3_8b_pretrain_config()\nmodel = cfg.model\n"
      "model.tensor_model_parallel_size = 4\ntrain = cfg.train\ntrain.global_batch_size = 64\n"
      "pretrain(config=cfg)\n",
      "a.py");
  EXPECT_THAT(plan.draft.tp, Optional(4));
  EXPECT_THAT(plan.draft.global_batch, Optional(64));
}

// The program states its settings; the script passes options, and has the ranks.
TEST(BridgePython, ProgramThatAScriptRuns_IsRead) {
  const FileReader files = [](const std::string& name) -> Result<std::string> {
    if (!name.ends_with("train.py")) return refuse_file(name);
    return "from megatron.bridge.recipes.qwen import qwen3_8b_peft_config\n"
           "def main(args):\n    cfg = qwen3_8b_peft_config()\n"
           "    cfg.model.tensor_model_parallel_size = args.tp\n    finetune(config=cfg)\n"
           "parser.add_argument('--tp', type=int, default=1)\n";
  };
  const PlanFile plan =
      read_any_plan("torchrun --nproc_per_node=4 train.py --tp 2\n", "run.sh", files);
  EXPECT_THAT(plan.draft.tp, Optional(2));
  ASSERT_TRUE(plan.draft.shape.has_value());
  EXPECT_EQ(plan.draft.shape->gpus, 4);
  EXPECT_EQ(plan.draft.model->name, "qwen3-8b");
}

// The file overrides the recipe, and the command line the file.
TEST(BridgeScript, ConfigThatACommandNames_IsRead) {
  const FileReader files = [](const std::string& name) -> Result<std::string> {
    if (!name.ends_with("conf/a.yaml")) return refuse_file(name);
    return "model: {tensor_model_parallel_size: 4}\n"
           "train: {global_batch_size: 128, micro_batch_size: 2}\n";
  };
  const std::string script =
      "torchrun --nproc_per_node=8 train.py --config-file /opt/x/conf/a.yaml "
      "model.tensor_model_parallel_size=2 train.train_iters=10\n";
  const PlanFile plan = read_any_plan(script, "examples/run.sh", files);
  EXPECT_THAT(plan.draft.tp, Optional(2));
  EXPECT_THAT(plan.draft.global_batch, Optional(128));
  EXPECT_THAT(plan.draft.micro_batch, Optional(2));
  EXPECT_THAT(read(script).findings, assumes("conf/a.yaml"));
}

TEST(NemoScript, OverridesOfAScriptThatIsRun_AreRead) {
  const FileReader files = [](const std::string& name) -> Result<std::string> {
    if (!name.ends_with("inner.sh")) return refuse_file(name);
    return ": ${PP:=8}\ntorchrun pretrain.py --config-name=x trainer.devices=8 "
           "model.tensor_model_parallel_size=$TP model.pipeline_model_parallel_size=$PP "
           "model.global_batch_size=32\n";
  };
  const PlanFile plan = read_any_plan("export TP=4\nexport PP=2\n./inner.sh\n", "run.sh", files);
  EXPECT_THAT(plan.draft.tp, Optional(4));
  EXPECT_THAT(plan.draft.pp, Optional(2));
  EXPECT_THAT(plan.draft.global_batch, Optional(32));
}

// NeMo-RL's examples take a config of their own if a command names none: Qwen2.5-1.5B, 512 tokens,
// 512 sequences in micro-batches of 4 (examples/configs/grpo_math_1B.yaml).
TEST(NemoRlScript, ConfigsOfItsOwn_AreKnown) {
  const PlanFile plan =
      read("uv run python examples/run_grpo_math.py cluster.num_nodes=1 cluster.gpus_per_node=8\n");
  EXPECT_FALSE(has_errors(plan.findings));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "qwen2.5-1.5b");
  EXPECT_THAT(plan.draft.sequence, Optional(512));
  EXPECT_THAT(plan.draft.global_batch, Optional(512));
  EXPECT_THAT(plan.draft.micro_batch, Optional(4));
  EXPECT_THAT(plan.findings, assumes("those of NeMo-RL v0.6.0"));
  // One that lies beside the script counts instead; others inherit it.
  const FileReader files =
      repository({{"examples/configs/grpo_math_1B.yaml",
                   "policy: {model_name: Qwen/Qwen2.5-7B, "
                   "train_global_batch_size: 64, dtensor_cfg: {enabled: true}}\n"
                   "cluster: {gpus_per_node: 8, num_nodes: 1}\ngrpo: {}\n"}});
  const PlanFile own =
      read("python examples/run_grpo_math.py policy.train_micro_batch_size=1\n", "run.sh", files);
  EXPECT_THAT(own.draft.global_batch, Optional(64));
  EXPECT_THAT(own.findings, Not(assumes("NeMo-RL v")));
}

TEST(NemoScript, ConfigBesideTheProgram_IsTakenIfNoneIsNamed) {
  const std::string script =
      "torchrun --nproc_per_node 8 examples/megatron_gpt_pretraining.py trainer.devices=8 "
      "trainer.num_nodes=1 model.tensor_model_parallel_size=2 model.global_batch_size=64\n";
  const FileReader files =
      repository({{"examples/conf/megatron_gpt_config.yaml",
                   "model:\n  encoder_seq_length: 256\n  num_layers: 4\n  hidden_size: 512\n"
                   "  ffn_hidden_size: '${multiply:3, ${.hidden_size}}'\n"
                   "  num_attention_heads: 8\n  micro_batch_size: 2\n"}});
  const PlanFile beside = read(script, "run.sh", files);
  EXPECT_THAT(beside.draft.sequence, Optional(256));
  EXPECT_THAT(beside.draft.micro_batch, Optional(2));
  ASSERT_TRUE(beside.draft.model.has_value());
  EXPECT_EQ(beside.draft.model->layer(0).ffn.width, 1536);  // 3 x 512
  // NeMo's own has 12 layers of 768 and 512 tokens.
  const PlanFile alone = read(script);
  ASSERT_TRUE(alone.draft.model.has_value());
  EXPECT_EQ(alone.draft.model->hidden, 768);
  EXPECT_THAT(alone.draft.sequence, Optional(512));
  EXPECT_THAT(alone.findings, assumes("conf/megatron_gpt_config.yaml of NeMo"));
}

// The options of scripts/performance/setup_experiment.py, long and short.
TEST(BridgeScript, Experiments_AreRead) {
  const PlanFile plan = read(
      "python3 scripts/performance/setup_experiment.py --gpu gb200 --model_name llama3 "
      "--model_size 8b -ng 16 -gn 4 -c bf16 -tp 2 --global_batch_size=64 -mb 1\n");
  EXPECT_FALSE(has_errors(plan.findings));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "llama-3-8b");
  EXPECT_EQ(resolve(plan.draft).world, 16);
  EXPECT_THAT(plan.draft.tp, Optional(2));
  EXPECT_THAT(plan.draft.global_batch, Optional(64));
  EXPECT_THAT(plan.draft.zero, Optional(1));
  EXPECT_THAT(plan.findings, assumes("for any GPU"));
}

TEST(BridgeScript, ConfigOfTheProgram_OverridesItsRecipe) {
  const PlanFile plan = read(
      "torchrun --nproc-per-node=2 pretrain.py --config-file conf/a.yaml "
      "train.micro_batch_size=2\n",
      "run.sh",
      repository({{"pretrain.py",
                   "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n"
                   "from megatron.bridge.training.pretrain import pretrain\n"
                   "def main():\n    cfg = llama3_8b_pretrain_config()\n    pretrain(cfg)\n"},
                  {"conf/a.yaml",
                   "model: {seq_length: 1024}\n"
                   "train: {global_batch_size: 6, micro_batch_size: 1}\n"}}));
  EXPECT_THAT(plan.draft.global_batch, Optional(6));
  EXPECT_THAT(plan.draft.micro_batch, Optional(2));
  EXPECT_THAT(plan.draft.sequence, Optional(1024));
}

TEST(BridgeYaml, ConfigThatOnlyInherits_IsRead) {
  const FileReader files =
      repository({{"base.yaml",
                   "recipe: {_target_: megatron.bridge.recipes.llama.llama3_8b_pretrain_config}\n"
                   "model: {tensor_model_parallel_size: 4, seq_length: 2048}\n"
                   "train: {micro_batch_size: 1, global_batch_size: 32}\n"}});
  const PlanFile plan = read("defaults: ../base.yaml\ncheckpoint: {save: x}\n", "a/b.yaml", files);
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.tp, Optional(4));
  EXPECT_THAT(plan.draft.global_batch, Optional(32));
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "llama-3-8b");
}

TEST(BridgeScript, ListOfModules_IsRead) {
  const PlanFile plan = read(kRecipe +
                             "train.global_batch_size=16 model.recompute_granularity=selective "
                             "model.recompute_modules=[moe,core_attn]\n");
  ASSERT_TRUE(plan.draft.recompute_modules.has_value());
  EXPECT_TRUE(plan.draft.recompute_modules->core_attn);
  EXPECT_TRUE(plan.draft.recompute_modules->moe);
}

// megatron_gpt_model.py of NeMo 1.x drops a tenth of the attention's scores unless told otherwise.
TEST(NemoYaml, DropoutThatIsLeftOut_IsReported) {
  const std::string text =
      "trainer: {num_nodes: 1, devices: 8, precision: bf16}\nmodel:\n  micro_batch_size: 1\n"
      "  global_batch_size: 8\n  tensor_model_parallel_size: 2\n  encoder_seq_length: 512\n"
      "  num_layers: 4\n  hidden_size: 512\n  num_attention_heads: 8\n"
      "  megatron_amp_O2: true\n  transformer_engine: false\n  data: {data_impl: mmap}\n";
  const PlanFile plan = read(text, "gpt.yaml");
  EXPECT_EQ(resolve(plan.draft).software.attention, plan::AttentionKernel::unfused);
  EXPECT_THAT(plan.findings, left_out("attention-dropout 0.1, by default"));
  EXPECT_THAT(read(text + "  attention_dropout: 0.0\n", "gpt.yaml").findings,
              Not(left_out("attention-dropout")));
}

}  // namespace recipe_script_test
}  // namespace rankwright::importer
