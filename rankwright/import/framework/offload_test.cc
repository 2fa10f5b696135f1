// States in the host's memory: every framework's setting is read, and none is a warning by itself.
#include <gmock/gmock.h>

#include "rankwright/import/plan/plan_format.h"
#include "rankwright/rules/rule.h"

namespace rankwright::importer {
namespace offload_test {

PlanFile read(std::string_view format, std::string text) {
  return read_plan_as(*find_plan_format(format), std::move(text), "config", refuse_file);
}

struct Case {
  std::string_view format;
  std::string on, off;
};

TEST(Offload, EveryFrameworksSetting_IsRead) {
  const std::string megatron = "pretrain_gpt.py --num-layers 2 --hidden-size 64 --bf16 ";
  const Case cases[] = {
      {"deepspeed",
       "{\"zero_optimization\": {\"stage\": 2, \"offload_optimizer\": {\"device\": \"cpu\"}}}",
       "{\"zero_optimization\": {\"stage\": 2, \"offload_optimizer\": {\"device\": \"none\"}}}"},
      {"deepspeed",
       "{\"zero_optimization\": {\"stage\": 3, \"offload_param\": {\"device\": \"nvme\"}}}",
       "{\"zero_optimization\": {\"stage\": 3}}"},
      {"megatron", megatron + "--optimizer-cpu-offload\n", megatron + "\n"},
      {"torchtitan-0.2", "[training]\nenable_cpu_offload = true\n",
       "[training]\nenable_cpu_offload = false\n"},
      {"accelerate", "distributed_type: FSDP\nfsdp_config: {fsdp_offload_params: true}\n",
       "distributed_type: FSDP\nfsdp_config: {fsdp_offload_params: false}\n"},
  };
  for (const Case& one : cases) {
    const PlanFile on = read(one.format, one.on), off = read(one.format, one.off);
    EXPECT_EQ(on.draft.offload, true) << one.on;
    EXPECT_NE(off.draft.offload, true) << one.off;
    for (const Diagnostic& found : on.findings) EXPECT_NE(found.code, "RW0601") << one.on;
    EXPECT_GE(on.where("software.offload").line, 1) << one.on;
  }
}

/// Returns the codes of RW02.. for a model of 70 B parameters on 8 GPUs of 80 GB.
std::vector<std::string> memory_codes(const std::string& software) {
  const PlanFile file = read_plan(
      "model: llama-3.1-70b\ncluster: dgx-a100 x 1\njob: {sequence: 2048}\n"
      "parallelism: {dp_size: 8, order: tp-dp-pp, zero_stage: 3}\n" +
          software,
      "plan.yaml", refuse_file);
  EXPECT_TRUE(file.findings.empty());
  std::vector<std::string> codes;
  for (const Diagnostic& found : lint(resolve(file.draft), rules::Target::any))
    if (found.code.starts_with("RW02"))
      codes.push_back(std::string(found.code) +
                      (found.severity == Severity::error ? " error" : ""));
  return codes;
}

// 70.6 B x 18 bytes / 8 = 159 GB do not fit 80 GB, but the optimizer's part is in host memory.
TEST(Offload, PlanThatDoesNotFit_IsANoteInsteadOfAnError) {
  EXPECT_THAT(memory_codes(""), ::testing::Contains("RW0201 error"));
  EXPECT_THAT(memory_codes("software: {offload: true}\n"), ::testing::ElementsAre("RW0205"));
}

}  // namespace offload_test
}  // namespace rankwright::importer
