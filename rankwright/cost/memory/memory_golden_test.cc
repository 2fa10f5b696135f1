// Compares memory estimates with Megatron-LM's functional tests: 161 rows of small GPT and
// mixture-of-experts models. Only the workspace constant was fitted to them, so this is close to a
// blind test. Flags that do not show in a run's arguments are not modeled.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>

#include "rankwright/base/csv.h"
#include "rankwright/base/quantity.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/memory/memory.h"
#include "rankwright/import/syntax/file.h"

namespace rankwright::cost {
namespace memory_golden_test {

/// The arguments of one run.
class Arguments {
 public:
  Arguments(const Csv& table, const Csv::Row& row) : table_(table), row_(row) {}

  std::string_view text(std::string_view column) const { return table_.cell(row_, column); }
  bool given(std::string_view column) const { return text(column) == "True"; }
  i64 count(std::string_view column, i64 otherwise) const {
    const Result<i64> value = parse_count(text(column));
    return value && *value > 0 ? *value : otherwise;
  }

 private:
  const Csv& table_;
  const Csv::Row& row_;
};

model::Model model_of(const Arguments& args, const plan::Plan& plan) {
  const i64 hidden = args.count("hidden-size", 0);
  const i64 heads = args.count("num-attention-heads", 0);
  // Megatron's default: two thirds of 4h if gated, rounded down to a multiple of 64.
  const bool gated = args.given("swiglu");
  const i64 width = args.count("ffn-hidden-size", gated ? 8 * hidden / 3 / 64 * 64 : 4 * hidden);
  // Megatron pads the vocabulary to a multiple of 128 per tp rank.
  model::Model model{.hidden = hidden,
                     .vocab = round_up(args.count("vocab-size", 50257), 128 * plan.tp),
                     .positions = args.count("seq-length", 0),
                     .tied = !args.given("untie-embeddings-and-output-weights")};
  model::Layer layer{.attention = {.heads = heads,
                                   .kv_heads = args.count("num-query-groups", heads),
                                   .head_dim = hidden / heads},
                     .ffn = {.width = width, .matrices = gated ? 3 : 2}};
  layer.ffn.experts = args.count("num-experts", 0);
  if (layer.ffn.sparse()) {
    layer.ffn.width = 0;
    layer.ffn.active = args.count("moe-router-topk", 1);
    layer.ffn.expert_width = args.count("moe-ffn-hidden-size", width);
  }
  model.runs.push_back({args.count("num-layers", 0), layer});
  return model;
}

plan::Plan plan_of(const Arguments& args) {
  plan::Plan plan{.tp = args.count("tensor-model-parallel-size", 1),
                  .cp = args.count("context-parallel-size", 1),
                  .pp = args.count("pipeline-model-parallel-size", 1),
                  .ep = args.count("expert-model-parallel-size", 1)};
  plan.dp = args.count("world", 8) / (plan.tp * plan.cp * plan.pp);
  plan.etp = args.count("num-experts", 0) > 0 ? args.count("expert-tensor-parallel-size", plan.tp)
                                              : plan.tp;
  plan.zero = args.given("use-distributed-optimizer") ? 1 : 0;
  plan.sequence_parallel = args.given("sequence-parallel");
  plan.micro_batch = args.count("micro-batch-size", 1);
  const i64 layers_per_chunk = args.count("num-layers-per-virtual-pipeline-stage", 0);
  plan.virtual_stages = layers_per_chunk > 0
                            ? args.count("num-layers", 0) / plan.pp / layers_per_chunk
                            : args.count("num-virtual-stages-per-pipeline-rank", 1);
  if (plan.virtual_stages > 1) plan.schedule = pipeline::Schedule::interleaved;
  const std::string_view recompute = args.text("recompute-granularity");
  if (recompute == "full") plan.recompute = plan::Recompute::full;
  if (recompute == "selective") plan.recompute = plan::Recompute::selective;
  return plan;
}

/// Megatron's defaults: dropout on, cross-entropy unfused; tests without Transformer Engine compute
/// attention unfused.
plan::Software software_of(const Arguments& args) {
  plan::Software software;
  software.loss = plan::Loss::unfused;
  software.dropout = true;
  const std::string_view test = args.text("test_case");
  const std::string_view backend = args.text("attention-backend");
  const bool engine = test.find("_te_") != test.npos || test.find("memory_speed") != test.npos;
  if (backend == "unfused" || backend == "local" || (backend.empty() && !engine))
    software.attention = plan::AttentionKernel::unfused;
  return software;
}

plan::TrainingConfig config_of(const Arguments& args) {
  plan::TrainingConfig config;
  config.plan = plan_of(args);
  config.model = model_of(args, config.plan);
  config.software = software_of(args);
  config.world = config.plan.ranks();
  config.job.sequence = args.count("seq-length", 0);
  config.job.grad_dtype = plan::Dtype::fp32;
  const i64 at_once = config.plan.micro_batch * config.plan.dp;
  config.job.global_batch =
      std::max<i64>(1, args.count("global-batch-size", 1) / at_once) * at_once;
  return config;
}

/// Relative errors of a group of rows.
struct Errors {
  std::vector<double> peak{}, states{};

