#include "rankwright/report/catalog/concept_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "rankwright/base/check.h"
#include "rankwright/report/explain/config_json.h"
#include "rankwright/report/explain/explain_json.h"
#include "rankwright/report/explain/explain_text.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/report/render/section.h"
#include "rankwright/report/render/table.h"

namespace rankwright::report {
namespace {

using nlohmann::ordered_json;

constexpr i64 kDrawnRanks = 4;
constexpr i64 kFigureRanks[] = {2, 4, 8, 64};  // group sizes of the table of figures

/// Returns one line per rank: "|a0|b0|c0|d0|".
std::vector<std::string> draw_buffers(const planner::Buffers& buffers) {
  std::size_t cell = 2;
  for (const planner::Buffer& buffer : buffers)
    for (const planner::Slot& slot : buffer)
      cell = std::max(cell, planner::format_slot(slot).size());
  std::vector<std::string> lines;
  for (const planner::Buffer& buffer : buffers) {
    std::string line = "|";
    for (const planner::Slot& slot : buffer)
      line += fmt::format("{:<{}}|", planner::format_slot(slot), cell);
    lines.push_back(line);
  }
  return lines;
}

std::string_view describe_cells(planner::Collective collective) {
  return collective == planner::Collective::send_recv
             ? "Left: what a rank sends to the next one. Right: what it receives."
             : "b2 is part b of the buffer of rank 2. Blank: the rank holds nothing there.";
}

Table make_figures_table(planner::Collective collective) {
  Table table{{{"ranks d"}}};
  std::vector<std::string> sent{"bytes sent per rank / N"}, steps{"steps"};
  for (const i64 ranks : kFigureRanks) {
    const planner::CollectiveFigures figures = compute_figures(collective, ranks);
    table.columns.push_back({std::to_string(ranks), kRight});
    sent.push_back(fmt::format("{:.4g}", figures.sent));
    steps.push_back(std::to_string(figures.steps));
  }
  table.rows = {sent, steps};
  return table;
}

std::string render_title(const planner::ConceptPage& page, const Paint& paint, std::size_t width) {
  const std::string name = page.typed == page.term || page.typed.size() > 4
                               ? std::string(page.term)
                               : fmt::format("{} ({})", page.term, page.typed);
  return paint.bold(name) + "\n\n" + wrap_text(page.entry().definition, width - 4, "  ") + "\n";
}

std::string render_collective(planner::Collective collective, const Paint& paint,
                              std::size_t width) {
  return draw_collective(collective, width) +
         wrap_text(describe_cells(collective), width - 4, "  ") + "\n" +
         make_figures_table(collective).text(paint, "  ", width) + "\n";
}

/// Writes the labeled texts, and the commands to go on with. Commands that repeat the page with a
/// plan are left out if `with_plan`.
std::string render_lines(const planner::ConceptPage& page, bool with_plan, const Paint& paint,
                         std::size_t width) {
  std::string out;
  for (const planner::ConceptLine& line : planner::concept_lines())
    out += render_labeled_text(line.label, std::string(page.*line.text), paint, width);
  std::string label = "next";
  for (const std::string_view command : page.next) {
    const bool repeats = command.starts_with(fmt::format("explain {} ", page.typed));
    if (command.empty() || (with_plan && repeats)) continue;
    out += render_labeled_text(label, fmt::format("rankwright {}", command), paint, width);
    label.clear();
  }
  return out;
}

/// Returns the table without the groups that share a link, which the page does not explain.
Table make_short_communication_table(std::span<const planner::CommunicationRow> rows) {
  Table table = make_communication_table(rows);
  const auto shared = std::ranges::find(table.columns, "groups per link", &Table::Column::name);
  RW_CHECK(shared != table.columns.end());
  const std::ptrdiff_t k = shared - table.columns.begin();
  table.columns.erase(shared);
  for (std::vector<std::string>& row : table.rows) row.erase(row.begin() + k);
  return table;
}

std::string render_facts(const planner::ConceptAnswer& answer, const Paint& paint,
                         std::size_t width) {
  const plan::TrainingConfig& config = answer.plan.config();
  std::string out =
      make_bold(break_lines(format_headline(config), " · ", " ·", width, "  "), paint);
  Table facts{{{"in this plan"}, {""}}};
  for (const planner::ConceptFact& fact : answer.facts.facts)
    facts.rows.push_back({fact.label, fact.text});
  if (!facts.rows.empty()) out += format_remarked_table(facts, paint, "  ", width) + "\n";
  if (!answer.facts.communication.empty())
    out +=
        make_short_communication_table(answer.facts.communication).text(paint, "  ", width) + "\n";
  else if (answer.page->collective)
    out += "  The plan has no such call.\n\n";
  return out;
}

ordered_json list_buffers(const planner::Buffers& buffers) {
  ordered_json all = ordered_json::array();
  for (const planner::Buffer& buffer : buffers) {
    ordered_json slots = ordered_json::array();
    for (const planner::Slot& slot : buffer) slots.push_back(planner::format_slot(slot));
    all.push_back(slots);
  }
  return all;
}

ordered_json make_collective_json(planner::Collective collective) {
  const planner::Buffers input = make_input(collective, kDrawnRanks);
  ordered_json figures = ordered_json::array();
  for (const i64 ranks : kFigureRanks) {
    const planner::CollectiveFigures of = compute_figures(collective, ranks);
    figures.push_back({{"ranks", ranks}, {"sent_per_byte", of.sent}, {"steps", of.steps}});
  }
  return {{"before", list_buffers(input)},
          {"after", list_buffers(apply_collective(collective, input))},
          {"figures", figures}};
}

ordered_json make_page_document(const planner::ConceptPage& page) {
  const catalog::Term& entry = page.entry();
  ordered_json lines = ordered_json::object();
  for (const planner::ConceptLine& line : planner::concept_lines())
    if (!(page.*line.text).empty()) lines[std::string(line.label)] = page.*line.text;
  ordered_json next = ordered_json::array();
  for (const std::string_view command : page.next)
    if (!command.empty()) next.push_back(fmt::format("rankwright {}", command));
  ordered_json json = {{"schema", "rankwright.concept/1"},
                       {"concept", page.term},
                       {"typed", page.typed},
                       {"also", entry.also},
                       {"definition", entry.definition},
                       {"lines", lines}};
  if (page.collective) json["collective"] = make_collective_json(*page.collective);
  json["next"] = next;
  return json;
}

}  // namespace

std::string draw_collective(planner::Collective collective, std::size_t width) {
  const planner::Buffers input = make_input(collective, kDrawnRanks);
  const std::vector<std::string> before = draw_buffers(input);
  const std::vector<std::string> after = draw_buffers(apply_collective(collective, input));
  constexpr std::string_view kArrow = "  ->  ";
  constexpr std::size_t kName = 10;  // columns of "  rank 0  "
  const bool beside = kName + before[0].size() + kArrow.size() + after[0].size() <= width;
  const auto line = [](std::size_t rank, const std::string& text) {
    return fmt::format("  rank {}  {}\n", rank, text);
  };
  std::string out = beside ? fmt::format("{:>{}}{:<{}}{}\n", "", kName, "before",
                                         before[0].size() + kArrow.size(), "after")
                           : fmt::format("{:>{}}before\n", "", kName);
  for (std::size_t r = 0; r < before.size(); ++r)
    out += line(r, beside ? before[r] + std::string(kArrow) + after[r] : before[r]);
  if (!beside) {
    out += fmt::format("{:>{}}after\n", "", kName);
    for (std::size_t r = 0; r < after.size(); ++r) out += line(r, after[r]);
  }
  return out;
}

std::string render_concept_text(const planner::ConceptPage& page, const Paint& paint,
                                std::size_t width) {
  return render_title(page, paint, width) +
         (page.collective ? render_collective(*page.collective, paint, width) : "") +
         render_lines(page, false, paint, width);
}

std::string make_concept_json(const planner::ConceptPage& page) {
  return dump_json(make_page_document(page));
}

std::string render_concept_text(const planner::ConceptAnswer& answer, const Paint& paint,
                                std::size_t width) {
  const std::optional<planner::Collective> collective = answer.page->collective;
  return render_title(*answer.page, paint, width) +
         (collective ? render_collective(*collective, paint, width) : "") +
         render_facts(answer, paint, width) + render_lines(*answer.page, true, paint, width);
}

std::string make_concept_json(const planner::ConceptAnswer& answer) {
  ordered_json facts = ordered_json::array(), communication = ordered_json::array();
  for (const planner::ConceptFact& fact : answer.facts.facts)
    facts.push_back({{"label", fact.label},
                     {"text", fact.text},
                     {"value", fact.value ? ordered_json(*fact.value) : ordered_json()},
                     {"unit", fact.unit}});
  for (const planner::CommunicationRow& row : answer.facts.communication) {
    ordered_json one = make_communication_json(row);
    one["exposed_seconds"] = row.exposed.value;
    one["overlapped_seconds"] = row.overlapped.value;
    communication.push_back(std::move(one));
  }
  ordered_json json = make_page_document(*answer.page);
  json["plan"] = {{"name", answer.plan.name()},
                  {"headline", format_headline(answer.plan.config())},
                  {"facts", facts},
                  {"communication", communication}};
  return dump_json(json);
}

}  // namespace rankwright::report
