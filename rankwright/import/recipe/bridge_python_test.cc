#include <gmock/gmock.h>

#include "rankwright/import/plan/plan_format.h"

namespace rankwright::importer {
namespace bridge_python_test {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

const std::string kProgram =
    "from megatron.bridge import AutoBridge\n\n"
    "def make_config():\n"
    "    \"\"\"One config.\n    cfg.train.micro_batch_size = 7\n    \"\"\"\n"
    "    cfg = _pretrain_common()\n"
    "    name = \"Qwen/Qwen3-8B\"\n"
    "    cfg.model = AutoBridge.from_hf_pretrained(name).to_megatron_provider()\n"
    "    cfg.model.seq_length = 2_048  # tokens\n"
    "    cfg.model.tensor_model_parallel_size = 2\n"
    "    cfg.train.micro_batch_size = 1\n"
    "    cfg.train.global_batch_size = 16\n"
    "    cfg.mixed_precision = \"bf16_mixed\"\n";

PlanFile read(const std::string& text) { return read_any_plan(text, "train.py", refuse_file); }

TEST(BridgePython, AssignmentsAreRead) {
  const PlanFile plan = read(kProgram + "    return cfg\n");
  EXPECT_EQ(plan.format->name, "megatron");
  EXPECT_FALSE(has_errors(plan.findings)) << plan.findings[0].detail;
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "qwen3-8b");
  EXPECT_THAT(plan.draft.tp, Optional(2));
  EXPECT_THAT(plan.draft.sequence, Optional(2048));
  EXPECT_THAT(plan.draft.micro_batch, Optional(1));
  EXPECT_THAT(plan.draft.global_batch, Optional(16));
  EXPECT_THAT(plan.draft.zero, Optional(1));  // the recipes' default
  EXPECT_THAT(plan.draft.param_dtype, Optional(plan::Dtype::bf16));
  EXPECT_EQ(plan.where("parallelism.tp_size").line, 11);
}

TEST(BridgePython, ValuesOfARunningProgram_AreOpen) {
  const PlanFile plan =
      read(kProgram + "    if big:\n        cfg.model.pipeline_model_parallel_size = 4\n" +
           "    cfg.model.context_parallel_size = count()\n");
  EXPECT_FALSE(plan.draft.pp.has_value());
  EXPECT_FALSE(plan.draft.cp.has_value());
  for (const char* const flag : {"pipeline-model-parallel-size", "context-parallel-size"})
    EXPECT_THAT(plan.findings, Contains(AllOf(Field(&Diagnostic::code, "RW0614"),
                                              Field(&Diagnostic::detail, HasSubstr(flag)))));
}

// A file with several configs has one plan.
TEST(BridgePython, FirstFunctionIsRead) {
  const PlanFile plan = read(kProgram + "\ndef other():\n    cfg.train.global_batch_size = 99\n");
  EXPECT_THAT(plan.draft.global_batch, Optional(16));
  EXPECT_THAT(plan.findings, Contains(AllOf(Field(&Diagnostic::code, "RW0615"),
                                            Field(&Diagnostic::detail, HasSubstr("several")))));
}

auto has_finding(const std::string& code, const std::string& detail) {
  return Contains(
      AllOf(Field(&Diagnostic::code, code), Field(&Diagnostic::detail, HasSubstr(detail))));
}

const std::string kWithParameters =
    "from megatron.bridge.recipes.common import _sft_common\n\n"
    "def my_config(\n    path: str = \"Qwen/Qwen3-8B\",\n    tp: int = 4,\n"
    "    cp: int = 1,\n    seq_length: int = 8192,\n    gbs: int = 128,\n    **kwargs):\n"
    "    cfg = _sft_common()\n"
    "    cfg.model = AutoBridge.from_hf_pretrained(path).to_megatron_provider()\n"
    "    cfg.model.tensor_model_parallel_size = tp\n    cfg.model.seq_length = seq_length\n"
    "    cfg.train.global_batch_size = gbs\n    cfg.train.micro_batch_size = 1\n"
    "    cfg.optimizer = make_optimizer()\n    cfg.model.attention_backend = \"flash_attn\"\n"
    "    if cp > 1 or seq_length <= 8192:\n"
    "        cfg.model.recompute_granularity = \"selective\"\n"
    "    else:\n        cfg.model.recompute_granularity = \"full\"\n    return cfg\n";

TEST(BridgePython, Parameters_HaveTheirDefaults) {
  const PlanFile plan = read(kWithParameters);
  EXPECT_FALSE(has_errors(plan.findings));  // the framework knows its attention backends
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "qwen3-8b");
  EXPECT_THAT(plan.draft.tp, Optional(4));
  EXPECT_THAT(plan.draft.sequence, Optional(8192));
  EXPECT_THAT(plan.draft.global_batch, Optional(128));
  EXPECT_THAT(plan.draft.recompute, Optional(plan::Recompute::selective));
  EXPECT_THAT(plan.findings, has_finding("RW0615", "tp = 4"));
  EXPECT_THAT(plan.findings, Not(has_finding("RW0614", "")));
}

