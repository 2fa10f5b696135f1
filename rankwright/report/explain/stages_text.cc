#include "rankwright/report/explain/stages_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "rankwright/base/format.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/report/render/table.h"

namespace rankwright::report {
namespace {

using nlohmann::ordered_json;

/// Lists the pp ranks; adjacent equal ranks share a row: "1-14".
Table make_rank_table(const plan::TrainingConfig& config, const planner::StagesView& view) {
  Table table{{{"PP rank"},
               {"layers", Table::Align::right},
               {"by chunk"},
               {"with"},
               {"of the mean", Table::Align::right}}};
  const Flops mean =
      std::accumulate(view.work.begin(), view.work.end(), Flops{}) / double(view.work.size());
  const std::vector<plan::RankContents> contents = list_rank_contents(config);
  std::vector<std::string> last;
  i64 first = 0;
  for (i64 r = 0; r <= config.plan.pp; ++r) {
    std::vector<std::string> row;
    if (r < config.plan.pp) {
      const plan::RankContents& on_rank = contents[std::size_t(r)];
      std::string chunks;
      for (const i64 s : list_stages(config.plan, r))
        chunks += (chunks.empty() ? "" : " ") + std::to_string(view.now[std::size_t(s)].layers);
      row = {count(on_rank.layers), chunks, planner::describe_edges(on_rank),
             percent(view.work[std::size_t(r)] / mean)};
    }
    if (row == last) continue;
    if (!last.empty()) {
      last.insert(last.begin(),
                  r - first == 1 ? std::to_string(first) : fmt::format("{}-{}", first, r - 1));
      table.rows.push_back(std::move(last));
    }
    last = std::move(row);
    first = r;
  }
  return table;
}

std::string describe_split(const planner::StagesView& view) {
  if (view.best.fault != split::Split::Fault::none)
    return "there are fewer layers than stages: nothing to split";
  if (view.best.stages == view.now)
    return view.best.proved ? "no split of the layers is more even" : "none more even was found";
  if (view.best_imbalance >= view.imbalance)
    return view.best.proved ? "no split has a lighter busiest PP rank; this one has lighter stages"
                            : "none with a lighter busiest PP rank was found";
  return fmt::format(
      "{} more than the mean instead of {}{}", percent(view.best_imbalance),
      percent(view.imbalance),
      view.best.proved ? ": the best there is, proved" : ": the best that was found");
}

/// Lists how a plan file and the frameworks express the best split.
Table make_syntax_table(const planner::StagesView& view) {
  const std::string layout = show_layout(view.best.stages);
  Table table{{{"for"}, {"write"}}};
  table.rows.push_back({"plan file", fmt::format("parallelism: {{stages: \"{}\"}}", layout)});
  table.rows.push_back(
      {"megatron", fmt::format("--pipeline-model-parallel-layout \"{}\"", layout)});
  if (view.titan) {
    // The framework's name is only on the first of its lines.
    std::string lines = show(*view.titan);
    std::string who = "torchtitan";
    for (std::size_t end; (end = lines.find('\n')) != std::string::npos;) {
      table.rows.push_back({std::exchange(who, ""), lines.substr(0, end)});
      lines.erase(0, end + 1);
    }
    if (view.titan_imbalance > view.best_imbalance)
      table.rows.push_back(
          {"", fmt::format("# the best it can say: {}", percent(view.titan_imbalance))});
  } else {
    table.rows.push_back({"torchtitan", "it has no words for stages with MTP modules"});
  }
  table.rows.push_back({"a list", show_layers(view.best.stages)});
  return table;
}

}  // namespace

std::string render_stages_text(const plan::TrainingConfig& config, const planner::StagesView& view,
                               const Paint& paint, std::size_t width) {
  const auto busiest = std::max_element(view.work.begin(), view.work.end());
  std::string out = paint.bold(format_headline(config)) + "\n\n";
  out += fmt::format("{} over {} x {}: {}\n\n", plural(config.model.layers(), "layer", "layers"),
                     plural(config.plan.pp, "PP rank", "PP ranks"),
                     plural(config.plan.virtual_stages, "chunk", "chunks"), show_layout(view.now));
  out += make_rank_table(config, view).text(paint, "  ", width) + "\n";
  out += wrap_text(
      fmt::format("PP rank {} computes {} more than the mean, and all wait for it. Best "
                  "split: {}.",
                  busiest - view.work.begin(), percent(view.imbalance), describe_split(view)),
      width, "");
  if (view.best.fault != split::Split::Fault::none) return out;
  return out + "\n" + make_syntax_table(view).text(paint, "  ", width);
}

std::string make_stages_json(const plan::TrainingConfig& config, const planner::StagesView& view) {
  const std::vector<plan::RankContents> contents = list_rank_contents(config);
  ordered_json ranks = ordered_json::array();
  for (i64 r = 0; r < config.plan.pp; ++r)
    ranks.push_back({{"pp_rank", r},
                     {"stages", list_stages(config.plan, r)},
                     {"layers", contents[std::size_t(r)].layers},
                     {"forward_flops_per_token", view.work[std::size_t(r)].value}});
  ordered_json best = nullptr;
  if (view.best.fault == split::Split::Fault::none) {
    best = {{"layout", show_layout(view.best.stages)},
            {"imbalance", view.best_imbalance},
            {"proved", view.best.proved}};
    ordered_json layers = ordered_json::array();
    for (const plan::Stage& stage : view.best.stages) layers.push_back(stage.layers);
    best["layers"] = layers;
    if (view.titan)
      best["torchtitan"] = {{"first_stage_less_layers", view.titan->first_less},
                            {"last_stage_less_layers", view.titan->last_less},
                            {"imbalance", view.titan_imbalance}};
  }
  const ordered_json json = {{"schema", "rankwright.stages/1"},
                             {"layout", show_layout(view.now)},
                             {"imbalance", view.imbalance},
                             {"ranks", ranks},
                             {"best", best}};
  return json.dump(2) + "\n";
}

}  // namespace rankwright::report
