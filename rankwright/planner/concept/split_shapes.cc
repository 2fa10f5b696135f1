#include "rankwright/planner/concept/split_shapes.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/plan/shares.h"

namespace rankwright::planner {
namespace {

/// Collects the shapes of one config.
class ShapeList {
 public:
  explicit ShapeList(const plan::TrainingConfig& config) : config_(config) {}

  void add_count(std::string name, i64 whole, i64 local) {
    shapes_.push_back({.name = std::move(name),
                       .text = fmt::format("{} -> {} per rank", count(whole), count(local)),
                       .local_elements = local});
  }

  /// Adds a matrix of which `copies` equal ones exist.
  void add_weight(std::string name, i64 copies, i64 rows, i64 columns, i64 local_rows,
                  i64 local_columns) {
    shapes_.push_back(
        {.name = std::move(name),
         .text = fmt::format("{}{} x {} -> {} x {}", copies > 1 ? "each " : "", count(rows),
                             count(columns), count(local_rows), count(local_columns)),
         .local_elements = copies * local_rows * local_columns,
         .weight = true});
  }

  void add_attention(const model::Attention& a) {
    const i64 tp = config_.plan.tp, hidden = config_.model.hidden;
    add_count("heads", a.heads, a.heads / tp);
    if (a.kind != model::Attention::Kind::grouped) return;
    const i64 kv = std::max<i64>(1, a.kv_heads / tp);  // heads repeat if there are fewer than tp
    if (a.kv_heads != a.heads) add_count("kv heads", a.kv_heads, kv);
    add_weight("QKV", 1, (a.heads + 2 * a.kv_heads) * a.head_dim, hidden,
               (a.heads / tp + 2 * kv) * a.head_dim, hidden);
    add_weight("output", 1, hidden, a.heads * a.head_dim, hidden, a.heads / tp * a.head_dim);
  }

  void add_dense(const model::FeedForward& ffn) {
    const i64 hidden = config_.model.hidden, local = ffn.width / config_.plan.tp;
    add_count("ffn width", ffn.width, local);
    const bool gated = ffn.matrices == 3;
    add_weight(gated ? "gate, up" : "up", gated ? 2 : 1, ffn.width, hidden, local, hidden);
    add_weight("down", 1, hidden, ffn.width, hidden, local);
  }

  void add_experts(const model::FeedForward& ffn) {
    add_count("expert width", ffn.expert_width, ffn.expert_width / config_.plan.etp);
  }

  std::vector<SplitShape> take() { return std::move(shapes_); }

 private:
  const plan::TrainingConfig& config_;
  std::vector<SplitShape> shapes_{};
};

}  // namespace

std::vector<SplitShape> list_split_shapes(const plan::TrainingConfig& config) {
  ShapeList list(config);
  const std::vector<model::LayerRun>& runs = config.model.runs;
  const auto find = [&](bool sparse) {
    return std::find_if(runs.begin(), runs.end(), [&](const model::LayerRun& run) {
      return run.layer.ffn.sparse() == sparse;
    });
  };
  if (runs.empty()) return {};
  list.add_attention(runs.front().layer.attention);
  if (const auto dense = find(false); dense != runs.end()) list.add_dense(dense->layer.ffn);
  if (const auto sparse = find(true); sparse != runs.end()) list.add_experts(sparse->layer.ffn);
  list.add_count("vocabulary", config.model.vocab,
                 plan::count_vocabulary_rows(config.model, config.plan.tp));
  return list.take();
}

}  // namespace rankwright::planner