TEST(BridgePython, CallInTheFile_PassesParameters) {
  const PlanFile plan = read(kWithParameters + "\ncfg = my_config(tp=2, seq_length=read())\n");
  EXPECT_THAT(plan.draft.tp, Optional(2));
  EXPECT_FALSE(plan.draft.sequence.has_value());
  EXPECT_THAT(plan.findings, has_finding("RW0614", "seq-length"));
  EXPECT_THAT(plan.findings, Not(has_finding("RW0615", "tp = ")));
}

TEST(BridgePython, OptionsOfTheCommandLine_HaveTheirDefaults) {
  const PlanFile plan = read(
      "import megatron.bridge\n\ndef parse():\n    parser.add_argument(\"--tensor-parallel\", "
      "\"-t\", type=int, default=2)\n    return parser.parse_args()\n\ndef main():\n"
      "    args = parse()\n    cfg.model.tensor_model_parallel_size = args.tensor_parallel\n"
      "    cfg.train.micro_batch_size = args.other\n");
  EXPECT_THAT(plan.draft.tp, Optional(2));
  EXPECT_THAT(plan.findings, has_finding("RW0615", "tensor_parallel = 2"));
  EXPECT_THAT(plan.findings, has_finding("RW0614", "micro-batch-size"));
}

// Megatron-Bridge's own recipes are named by the function that makes them.
TEST(BridgePython, RecipeThatIsCalled_NamesTheModel) {
  const PlanFile plan = read(
      "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n\ndef main():\n"
      "    cfg = llama3_8b_pretrain_config(seq_length=4096)\n"
      "    cfg.train.micro_batch_size = 1\n    cfg.train.global_batch_size = 64\n");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "llama-3-8b");
  EXPECT_THAT(plan.draft.sequence, Optional(4096));
  EXPECT_THAT(plan.findings,
              has_finding("RW0615", "as the recipe llama3_8b_pretrain_config has them"));
}

const std::string kNemo =
    "recipe = llm.llama3_8b.finetune_recipe(name=\"x\", num_nodes=1, num_gpus_per_node=8, "
    "peft_scheme=\"none\")\n";

TEST(NemoProgram, DataIsThatOfAVariableOrAFunction) {
  const std::string head = "from nemo.collections import llm\n";
  const std::string made =
      "run.Config(Data, seq_length=length, micro_batch_size=2, "
      "global_batch_size=16)\n";
  const auto expect_data = [](const PlanFile& plan) {
    EXPECT_THAT(plan.draft.sequence, Optional(2048));
    EXPECT_THAT(plan.draft.micro_batch, Optional(2));
    EXPECT_THAT(plan.draft.global_batch, Optional(16));
  };
  expect_data(read(head + "length = 2048\nd = " + made + kNemo + "recipe.data = d\n"));
  const std::string function = "def data(length: int = 2048):\n    ";
  expect_data(read(head + function + "return " + made + kNemo + "recipe.data = data()\n"));
  expect_data(read(head + function + "d = " + made + "    return d\n" + kNemo +
                   "recipe.data = data(length=2048)\n"));
}

