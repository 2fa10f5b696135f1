#include "rankwright/lab/worksheet/sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rankwright/base/check.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/report/render/markdown.h"

namespace rankwright::lab {
namespace sheet_impl {
namespace {

using plan::TrafficKind;

constexpr SheetTableRow kTables[] = {
    {SheetTable::axes, "Axes", "axis", "axes|dimension|parallelism"},
    {SheetTable::communication, "Communication", "communication", "collective|collectives|traffic"},
    {SheetTable::states, "States", "state", "states|what"},
};

/// Collectives that the blank worksheet leaves out: they belong to the embedding, the loss, the
/// norms and the optimizer rather than to an axis.
constexpr TrafficKind kNotAsked[] = {
    TrafficKind::tp_embedding,   TrafficKind::tp_embedding_grad,   TrafficKind::tp_head_gather,
    TrafficKind::tp_head_reduce, TrafficKind::tp_cross_entropy,    TrafficKind::tp_norm_grads,
    TrafficKind::gradient_norm,  TrafficKind::tied_embedding_grad, TrafficKind::ep_token_counts,
};

/// Returns the axes on which a state is split, or on which every rank has the same part.
std::string list_state_axes(const planner::StateRow& state, bool split) {
  const std::pair<std::string_view, const std::string*> axes[] = {{"TP", &state.tp},
                                                                  {"PP", &state.pp},
                                                                  {"CP", &state.cp},
                                                                  {"DP", &state.dp},
                                                                  {"EP", &state.ep}};
  std::string text;
  for (const auto& [name, mark] : axes)
    if (*mark != "-" && (*mark != "same") == split)
      text += (text.empty() ? "" : ", ") + std::string(name);
  return text.empty() ? "-" : text;
}

const plan::TrafficKindRow& kind_of(const SheetPlan& p, std::size_t k) {
  return row(p.view.communication[k].evaluated.traffic.kind);
}

std::string degree(const SheetPlan& p, std::size_t k) { return p.view.axes[k].degree; }
std::string placement(const SheetPlan& p, std::size_t k) { return p.view.axes[k].placement; }
std::string reason(const SheetPlan& p, std::size_t k) { return p.view.axes[k].reason; }
std::string frequency(const SheetPlan& p, std::size_t k) {
  return std::string(kind_of(p, k).frequency);
}
std::string preferred(const SheetPlan& p, std::size_t k) {
  return p.view.communication[k].preferred;
}
std::string risk(const SheetPlan& p, std::size_t k) { return std::string(kind_of(p, k).risk); }
std::string split_over(const SheetPlan& p, std::size_t k) {
  return list_state_axes(p.view.states[k], true);
}
std::string replicated_over(const SheetPlan& p, std::size_t k) {
  return list_state_axes(p.view.states[k], false);
}
std::string consistent_by(const SheetPlan& p, std::size_t k) { return p.view.states[k].consistent; }

constexpr SheetColumnRow kColumns[] = {
    {SheetColumn::degree, SheetTable::axes, "degree", "size|degrees",
     "a number (8, 8-way); for FSDP/ZeRO the stage and the ranks that share a copy (stage 3 over "
     "16), or none",
     degree},
    {SheetColumn::placement, SheetTable::axes, "placement", "placed|where",
     "the link that a group is inside or across, with the counts if it is both (8 inside nvlink x "
     "2 across infiniband); - if the degree is 1",
     placement},
    {SheetColumn::reason, SheetTable::axes, "reason", "why|because",
     "one sentence: what is split, and what that costs or saves", reason},
    {SheetColumn::frequency, SheetTable::communication, "frequency", "how often|often",
     "per layer, per micro-batch, per step or another unit that repeats", frequency},
    {SheetColumn::preferred_link, SheetTable::communication, "preferred link", "preferred|link",
     "the link where it should be, or any", preferred},
    {SheetColumn::risk, SheetTable::communication, "risk", "risks|what can go wrong",
     "one sentence: what is slow or idle, and when", risk},
    {SheetColumn::split_over, SheetTable::states, "split over", "split|sharded over|cut over",
     "axes: TP, PP, CP, DP, EP; - if none", split_over},
    {SheetColumn::replicated_over, SheetTable::states, "replicated over",
     "replicated|same on|copied over", "axes: TP, PP, CP, DP, EP; - if none", replicated_over},
    {SheetColumn::consistent_by, SheetTable::states, "kept consistent by",
     "consistent|consistent by|kept consistent",
     "the collective, or the other cause that makes it equal", consistent_by},
};

}  // namespace
}  // namespace sheet_impl

SheetPlan make_sheet_plan(plan::TrainingConfig config) {
  planner::ExplainView view = planner::make_explain_view(config);
  return {std::move(config), std::move(view)};
}

std::span<const SheetTableRow> sheet_tables() { return sheet_impl::kTables; }
std::span<const SheetColumnRow> sheet_columns() { return sheet_impl::kColumns; }

const SheetTableRow& row(SheetTable table) {
  const SheetTableRow& found = sheet_impl::kTables[std::size_t(table)];
  RW_CHECK(found.table == table);
  return found;
}

const SheetColumnRow& row(SheetColumn column) {
  const SheetColumnRow& found = sheet_impl::kColumns[std::size_t(column)];
  RW_CHECK(found.column == column);
  return found;
}

std::vector<SheetRow> list_sheet_rows(const planner::ExplainView& view) {
  std::vector<SheetRow> rows;
  for (std::size_t k = 0; k < view.axes.size(); ++k)
    rows.push_back({SheetTable::axes, view.axes[k].axis, k});
  for (std::size_t k = 0; k < view.communication.size(); ++k) {
    const plan::TrafficKind kind = view.communication[k].evaluated.traffic.kind;
    const bool asked = std::find(std::begin(sheet_impl::kNotAsked), std::end(sheet_impl::kNotAsked),
                                 kind) == std::end(sheet_impl::kNotAsked);
    rows.push_back({SheetTable::communication, std::string(row(kind).label), k, asked});
  }
  for (std::size_t k = 0; k < view.states.size(); ++k)
    rows.push_back({SheetTable::states, view.states[k].state, k});
  return rows;
}

std::string write_worksheet(const SheetPlan& plan, std::string_view command, bool solved) {
  const std::vector<SheetRow> rows = list_sheet_rows(plan.view);
  std::string out = fmt::format(
      "# Worksheet: {}\n\n"
      "Fill in the cells, then check them with {}. Empty cells are open. Write `\\|` for a pipe "
      "inside a cell.\n",
      report::escape_markdown(report::format_headline(plan.config)),
      report::format_markdown_code(command));
  for (const SheetTableRow& table : sheet_tables()) {
    std::string head = fmt::format("| {} |", table.key), rule = "|---|", forms;
    for (const SheetColumnRow& column : sheet_columns()) {
      if (column.table != table.table) continue;
      head += fmt::format(" {} |", column.title);
      rule += "---|";
      forms += fmt::format("- {}: {}.\n", column.title, report::escape_markdown(column.form));
    }
    std::string body;
    for (const SheetRow& line : rows) {
      if (line.table != table.table || !line.asked) continue;
      body += fmt::format("| {} |", line.label);
      for (const SheetColumnRow& column : sheet_columns())
        if (column.table == table.table)
          body += solved ? fmt::format(" {} |",
                                       report::escape_markdown(column.answer(plan, line.index)))
                         : "  |";
      body += "\n";
    }
    if (!body.empty())
      out += fmt::format("\n## {}\n\n{}\n{}\n{}\n{}", table.title, forms, head, rule, body);
  }
  return out;
}

}  // namespace rankwright::lab
