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
  plan::Offload offload;
};

TEST(Offload, EveryFrameworksSetting_IsRead) {
  const std::string megatron = "pretrain_gpt.py --num-layers 2 --hidden-size 64 --bf16 ";
  const plan::Offload optimizer{.optimizer = 1}, parameters{.parameters = true},
      both{.optimizer = 1, .parameters = true};
  const Case cases[] = {
      {"deepspeed",
       "{\"zero_optimization\": {\"stage\": 2, \"offload_optimizer\": {\"device\": \"cpu\"}}}",
       "{\"zero_optimization\": {\"stage\": 2, \"offload_optimizer\": {\"device\": \"none\"}}}",
       optimizer},
      {"deepspeed",
       "{\"zero_optimization\": {\"stage\": 3, \"offload_param\": {\"device\": \"cpu\"}}}",
       "{\"zero_optimization\": {\"stage\": 3}}", parameters},
      {"deepspeed",
       "{\"zero_optimization\": {\"stage\": 3, \"offload_param\": {\"device\": \"nvme\", "
       "\"nvme_path\": \"/local_nvme\"}}}",
       "{\"zero_optimization\": {\"stage\": 3, \"offload_param\": {\"device\": \"none\", "
       "\"nvme_path\": \"/local_nvme\"}}}",
       {.parameters = true, .nvme = plan::NvmeStates::parameters, .nvme_path = "/local_nvme"}},
      {"deepspeed",
       "{\"zero_optimization\": {\"stage\": 3, \"offload_optimizer\": {\"device\": \"nvme\", "
       "\"nvme_path\": \"/a\"}, \"offload_param\": {\"device\": \"nvme\", \"nvme_path\": \"/a\"}}}",
       "{\"zero_optimization\": {\"stage\": 3}}",
       {.optimizer = 1, .parameters = true, .nvme = plan::NvmeStates::all, .nvme_path = "/a"}},
      {"accelerate",
       "distributed_type: DEEPSPEED\ndeepspeed_config: {zero_stage: 3, offload_optimizer_device: "
       "nvme, offload_optimizer_nvme_path: /nvme, offload_param_device: cpu, "
       "offload_param_nvme_path: none}\n",
       "distributed_type: DEEPSPEED\ndeepspeed_config: {zero_stage: 3, offload_optimizer_device: "
       "none, offload_optimizer_nvme_path: none}\n",
       {.optimizer = 1,
        .parameters = true,
        .nvme = plan::NvmeStates::optimizer,
        .nvme_path = "/nvme"}},
      {"deepspeed",
       "{\"activation_checkpointing\": {\"cpu_checkpointing\": true}}",
       "{}",
       {.activations = true}},
      {"megatron", megatron + "--optimizer-cpu-offload\n", megatron + "\n", optimizer},
      {"megatron",
       megatron + "--optimizer-cpu-offload --optimizer-offload-fraction 0.25\n",
       megatron + "--optimizer-offload-fraction 0.25\n",
       {.optimizer = 0.25}},
      {"torchtitan-0.2",
       "[training]\nenable_cpu_offload = true\n[activation_checkpoint]\nmode = \"none\"\n",
       "[training]\nenable_cpu_offload = false\n", both},
      {"accelerate", "distributed_type: FSDP\nfsdp_config: {fsdp_offload_params: true}\n",
       "distributed_type: FSDP\nfsdp_config: {fsdp_offload_params: false}\n", both},
  };
  for (const Case& one : cases) {
    const PlanFile on = read(one.format, one.on), off = read(one.format, one.off);
    EXPECT_EQ(resolve(on.draft).plan.offload, one.offload) << one.on;
    EXPECT_EQ(resolve(off.draft).plan.offload, plan::Offload{}) << one.off;
    for (const Diagnostic& found : on.findings) EXPECT_NE(found.code, "RW0601") << one.on;
  }
}

TEST(Offload, PrecisionAwareOptimizer_ItsFormats) {
  const std::string flags =
      "pretrain_gpt.py --num-layers 2 --hidden-size 64 --bf16 --exp-avg-dtype bf16 "
      "--exp-avg-sq-dtype bf16 --main-params-dtype fp16";
  EXPECT_EQ(resolve(read("megatron", flags + "\n").draft).job.optimizer_bytes(), 12);
  // Two moments of 2 bytes and a copy of 2 bytes.
  EXPECT_EQ(resolve(read("megatron", flags + " --use-precision-aware-optimizer\n").draft)
                .job.optimizer_bytes(),
            6);
}

/// Returns the details of what is reported about a DeepSpeed file with that optimizer offload.
std::string read_optimizer_offload(const std::string& offload, const std::string& more = "") {
  const PlanFile file = read("deepspeed", "{\"zero_optimization\": {\"stage\": 3, " + more +
                                              "\"offload_optimizer\": {" + offload + "}}}");
  std::string all;
  for (const Diagnostic& found : file.findings) all += found.detail + "\n";
  return all;
}

TEST(Offload, Nvme_ReportsWhatTheEstimateDoesNotFollow) {
  using ::testing::HasSubstr;
  const std::string nvme = "\"device\": \"nvme\", \"nvme_path\": \"/a\"",
                    big = "\"sub_group_size\": 1e9, ";
  EXPECT_THAT(read_optimizer_offload(nvme + ", \"pipeline_read\": true"),
              HasSubstr("one after another"));
  EXPECT_THAT(read_optimizer_offload(nvme, big), HasSubstr("sub-groups of 100,000,000"));
  EXPECT_EQ(read_optimizer_offload("\"device\": \"cpu\", \"pipeline_read\": true", big), "");
  EXPECT_THAT(read_optimizer_offload("\"device\": \"nvme\", \"nvme_path\": \"" +
                                     std::string(300, 'a') + "\""),
              HasSubstr("at most 255 characters"));
}

/// Returns the codes of RW02.. for a model of 70 B parameters on 8 GPUs of 80 GB.
std::vector<std::string> memory_codes(const std::string& offload) {
  const PlanFile file = read_plan(
      "model: llama-3.1-70b\ncluster: dgx-a100 x 1\njob: {sequence: 2048}\n"
      "parallelism: {dp_size: 8, order: tp-dp-pp, recompute: full, zero_stage: 3" +
          offload + "}\n",
      "plan.yaml", refuse_file);
  EXPECT_TRUE(file.findings.empty());
  std::vector<std::string> codes;
  for (const Diagnostic& found : lint(resolve(file.draft), rules::Target::any))
    if (found.code.starts_with("RW02"))
      codes.push_back(std::string(found.code) +
                      (found.severity == Severity::error ? " error" : ""));
  return codes;
}

// 70.6 B x 18 bytes / 8 = 159 GB do not fit 80 GB; without the optimizer's 12 bytes, 53 GB do.
TEST(Offload, PlanThatDoesNotFit_FitsWithItsOptimizerOnTheHost) {
  EXPECT_THAT(memory_codes(""), ::testing::Contains("RW0201 error"));
  EXPECT_THAT(memory_codes(", offload: {optimizer: true}"), ::testing::ElementsAre("RW0205"));
}

}  // namespace offload_test
}  // namespace rankwright::importer