// NeMo's examples choose from a table of recipes.
TEST(NemoPython, FirstRecipeOfATable_IsAssumed) {
  const PlanFile plan = read(
      "from nemo.collections import llm\nfrom functools import partial\n"
      "SIZES = {\n    '8b': partial(llm.llama3_8b.pretrain_recipe, num_nodes=1, "
      "num_gpus_per_node=8),\n    '70b': partial(llm.llama3_70b.pretrain_recipe, "
      "num_nodes=4),\n}\n");
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->name, "llama-3-8b");
  EXPECT_EQ(resolve(plan.draft).world, 8);
  EXPECT_THAT(plan.findings, Contains(Field(&Diagnostic::detail, HasSubstr("using the first"))));
}

TEST(NemoPython, TrainerOfARecipe_IsRead) {
  const PlanFile plan = read(
      "from nemo.collections.llm.recipes import mixtral_8x7b\n"
      "def pretrain_recipe(num_nodes: int = 2):\n"
      "    recipe = mixtral_8x7b.pretrain_recipe(num_nodes=num_nodes)\n"
      "    model = mixtral_8x7b.model()\n    model.config.seq_length = 16384\n"
      "    trainer = mixtral_8x7b.trainer(tensor_parallelism=2, pipeline_parallelism=4, "
      "context_parallelism=2, expert_parallelism=2)\n"
      "    recipe.model = model\n    recipe.trainer = trainer\n    return recipe\n");
  EXPECT_THAT(plan.draft.tp, Optional(2));
  EXPECT_THAT(plan.draft.pp, Optional(4));
  EXPECT_THAT(plan.draft.cp, Optional(2));
  EXPECT_THAT(plan.draft.ep, Optional(2));
  EXPECT_THAT(plan.draft.sequence, Optional(16384));
}

// An option reaches the data module as a parameter of a function. A value that is not known hides
// the default of its class.
TEST(NemoPython, OptionsBehindParameters_AreFollowed) {
  const std::string code =
      "from nemo.collections import llm\nimport nemo_run as run\n"
      "parser.add_argument('--gbs', type=int, default=96)\nargs = parser.parse_args()\n"
      "def get_data(gbs, mbs):\n"
      "    return run.Config(llm.PreTrainingDataModule, global_batch_size=gbs, "
      "micro_batch_size=mbs)\n"
      "def main():\n    data = get_data(gbs=args.gbs, mbs=unknown())\n"
      "    strategy = run.Config(nl.MegatronStrategy, tensor_model_parallel_size=2)\n";
  const PlanFile plan = read(code);
  EXPECT_THAT(plan.draft.global_batch, Optional(96));
  EXPECT_NE(plan.draft.micro_batch, 4);
}

// The ranks of an option are open by its default: no error rests on them.
TEST(NemoPython, DefaultOfTheNodes_IsNoError) {
  const PlanFile plan = read(
      "from nemo.collections import llm\nparser.add_argument('--num-nodes', default=1)\n"
      "args = parser.parse_args()\n"
      "def main():\n    s = nl.MegatronStrategy(tensor_model_parallel_size=4, "
      "pipeline_model_parallel_size=4)\n"
      "    t = nl.Trainer(devices=8, num_nodes=args.num_nodes, strategy=s)\n");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_EQ(plan.draft.shape, std::nullopt);
}

TEST(BridgePython, ConstantsAreDefaultsOfOptions) {
  const PlanFile plan = read(
      "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n"
      "from megatron.bridge.training.pretrain import pretrain\nBATCH = 48\n"
      "parser.add_argument('--gbs', type=int, default=BATCH)\nargs = parser.parse_args()\n"
      "cfg = llama3_8b_pretrain_config()\ncfg.train.global_batch_size = args.gbs\npretrain(cfg)\n");
  EXPECT_THAT(plan.draft.global_batch, Optional(48));
}

}  // namespace bridge_python_test
}  // namespace rankwright::importer
