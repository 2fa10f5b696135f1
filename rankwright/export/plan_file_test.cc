#include "rankwright/export/plan_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "rankwright/import/plan/hf_config.h"
#include "rankwright/import/plan/plan_file.h"
#include "rankwright/import/plan/plan_keys.h"
#include "tests/support/any_config.h"
#include "tests/support/finding_lines.h"
#include "tests/support/runs.h"
#include "tests/support/typed_configs.h"

namespace rankwright::exporter {
namespace plan_file_test {

/// Returns what differs after writing and reading `config`; empty if nothing does.
std::string find_differences(const plan::TrainingConfig& config) {
  const std::string text = write_plan_yaml(config);
  const importer::PlanFile file = importer::read_plan(text, "written.yaml", importer::refuse_file);
  if (!file.findings.empty()) return format_findings(file.findings) + text;
  const rankwright::plan::TrainingConfig again = resolve(file.draft);
  std::string differs;
  const auto compare = [&](std::string_view what, bool same) {
    if (!same) differs += std::string(what) + " ";
  };
  compare("model", again.model == config.model);
  compare("cluster", again.cluster == config.cluster);
  compare("job", again.job == config.job);
  compare("plan", again.plan == config.plan);
  compare("software", again.software == config.software);
  compare("world", again.world == config.world);
  compare("reference", again.reference_model == config.reference_model);
  compare("bytes", write_plan_yaml(again) == text);
  for (const plan::Assumption& assumption : again.assumed)
    compare(assumption.key, assumption.key == "model" && config.reference_model);
  return differs.empty() ? "" : differs + "\n" + text;
}

/// Returns a config on one node with data parallelism only, to be changed by tests.
plan::TrainingConfig simple_config() {
  return config_of(
      "world_size: 8\n"
      "model: llama-3.1-8b\n"
      "cluster: dgx-h100\n"
      "job: {global_batch: 64, sequence: 8192}\n");
}

TEST(PlanYaml, DefaultConfig_WritesOnlyMeaningfulKeys) {
  EXPECT_EQ(write_plan_yaml(simple_config()),
            "world_size: 8\n"
            "node_shape: 1_node_x_8_gpus\n"
            "parallelism:\n"
            "  tp_size: 1\n"
            "  pp_size: 1\n"
            "  dp_size: 8\n"
            "  order: tp-cp-ep-dp-pp\n"
            "  zero_stage: 0\n"
            "  micro_batch: 1\n"
            "  recompute: none\n"
            "placement: block\n"
            "model: llama-3.1-8b\n"
            "cluster: dgx-h100\n"
            "job:\n"
            "  global_batch: 64\n"
            "  sequence: 8192\n"
            "  param_dtype: bf16\n"
            "  grad_dtype: fp32\n"
            "  optimizer: adam\n"
            "software:\n"
            "  framework: megatron-core\n");
}

TEST(PlanYaml, NonDefaultSettings_AreWritten) {
  rankwright::plan::TrainingConfig config = simple_config();
  config.cluster.levels.front().bandwidth = 0.25 * config.cluster.levels.front().bandwidth;
  config.cluster.name = "slow: #1";
  config.plan = {.tp = 2, .dp = 2, .pp = 2, .order = config.plan.order, .zero = 3};
  config.plan.etp = 2;
  config.plan.stages = *plan::parse_layout("Et*20|t*12L");
  config.plan.recompute = plan::Recompute::full;
  config.plan.recompute_layers = 4;
  config.plan.overlap.pp = true;
  config.plan.placement = {.kind = mesh::Placement::Kind::listed,
                           .devices = {1, 0, 2, 3, 4, 5, 6, 7}};
  config.job.matmul = plan::Matmul::fp8;
  config.software.launch = plan::Launch::graphs;
  const std::string text = write_plan_yaml(config);
  for (const std::string_view part :
       {"  sequence_parallel: false\n", "  schedule: 1f1b\n", "  stages: Et*20|t*12L\n",
        "  recompute: {full: 4}\n  overlap:\n    pp: true\nplacement:\n  ranks: [1, 0, 2, 3, 4, "
        "5, 6, 7]\n",
        "cluster:\n  name: \"slow: #1\"\n  device: h100-sxm\n  levels:\n    - {name: nvlink, "
        "arity: 8, bandwidth: 112.5 GB/s, latency: 1.2 us}\n",
        "  matmul: fp8\n", "software:\n  framework: megatron-core\n  launch: graphs\n"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "is not in\n" << text;
  EXPECT_EQ(find_differences(config), "");
}

TEST(PlanYaml, Comments_AreWrittenAndIgnoredByTheReader) {
  const rankwright::plan::TrainingConfig config = simple_config();
  const PlanComments comments{
      .head = {"made for a test\nworld_size: 9", ""},
      .beside = {{"world_size", "one node"}, {"job", "as published"}, {"no.such.key", "nowhere"}}};
  const std::string text = write_plan_yaml(config, comments);
  EXPECT_TRUE(text.starts_with("# made for a test?world_size: 9\n#\nworld_size: 8  # one node\n"))
      << text;
  EXPECT_NE(text.find("\njob:  # as published\n  global_batch"), std::string::npos) << text;
  EXPECT_EQ(text.find("nowhere"), std::string::npos);
  const importer::PlanFile file = importer::read_plan(text, "written.yaml", importer::refuse_file);
  EXPECT_EQ(format_findings(file.findings), "");
  EXPECT_EQ(write_plan_yaml(resolve(file.draft)), write_plan_yaml(config));
}

TEST(PlanYaml, PlaceholderModel_IsLeftOut) {
  rankwright::plan::TrainingConfig config =
      config_of("parallelism: {tp_size: 8, pp_size: 4, dp_size: 2}\n");
  ASSERT_TRUE(config.reference_model);
  EXPECT_EQ(write_plan_yaml(config).find("model"), std::string::npos);
  EXPECT_EQ(find_differences(config), "");
  config.reference_model = false;
  EXPECT_NE(write_plan_yaml(config).find("\nmodel: llama-3.1-70b\n"), std::string::npos);
}

TEST(PlanYaml, IdleHosts_AreLeftOutOfThePlacement) {
  rankwright::plan::TrainingConfig config = simple_config();
  config.world = config.plan.dp = 16;
  config.cluster = *catalog::find_cluster("dgx-h100 x 3");
  config.plan.placement.kind = mesh::Placement::Kind::listed;
  for (const i64 host : {0, 2})
    for (i64 slot = 0; slot < 8; ++slot) config.plan.placement.devices.push_back(8 * host + slot);
  EXPECT_NE(write_plan_yaml(config).find("placement:\n  hosts: [0, 2]\n"), std::string::npos);
  EXPECT_EQ(find_differences(config), "");
}

TEST(PlanYaml, FullHosts_AreWrittenAsHosts) {
  rankwright::plan::TrainingConfig config = simple_config();
  config.world = config.plan.dp = 24;
  config.cluster = *catalog::find_cluster("dgx-h100 x 3");
  config.plan.placement.kind = mesh::Placement::Kind::listed;
  for (const i64 host : {2, 0, 1})
    for (i64 slot = 0; slot < 8; ++slot) config.plan.placement.devices.push_back(8 * host + slot);
  EXPECT_NE(write_plan_yaml(config).find("placement:\n  hosts: [2, 0, 1]\n"), std::string::npos);
  EXPECT_EQ(find_differences(config), "");
  std::swap(config.plan.placement.devices[0], config.plan.placement.devices[1]);
  EXPECT_NE(write_plan_yaml(config).find("placement:\n  ranks: [17, 16, 18, "), std::string::npos);
  EXPECT_EQ(find_differences(config), "");
}

TEST(PlanYaml, OtherPlacements_AreWrittenAsRanks) {
  rankwright::plan::TrainingConfig config = simple_config();
  config.world = config.plan.dp = 16;
  config.cluster = *catalog::find_cluster("dgx-h100 x 2");
  // Only half of the ranks have a device: `hosts: [1]` would mean something else.
  config.plan.placement.kind = mesh::Placement::Kind::listed;
  for (i64 device = 8; device < 16; ++device) config.plan.placement.devices.push_back(device);
  EXPECT_EQ(find_differences(config), "");
  // Cyclic over four hosts on a cluster of two.
  config.plan.placement = {.kind = mesh::Placement::Kind::cyclic, .host_devices = 4, .hosts = 4};
  const mesh::Placement again =
      resolve(importer::read_plan(write_plan_yaml(config), "w.yaml", importer::refuse_file).draft)
          .plan.placement;
  for (i64 rank = 0; rank < 16; ++rank)
    EXPECT_EQ(again.device(rank), config.plan.placement.device(rank)) << rank;
  config.plan.placement = {.kind = mesh::Placement::Kind::cyclic, .host_devices = 8, .hosts = 3};
  EXPECT_EQ(write_plan_yaml(config).find("cyclic"), std::string::npos);
}

TEST(PlanYaml, ModelWithACatalogNameButOtherShapes_IsWrittenInFull) {
  rankwright::plan::TrainingConfig config = simple_config();
  config.model.vocab = 100;
  EXPECT_EQ(find_differences(config), "");
}

TEST(PlanYaml, WorldAboveTheFileLimit_IsLeftOut) {
  // 2^22 x 2^22 x 2^22 ranks exceed the file's limit of 2^22. The world size follows from the
  // degrees.
  const importer::PlanFile file = importer::read_plan(
      "parallelism: {tp_size: 4194304, dp_size: 4194304, pp_size: 4194304}\n"
      "model: llama-3.1-8b\n",
      "p.yaml", importer::refuse_file);
  const rankwright::plan::TrainingConfig config = resolve(file.draft);
  const importer::PlanFile written =
      importer::read_plan(write_plan_yaml(config), "w.yaml", importer::refuse_file);
  EXPECT_EQ(format_findings(written.findings), "");
  const rankwright::plan::TrainingConfig again = resolve(written.draft);
  EXPECT_EQ(again.world, config.world);
  EXPECT_EQ(again.job, config.job);
  EXPECT_EQ(again.plan, config.plan);
}

std::vector<std::filesystem::path> files_in(const std::string& folder, std::string_view ending) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(RANKWRIGHT_SOURCE_DIR "/" + folder))
    if (entry.path().extension() == ending) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  EXPECT_FALSE(files.empty()) << folder;
  return files;
}

TEST(PlanYaml, EveryCatalogModelAndHfConfig_ReadsBack) {
  rankwright::plan::TrainingConfig config = simple_config();
  ASSERT_FALSE(catalog::list_known_models().empty());
  for (const catalog::KnownModel& known : catalog::list_known_models()) {
    config.model = known.model;
    config.plan.etp = 1;
    EXPECT_EQ(find_differences(config), "") << known.name;
    EXPECT_NE(write_plan_yaml(config).find("\nmodel: " + known.name + "\n"), std::string::npos);
    config.model.name = "renamed";
    EXPECT_EQ(find_differences(config), "") << known.name;
  }
  for (const std::filesystem::path& path : files_in("tests/data/hf", ".json")) {
    config.model =
        *importer::read_hf_config(*importer::read_file(path.string()), path.filename().string());
    EXPECT_EQ(find_differences(config), "") << path;
  }
}

TEST(PlanYaml, EveryCatalogSystem_ReadsBackUnchangedAndModified) {
  rankwright::plan::TrainingConfig config = simple_config();
  ASSERT_FALSE(catalog::systems().empty());
  for (const catalog::System& system : catalog::systems())
    for (const i64 units : {1, 3}) {
      config.cluster = *catalog::find_cluster(fmt::format("{} x {}", system.name, units));
      EXPECT_EQ(find_differences(config), "") << system.name;
      EXPECT_NE(write_plan_yaml(config).find("\ncluster: " + system.name), std::string::npos);
      config.cluster.levels.back().latency = 1.5 * config.cluster.levels.back().latency;
      EXPECT_EQ(find_differences(config), "") << system.name;
      config.cluster.device.memory = 0.9 * config.cluster.device.memory;
      EXPECT_EQ(find_differences(config), "") << system.name;
    }
}

TEST(PlanYaml, EveryExample_ReadsBack) {
  int plans = 0;
  for (const std::filesystem::path& path : files_in("examples", ".yaml")) {
    if (path.filename() == "racks-of-64.yaml") continue;  // a cluster file
    ++plans;
    const importer::PlanFile file = importer::read_plan(*importer::read_file(path.string()),
                                                        path.string(), importer::read_file);
    ASSERT_FALSE(has_errors(file.findings)) << path;
    EXPECT_EQ(find_differences(resolve(file.draft)), "") << path;
  }
  EXPECT_GT(plans, 0);
}

TEST(PlanYaml, SpecialNames_ReadBack) {
  rankwright::plan::TrainingConfig config = simple_config();
  const std::string names[] = {"",   "~",      "null",    "a: b",        "- a",
                               "#",  "{a: 1}", "it's",    "\"a\"",       "back\\",
                               "*a", "8",      " blank ", "caf\xC3\xA9", "plan.json"};
  for (const std::string& name : names) {
    config.model.name = config.cluster.name = config.cluster.device.name = name;
    config.cluster.levels.front().name = config.cluster.device.source = name;
    EXPECT_EQ(find_differences(config), "") << name;
  }
}

TEST(PlanYaml, HostileModelNames_ReadBack) {
  rankwright::plan::TrainingConfig config = simple_config();
  const std::string text = *importer::read_file(RANKWRIGHT_SOURCE_DIR "/tests/data/hf/gpt2.json");
  const std::string names[] = {"a\nworld_size: 9",    "\xFF\xFE",
                               std::string(500, 'x'), std::string(200, '\xC3') + "\xA9",
                               "\x1b]0;title\x07",    "' \" #"};
  for (const std::string& name : names) {
    const Result<model::Model> model = importer::read_hf_config(text, name);
    ASSERT_TRUE(model);
    config.model = *model;
    EXPECT_EQ(find_differences(config), "");
  }
}

TEST(PlanYaml, PublishedRuns_ReadBack) {
  const validate::Runs runs = published("runs.csv");
  ASSERT_FALSE(runs.scored.empty());
  for (const rankwright::validate::Run& run : runs.scored) {
    rankwright::plan::TrainingConfig config = run.config;
    // Tables of runs describe models by a few numbers, without an architecture, so use catalog
    // models.
    config.model = *catalog::find_model(config.model.sparse() ? "mixtral-8x7b" : "llama-3.1-8b");
    any_config::settle(config);
    EXPECT_EQ(find_differences(config), "");
  }
}

RC_GTEST_PROP(PlanYaml, RandomConfig_ReadsBack, ()) {
  const rankwright::plan::TrainingConfig config = any_config::random_config();
  RC_ASSERT(find_differences(config) == "");
}

RC_GTEST_PROP(PlanYaml, ConfigWithoutViolations_ReadsBackWithoutViolations, ()) {
  rankwright::plan::TrainingConfig config = sample::random_config(sample::random_known_model());
  config.cluster = any_config::random_cluster(config.world);
  any_config::settle(config);
  const importer::PlanFile file =
      importer::read_plan(write_plan_yaml(config), "w.yaml", importer::refuse_file);
  RC_ASSERT(find_violations(resolve(file.draft)).size() == find_violations(config).size());
}

/// Returns the keys of `config`'s file, in its order, without maps and without the keys inside a
/// model or a cluster.
std::vector<std::string> list_written_keys(const plan::TrainingConfig& config) {
  std::set<std::string_view> known;
  for (const importer::KeyRow& row : importer::key_rows()) known.insert(row.key.path);
  std::vector<std::string> keys;
  for (const importer::FieldReader::Key& key :
       importer::read_plan(write_plan_yaml(config), "w.yaml", importer::refuse_file).keys)
    if (known.contains(key.path)) keys.push_back(key.path);
  return keys;
}

RC_GTEST_PROP(PlanYaml, RandomConfig_WritesKeysInTableOrder, ()) {
  const std::vector<std::string> keys = list_written_keys(any_config::random_config());
  RC_ASSERT(!keys.empty());
  std::vector<std::string> in_order;
  for (const importer::KeyRow& row : importer::key_rows())
    if (std::find(keys.begin(), keys.end(), row.key.path) != keys.end())
      in_order.emplace_back(row.key.path);
  RC_ASSERT(keys == in_order);
}

// A new row of import's key table fails this test until export/plan_keys.cc has the key and this
// config sets it.
TEST(PlanYaml, ConfigThatSetsEveryKey_WritesEveryKey) {
  rankwright::plan::TrainingConfig config = simple_config();
  config.model = *catalog::find_model("mixtral-8x7b");
  config.plan = {.tp = 2, .cp = 2, .dp = 2, .pp = 2, .ep = 2, .etp = 1, .zero = 1};
  config.world = 16;
  config.cluster = *catalog::find_cluster("dgx-h100 x 2");
  config.plan.shard_size = 2;
  config.plan.bucket_size = 1'000'000;
  config.plan.virtual_stages = config.plan.microbatch_group = 2;
  config.plan.stages = plan::split_evenly(32, 4, 0);
  config.plan.overlap = {.grad_reduce = false,
                         .param_gather = false,
                         .tp = true,
                         .pp = false,
                         .ep = true,
                         .wgrad = true};
  config.plan.dispatcher = plan::Dispatcher::deepep;
  config.job.matmul = plan::Matmul::fp8;
  config.job.expert_imbalance = 1.5;
  config.job.expert_capacity = 2;
  config.software = plan::find_release(config.software, "0.14").value();
  config.software.experts = plan::ExpertKernel::fused;
  config.software.fused_permute = false;
  config.software.eager_ops = true;
  config.software.accumulation = plan::Accumulation::trained;
  config.software.attention = plan::AttentionKernel::flash2;
  config.software.launch = plan::Launch::graphs;
  config.software.loss = plan::Loss::eager;
  config.software.tuned = true;
  config.target = "megatron";
  config.plan.offload = {.optimizer = 0.5,
                         .parameters = true,
                         .activations = true,
                         .nvme = plan::NvmeStates::all,
                         .nvme_path = "/local_nvme"};
  config.job.moment_dtype = config.job.master_dtype = plan::Dtype::bf16;
  config.job.fp8_swiglu_input = true;
  config.job.lora_rank = 16;
  config.job.doc_length = 512;
  config.job.loss_tokens = 256;
  config.job.images = 3;
  config.job.image_tokens = 64;
  config.job.method = plan::Method::grpo;
  config.job.ref_model = true;
  config.job.lora_modules.k_proj = false;
  config.job.base_dtype = plan::BaseDtype::nf4;
  freeze(config.model, {.embedding = true, .first = 1, .end = 3});
  const std::vector<std::string> keys = list_written_keys(config);
  ASSERT_FALSE(importer::key_rows().empty());
  for (const importer::KeyRow& row : importer::key_rows()) {
    const bool remark = row.key.path == "name" || row.key.path == "reading_note";
    const bool other = row.key.path == "job.clips";  // the images of an audio encoder
    EXPECT_EQ(std::count(keys.begin(), keys.end(), row.key.path), remark || other ? 0 : 1)
        << row.key.path;
  }
  config.model.encoder_parameters = 1000;
  config.model.encoder_layers = 2;
  config.model.encoder = {
      .hidden = 32, .ffn = 64, .heads = 4, .matrices = 2, .merge = 1, .audio = true};
  const std::vector<std::string> audio = list_written_keys(config);
  EXPECT_EQ(std::count(audio.begin(), audio.end(), "job.clips"), 1);
  EXPECT_EQ(std::count(audio.begin(), audio.end(), "job.images"), 0);
}

}  // namespace plan_file_test
}  // namespace rankwright::exporter
