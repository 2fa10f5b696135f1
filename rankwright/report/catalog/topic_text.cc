#include "rankwright/report/catalog/topic_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "rankwright/report/render/table.h"

namespace rankwright::report {
namespace {

using nlohmann::ordered_json;

std::string write_section(std::string_view title, std::string_view text, const Paint& paint,
                          std::size_t width) {
  if (text.empty()) return "";
  return paint.bold(title) + "\n" + wrap_text(text, width - 4, "  ") + "\n";
}

std::string indent(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += "  " + std::string(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

std::string render_page_text(const rules::Page& page, const Paint& paint, std::size_t width) {
  std::string out =
      paint.severity(page.severity, fmt::format("{}[{}]", name(page.severity), page.code)) +
      paint.bold(fmt::format(": {}", page.title)) + "\n\n";
  out += write_section("Why it matters", page.why, paint, width);
  out += write_section("How to fix", page.remedy, paint, width);
  out += write_section("Source", page.source, paint, width);
  if (!page.example.empty())
    out += paint.bold(page.example.starts_with("0") ? "Example (schedule)" : "Example (plan)") +
           "\n" + indent(page.example);
  return out;
}

std::string make_page_json(const rules::Page& page) {
  const ordered_json json = {
      {"schema", "rankwright.code/1"}, {"code", page.code},      {"severity", name(page.severity)},
      {"title", page.title},           {"why", page.why},        {"remedy", page.remedy},
      {"source", page.source},         {"example", page.example}};
  return json.dump(2) + "\n";
}

std::string render_key_text(const importer::PlanKey& key, const Paint& paint, std::size_t width) {
  std::string out = paint.bold(key.path) + "\n\n";
  out += write_section("Meaning", key.meaning, paint, width);
  out += write_section("Values", key.values, paint, width);
  out += write_section("Default", key.missing, paint, width);
  out += write_section("Effect", key.cost, paint, width);
  return out;
}

std::string make_key_json(const importer::PlanKey& key) {
  const ordered_json json = {{"schema", "rankwright.key/1"}, {"key", key.path},
                             {"meaning", key.meaning},       {"values", key.values},
                             {"missing", key.missing},       {"cost", key.cost}};
  return json.dump(2) + "\n";
}

std::string render_term_text(const catalog::Term& term, const Paint& paint, std::size_t width) {
  std::string out = paint.bold(term.name) + "\n\n" + wrap_text(term.definition, width - 4, "  ");
  if (!term.also.empty())
    out += "\n" + wrap_text(fmt::format("Also: {}.", fmt::join(term.also, ", ")), width - 4, "  ");
  return out;
}

std::string make_term_json(const catalog::Term& term) {
  const ordered_json json = {{"schema", "rankwright.term/1"},
                             {"term", term.name},
                             {"also", term.also},
                             {"definition", term.definition}};
  return json.dump(2) + "\n";
}

}  // namespace rankwright::report
