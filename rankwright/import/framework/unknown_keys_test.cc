#include "rankwright/import/framework/unknown_keys.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "rankwright/import/framework/recipes.h"
#include "rankwright/import/plan/plan_format.h"

namespace rankwright::importer {
namespace unknown_keys_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

PlanFile read_as(std::string_view format, std::string text, const std::string& name = "config") {
  return read_plan_as(*find_plan_format(format), std::move(text), name, refuse_file);
}

/// Returns the findings about unknown keys.
Diagnostics find_unknown(const PlanFile& plan) {
  Diagnostics all;
  for (const Diagnostic& found : plan.findings)
    if (found.code == "RW0617" || found.code == "RW0618") all.push_back(found);
  return all;
}

const std::string kMegatron =
    "torchrun --nproc-per-node 8 pretrain_gpt.py --num-layers 24 --hidden-size 2048 "
    "--num-attention-heads 16 --micro-batch-size 1 --bf16 ";

// A quoted command ends with a semicolon, which is not a part of its last flag.
TEST(UnknownKeys, SemicolonAfterAFlag_IsNotPartOfIt) {
  const PlanFile plan = read_as(
      "megatron",
      "CMD=\"pretrain_gpt.py --num-layers 24 --hidden-size 2048 --micro-batch-size 1 --bf16;\"\n"
      "torchrun $CMD\n");
  EXPECT_THAT(find_unknown(plan), IsEmpty());
  EXPECT_EQ(plan.draft.param_dtype, plan::Dtype::bf16);
}

struct Typo {
  std::string_view format;
  std::string text;
  std::string typed, meant;
  std::string_view plan_key;
  int line;
};

// One mistyped key each. Without a finding the plan silently is another one.
TEST(UnknownKeys, TypoOfAKeyThatMatters_IsAWarningWithTheRightName) {
  const Typo typos[] = {
      {"megatron", kMegatron + "\\\n --use-distributed-optimiser\n", "--use-distributed-optimiser",
       "--use-distributed-optimizer", "parallelism.zero_stage", 2},
      {"megatron", kMegatron + "\\\n --sequence_paralel --lr 1\n", "--sequence-paralel",
       "--sequence-parallel", "parallelism.sequence_parallel", 2},
      {"megatron", kMegatron + "\\\n --tensor-parallel-size 8\n", "--tensor-parallel-size",
       "--tensor-model-parallel-size", "parallelism.tp_size", 2},
      {"megatron", kMegatron + "\\\n --ffn-hiden-size 5504\n", "--ffn-hiden-size",
       "--ffn-hidden-size", "model", 2},
      {"torchtitan-0.2", "[parallelism]\ntensor_paralel_degree = 8\n", "tensor_paralel_degree",
       "tensor_parallel_degree", "parallelism.tp_size", 2},
      {"deepspeed", "{\"train_batch_size\": 8,\n\"zero_optimization\": {\"stge\": 3}}", "stge",
       "stage", "parallelism.zero_stage", 2},
      {"deepspeed", "{\"train_batch_size\": 8,\n\"zero_optimisation\": {\"stage\": 3}}",
       "zero_optimisation", "zero_optimization", "", 2},
      {"nanotron", "tokens: {micro_batch_size: 1}\nparallelism: {dp: 2, tp_engine: 1f1b}\n",
       "tp_engine", "pp_engine", "parallelism.schedule", 2},
      {"accelerate", "distributed_type: FSDP\nfsdp_config: {fsdp_reshard_after_foward: false}\n",
       "fsdp_reshard_after_foward", "fsdp_reshard_after_forward", "parallelism.zero_stage", 2},
  };
  for (const Typo& typo : typos) {
    const Diagnostics found = find_unknown(read_as(typo.format, typo.text));
    ASSERT_EQ(found.size(), 1u) << typo.typed;
    EXPECT_EQ(found[0].code, "RW0617") << typo.typed;
    EXPECT_EQ(found[0].severity, Severity::warning) << typo.typed;
    EXPECT_EQ(found[0].respelling, (Respelling{typo.typed, typo.meant}));
    EXPECT_EQ(found[0].key, typo.plan_key) << typo.typed;
    EXPECT_EQ(found[0].where.line, typo.line) << typo.typed;
  }
}

TEST(UnknownKeys, RightNameInTheWrongPlace_NamesThePlace) {
  const Diagnostics found = find_unknown(read_as("deepspeed", "{\"stage\": 3, \"bf16\": {}}"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "RW0617");
  EXPECT_EQ(found[0].key, "parallelism.zero_stage");
  EXPECT_EQ(found[0].respelling, std::nullopt);  // another word does not mend it
}

TEST(UnknownKeys, KeysOfAFork_AreOneNote) {
  const PlanFile plan = read_as("megatron", kMegatron + "--frobnicate 3 --our-telemetry-port 7\n");
  const Diagnostics found = find_unknown(plan);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "RW0618");
  EXPECT_EQ(found[0].severity, Severity::note);
  EXPECT_THAT(plan.ignored_keys, ElementsAre("frobnicate", "our-telemetry-port"));
}

TEST(UnknownKeys, FlagsOfOtherPrograms_AreNotReported) {
  const PlanFile plan = read_as("megatron", "mkdir --parents out\nsrun --container-imgae x " +
                                                kMegatron + "\ngit clone --dept 1 x\n");
  EXPECT_THAT(find_unknown(plan), IsEmpty());
}

TEST(UnknownKeys, Remarks_AreNotReported) {
  EXPECT_THAT(find_unknown(read_as("deepspeed",
                                   "{\"train_batch_size\": 8, \"_why\": \"x\", "
                                   "\"comment\": \"y\"}")),
              IsEmpty());
}

TEST(UnknownKeys, ArgumentDump_IsNotSearchedForTypos) {
  EXPECT_THAT(find_unknown(read_as("megatron",
                                   "  tensor_model_parallel_size ........ 2\n"
                                   "  consumed_train_samples ............ 0\n")),
              IsEmpty());
}

/// Returns a config of the format that states these keys.
std::string write_config(std::string_view list, const std::vector<std::string>& keys) {
  std::string text;
  if (list == "megatron") {
    text = kMegatron;
    for (const std::string& key : keys) text += "--" + key + " ";
    return text + "\n";
  }
  if (list == "openrlhf") {
    text = "deepspeed --module openrlhf.cli.train_sft --micro_train_batch_size 2 --zero_stage 2 ";
    for (const std::string& key : keys) text += "--" + key + " ";
    return text + "\n";
  }
  if (list == "torchtitan") {
    for (const std::string& key : keys) text += key + " = 1\n";
    return text;
  }
  nlohmann::json root = nlohmann::json::object();
  if (list == "easyr1") root["worker"]["actor"]["micro_batch_size_per_device_for_update"] = 4;
  for (const std::string& key : keys) {
    std::string pointer = "/" + key;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    root[nlohmann::json::json_pointer(pointer)] = 1;
  }
  return root.dump();
}

/// Formats most of whose keys are data and logging, which are ignored without a list.
constexpr std::string_view kUnlisted[] = {"verl",        "easyr1",  "maxtext",
                                          "llm-foundry", "nemo-rl", "automodel"};

// The lists say what does not matter: a listed key is ignored and gives no finding. A key that a
// reader's table has must not be listed.
TEST(KnownKeys, EveryListedKey_IsIgnoredInSilence) {
  std::size_t checked = 0;
  for (const std::string_view list : list_known_key_files()) {
    std::vector<std::string> keys;
    for (const std::string_view path : KnownKeys::find(list).paths())
      keys.emplace_back(path.ends_with(".*") ? std::string(path.substr(0, path.size() - 1)) + "x"
                                             : std::string(path));
    constexpr std::size_t kTogether = 200;  // files have at most 1,000 flags
    for (std::size_t begin = 0; begin < keys.size(); begin += kTogether) {
      const std::vector<std::string> some(
          keys.begin() + long(begin),
          keys.begin() + long(std::min(begin + kTogether, keys.size())));
      const bool unlisted =
          std::find(std::begin(kUnlisted), std::end(kUnlisted), list) != std::end(kUnlisted);
      const std::string format = list == "torchtitan" ? "torchtitan-0.2"
                                 : list == "easyr1"   ? "verl"
                                                      : std::string(list);
      const PlanFile plan =
          read_as(format, write_config(list, some), unlisted ? "config.yaml" : "config");
      EXPECT_THAT(find_unknown(plan), IsEmpty()) << list;
      std::vector<std::string> read;
      const std::vector<std::string>& ignored = plan.ignored_keys;
      for (const std::string& key : some) {
        // The keys that tools of the Trainer and of recipes ignore are not listed.
        const bool silent =
            list == "fine-tuning"
                ? !has_row(fine_tuning_keys(), key)
                : unlisted || std::find(ignored.begin(), ignored.end(), key) != ignored.end();
        if (!silent) read.push_back(key);
      }
      EXPECT_THAT(read, IsEmpty()) << list << ": take them off the list";
      checked += some.size();
    }
  }
  EXPECT_GT(checked, 1500u);
}

TEST(KnownKeys, MapThatIsListedAsAWhole_ContainsItsKeys) {
  const KnownKeys keys("# a remark\na.b\nc.*\n");
  EXPECT_TRUE(keys.contains("a.b"));
  EXPECT_TRUE(keys.contains("c.d.e"));
  EXPECT_FALSE(keys.contains("a"));
  EXPECT_FALSE(keys.contains("a.bc"));
  EXPECT_FALSE(keys.contains("cd"));
}

// Real files of each framework, as tests/data/import has them.
TEST(UnknownKeys, RealFiles_HaveNone) {
  const char* const files[] = {"accelerate-fsdp2.yaml",
                               "deepspeed-zero2.json",
                               "deepspeed-trainer-auto.json",
                               "nanotron-tinyllama.yaml",
                               "torchtitan-llama3-70b.toml",
                               "torchtitan-pipeline.toml",
                               "megatron_deepseek_v3.sh",
                               "megatron_gpt3_175b.sh",
                               "megatron_llama3_8b_cp.sh",
                               "megatron_mixtral_ep.sh",
                               "megatron_8b.log"};
  for (const char* const name : files) {
    const Result<std::string> text =
        read_file(RANKWRIGHT_SOURCE_DIR "/tests/data/import/" + std::string(name));
    ASSERT_TRUE(text.has_value()) << name;
    EXPECT_THAT(find_unknown(read_any_plan(*text, name, refuse_file)), IsEmpty()) << name;
  }
}

}  // namespace unknown_keys_test
}  // namespace rankwright::importer
