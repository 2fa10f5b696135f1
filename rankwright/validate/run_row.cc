#include "rankwright/validate/run_row.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "rankwright/base/format.h"
#include "rankwright/cluster/cluster.h"
#include "rankwright/model/architecture.h"
#include "rankwright/plan/job.h"

namespace rankwright::validate {
namespace {

/// A column that another table has under another name, or lacks, with the value that applies there.
/// vTrain's single-node table: Megatron-DeepSpeed, fp16, GPT's vocabulary.
struct ColumnDefault {
  std::string_view column, other_name, value;
};
constexpr ColumnDefault kSingleNode[] = {
    {"global_batch_seqs", "global_batch", ""},
    {"family", "", "vtrain single"},
    {"model", "", "GPT"},
    {"vocab", "", "50257"},
    {"framework", "", "Megatron-DeepSpeed"},
    {"precision", "", "fp16"},
    {"inter_link_GBps_per_gpu", "", "12.5"},
    {"vpp", "", "1"},
    {"quality", "", "A"},
};
constexpr double kMinStep = 1e-6, kMaxStep = 1e9;  // in seconds

/// The accepted range of a column, such that no product exceeds 64 bits and all estimates are
/// finite.
struct Bound {
  std::string_view column;
  double min, max;
  bool whole = true;
};
constexpr double kDegree = double(cluster::kMaxDevices);
constexpr double kWidth = 1 << 24;
constexpr Bound kBounds[] = {
    {"layers", 1, double(model::kMaxLayers)},
    {"hidden", 1, kWidth},
    {"heads", 1, 65536},
    {"seq", 1, 1 << 30},
    {"gpus", 1, kDegree},
    {"tp", 1, kDegree},
    {"pp", 1, kDegree},
    {"dp", 1, kDegree},
    {"global_batch_seqs", 1, double(plan::kMaxBatch)},
    {"cp", 1, 65536},
    {"ep", 1, kDegree},
    {"etp", 1, kDegree},
    {"micro_batch", 1, 1 << 20},
    {"vpp", 0, 4096},
    {"zero_stage", 0, 3},
    {"kv_heads", 0, 65536},
    {"head_dim", 0, 65536},
    {"ffn", 0, kWidth},
    {"mlp_mats", 0, 3},
    {"vocab", 0, 1 << 28},
    {"n_experts", 0, 65536},
    {"topk", 0, 65536},
    {"moe_ffn", 0, kWidth},
    {"shared_ffn", 0, kWidth},
    {"n_dense_layers", 0, double(model::kMaxLayers)},
    {"nvlink_domain", 1, kDegree},
    {"gpus_per_node", 1, kDegree},
    {"intra_link_GBps", 0.01, 1e6, false},
    {"inter_link_GBps_per_gpu", 0.01, 1e6, false},
    {"measured_step_s", kMinStep, kMaxStep, false},
    {"derived_step_s", kMinStep, kMaxStep, false},
    {"measured_tokens_per_s_per_gpu", 1e-6, 1e12, false},
    {"derived_tokens_per_s_per_gpu", 1e-6, 1e12, false},
    {"measured_mem_gb", 1e-3, 1e6, false},
    {"measured_slowdown", 1e-3, 1e6, false},
    {"base_step_s", kMinStep, kMaxStep, false},
};

/// Parses a number, including "inf" and "nan".
std::optional<double> parse_number(std::string_view cell) {
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error == std::errc::result_out_of_range) return INFINITY;
  if (error != std::errc{} || end != cell.data() + cell.size()) return std::nullopt;
  return value;
}

/// Formats a bound: "65,536", "0.01".
std::string format_bound(double value) {
  return value == std::floor(value) ? count(i64(value)) : fmt::format("{:g}", value);
}

}  // namespace

std::string_view RunRow::text(std::string_view column) const {
  const std::string_view cell = table_.cell(row_, column);
  if (!cell.empty() || !single_) return cell;
  for (const ColumnDefault& d : kSingleNode) {
    if (d.column != column) continue;
    return d.other_name.empty() ? d.value : table_.cell(row_, d.other_name);
  }
  return {};
}

std::optional<double> RunRow::number(std::string_view column) const {
  const std::optional<double> value = parse_number(text(column));
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<i64> RunRow::whole(std::string_view column, i64 min) const {
  const std::optional<double> value = number(column);
  constexpr double kMax = 0x1p40;
  if (!value || *value < double(min) || *value > kMax || *value != std::floor(*value))
    return std::nullopt;
  return i64(*value);
}

i64 RunRow::whole_or(std::string_view column, i64 otherwise) const {
  return whole(column, 0).value_or(otherwise);
}

std::string RunRow::out_of_bounds() const {
  for (const Bound& bound : kBounds) {
    const std::optional<double> value = parse_number(text(bound.column));
    if (!value) continue;
    const bool inside = *value >= bound.min && *value <= bound.max;  // false for NaN
    if (inside && (!bound.whole || *value == std::floor(*value))) continue;
    return fmt::format("{} is {}: expected {} from {} to {}", bound.column,
                       make_excerpt(text(bound.column), 20),
                       bound.whole ? "whole numbers" : "numbers", format_bound(bound.min),
                       format_bound(bound.max));
  }
  return {};
}

std::string RunRow::lacking() const {
  for (const std::string_view column :
       {"layers", "hidden", "heads", "seq", "gpus", "tp", "pp", "dp"})
    if (!whole(column)) return fmt::format("no {}", column);
  if (!whole("global_batch_seqs")) return "no global batch";
  return {};
}

Seconds RunRow::step() const {
  for (const std::string_view column : {"measured_step_s", "derived_step_s"})
    if (const std::optional<double> step = number(column); step && *step > 0) return {*step};
  for (const std::string_view column :
       {"measured_tokens_per_s_per_gpu", "derived_tokens_per_s_per_gpu"}) {
    const std::optional<double> rate = number(column);
    if (!rate || *rate <= 0) continue;
    const double tokens = double(whole_or("global_batch_seqs", 0)) * double(whole_or("seq", 0));
    const double seconds = tokens / (*rate * double(whole_or("gpus", 1)));
    if (seconds >= kMinStep && seconds <= kMaxStep) return {seconds};
  }
  return {};
}

Bytes RunRow::memory() const {
  const std::optional<double> memory = number("measured_mem_gb");
  return memory && *memory > 0 ? *memory * 1.0_GB : Bytes{};
}

}  // namespace rankwright::validate
