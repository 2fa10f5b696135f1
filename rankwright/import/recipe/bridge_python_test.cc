#include <gmock/gmock.h>

#include "rankwright/import/plan/plan_format.h"

namespace rankwright::importer {
namespace bridge_python_test {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
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

}  // namespace bridge_python_test
}  // namespace rankwright::importer