  static double mean(const std::vector<double>& errors, bool signed_ones) {
    double sum = 0;
    for (const double e : errors) sum += signed_ones ? e : std::abs(e);
    return 100 * sum / double(errors.size());
  }
  double median() const {
    std::vector<double> sorted;
    for (const double e : peak) sorted.push_back(std::abs(e));
    std::nth_element(sorted.begin(), sorted.begin() + long(sorted.size() / 2), sorted.end());
    return 100 * sorted[sorted.size() / 2];
  }
};

std::map<std::string, Errors> compare() {
  const Result<std::string> text =
      importer::read_file(RANKWRIGHT_SOURCE_DIR "/tests/data/validation/megatron_golden.csv");
  if (!text) return {};
  const Result<Csv> table = parse_csv(*text, "megatron_golden.csv");
  if (!table) return {};
  std::map<std::string, Errors> groups;
  for (const Csv::Row& row : table->rows) {
    const Arguments args(*table, row);
    const rankwright::plan::TrainingConfig config = config_of(args);
    const MemoryEstimate last =
        estimate_memory(config, config.plan.pp - 1, catalog::get_calibration());
    const Bytes between = last.states() + last[Entry::workspace] + last[Entry::empty_gradients];
    const double peak = double(args.count("max_allocated_bytes", 0));
    const double states = double(args.count("allocated_bytes", 0));
    const std::string_view test = args.text("test_case");
    Errors& group = groups[std::string(test.substr(0, test.find('/')))];
    group.peak.push_back(last.allocated().value / peak - 1);
    group.states.push_back(between.value / states - 1);
    if (std::getenv("RANKWRIGHT_ROWS") != nullptr)
      std::printf("%-90s %s measured %6.2f computed %6.2f GB %+6.1f %% %s\n",
                  std::string(test).c_str(), std::string(args.text("hardware")).c_str(), peak / 1e9,
                  last.allocated().value / 1e9, 100 * group.peak.back(),
                  std::string(name(last.instant)).c_str());
  }
  for (const auto& [name, group] : groups)
    std::printf(
        "%s: %zu rows; peak: mean error %.1f %%, median %.1f %%, bias %+.1f %%; states: mean "
        "error %.1f %%\n",
        name.c_str(), group.peak.size(), Errors::mean(group.peak, false), group.median(),
        Errors::mean(group.peak, true), Errors::mean(group.states, false));
  return groups;
}

TEST(MegatronGolden, ErrorsAreWithinTheDocumentedLimits) {
  const std::map<std::string, Errors> groups = compare();
  ASSERT_EQ(groups.size(), 2u);
  const Errors& gpt = groups.at("gpt");
  const Errors& moe = groups.at("moe");
  EXPECT_EQ(gpt.peak.size(), 126u);
  EXPECT_EQ(moe.peak.size(), 35u);
  EXPECT_LT(Errors::mean(gpt.peak, false), 3.8);
  EXPECT_LT(gpt.median(), 1.2);
  EXPECT_LT(Errors::mean(gpt.states, false), 4.9);
  EXPECT_LT(Errors::mean(moe.peak, false), 3.5);
  EXPECT_LT(moe.median(), 2.0);
  EXPECT_LT(Errors::mean(moe.states, false), 6.7);
}

}  // namespace memory_golden_test
}  // namespace rankwright::cost
