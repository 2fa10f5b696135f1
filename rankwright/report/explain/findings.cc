#include "rankwright/report/explain/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <vector>

#include "rankwright/base/format.h"
#include "rankwright/base/terminal_text.h"
#include "rankwright/import/syntax/lines.h"
#include "rankwright/report/render/table.h"
#include "rankwright/rules/rule.h"

namespace rankwright::report {
namespace {

using nlohmann::ordered_json;

/// Returns a line of a file with one displayed character per character of the file, so that a
/// caret below it is aligned.
std::string make_printable(std::string_view line) {
  std::string blanks(line);
  std::replace(blanks.begin(), blanks.end(), '\t', ' ');
  return make_excerpt(blanks, blanks.size());
}

/// The part of a line that is shown, and the number of characters before and under the caret.
struct Window {
  std::string text;
  std::size_t before = 0;
  std::size_t width = 1;
};

/// Cuts a long line to a window around the location. Columns count bytes, carets characters.
Window cut_window(std::string_view line, const Location& where, std::size_t longest) {
  const std::size_t lead = longest / 3;  // bytes shown before the location if the beginning is cut
  const auto boundary = [&](std::size_t at) {
    while (at < line.size() && (static_cast<unsigned char>(line[at]) & 0xC0u) == 0x80u) ++at;
    return std::min(at, line.size());
  };
  const std::size_t place = std::min(std::size_t(std::max(where.column, 1)) - 1, line.size());
  const bool far = line.size() > longest && place + lead > longest;
  const std::size_t begin = far ? boundary(place - lead) : 0;
  const std::size_t end = line.size() - begin > longest ? boundary(begin + longest) : line.size();
  const std::size_t last = std::clamp(place + std::size_t(std::max(where.width, 1)), place, end);
  const std::string_view head = begin > 0 ? "..." : "";
  const std::string_view tail = end < line.size() ? "..." : "";
  const auto width = [&](std::size_t from, std::size_t to) {
    return display_width(make_printable(line.substr(from, to - from)));
  };
  return {.text = std::string(head) + make_printable(line.substr(begin, end - begin)) +
                  std::string(tail),
          .before = head.size() + width(begin, place),
          .width = std::max<std::size_t>(1, width(place, last))};
}

std::string write_finding(const Diagnostic& d, std::string_view file,
                          std::span<const importer::TextLine> lines, const Paint& paint,
                          std::size_t width) {
  constexpr std::size_t kMinShown = 20, kEllipses = 6;
  std::string out = paint.severity(d.severity, fmt::format("{}[{}]", name(d.severity), d.code)) +
                    paint.bold(": " + clean_name(d.message)) + "\n";
  const bool placed = d.where.line > 0;
  if (!d.where.file.empty())
    out += paint.blue("  --> ") + clean_name(d.where.file) +
           (placed ? fmt::format(":{}:{}", d.where.line, d.where.column) : "") + "\n";
  const std::string detail = clean_name(d.detail);
  const bool in_file = placed && d.where.file == file && std::size_t(d.where.line) <= lines.size();
  const std::string_view line =
      in_file ? lines[std::size_t(d.where.line) - 1].text : std::string_view{};
  if (!line.empty()) {
    const std::string number = std::to_string(d.where.line);
    const std::string gutter = std::string(number.size() + 3, ' ') + "|";
    const Window shown = cut_window(
        line, d.where, std::max(kMinShown, width - std::min(width, gutter.size() + kEllipses + 1)));
    out += paint.blue(gutter) + "\n";
    out += paint.blue(fmt::format("  {} |", number)) + " " + shown.text + "\n";
    out += paint.blue(gutter) + std::string(shown.before + 1, ' ') +
           paint.severity(d.severity,
                          std::string(shown.width, '^') + (detail.empty() ? "" : " ") + detail) +
           "\n";
  } else if (!detail.empty()) {
    out += "  " + detail + "\n";
  }
  for (const std::string& note : d.notes) out += paint.bold("  note: ") + clean_name(note) + "\n";
  if (!help(d).empty()) out += paint.green("  help: ") + clean_name(help(d)) + "\n";
  return out;
}

i64 count_severity(const Diagnostics& findings, Severity severity) {
  return std::count_if(findings.begin(), findings.end(),
                       [&](const Diagnostic& d) { return d.severity == severity; });
}

ordered_json make_finding_json(const Diagnostic& d) {
  ordered_json fix = ordered_json::array();
  for (const Edit& edit : d.fix) fix.push_back({{"key", edit.key}, {"value", edit.value}});
  return {{"code", d.code},
          {"severity", name(d.severity)},
          {"message", d.message},
          {"detail", d.detail},
          {"notes", d.notes},
          {"help", help(d)},
          {"fix", fix},
          {"key", d.key},
          {"file", d.where.file},
          {"line", d.where.line},
          {"column", d.where.column}};
}

/// Converts a file name to a relative URI reference: characters other than letters, digits and
/// -._~/ are percent-encoded.
std::string to_uri(std::string_view file) {
  std::string out;
  for (const char c : file) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

/// Breaks up "[text](address)", which viewers show as a link in a message (SARIF 2.1.0, 3.11.6).
std::string break_links(std::string text) {
  for (std::size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at))
    text.insert(at + 1, " ");
  return text;
}

/// Serializes JSON. Invalid UTF-8, which files may contain, is replaced; never throws.
std::string dump(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string count_findings(const Diagnostics& findings) {
  std::string text;
  const auto add = [&](Severity severity, std::string_view one, std::string_view many) {
    const i64 n = count_severity(findings, severity);
    if (n > 0) text += (text.empty() ? "" : ", ") + plural(n, one, many);
  };
  add(Severity::error, "error", "errors");
  add(Severity::warning, "warning", "warnings");
  add(Severity::note, "note", "notes");
  return text;
}

std::string render_findings_text(const Diagnostics& findings, std::string_view file,
                                 std::string_view text, const Paint& paint, std::size_t width) {
  if (findings.empty()) return "";
  return write_findings(findings, file, text, paint, width) +
         fmt::format("{} · details: rankwright explain {}\n", count_findings(findings),
                     findings.front().code);
}

std::string write_findings(const Diagnostics& findings, std::string_view file,
                           std::string_view text, const Paint& paint, std::size_t width) {
  const std::vector<importer::TextLine> lines = importer::split_lines(text);
  std::string out;
  for (const Diagnostic& d : findings)
    out += fit_lines(write_finding(d, file, lines, paint, width), width) + "\n";
  return out;
}

std::string render_findings_github(const Diagnostics& findings) {
  // The characters that workflow commands reserve, in properties also ',' and ':'.
  const auto escape = [](std::string_view text, std::string_view reserved) {
    std::string out;
    for (const char c : text)
      out += reserved.find(c) == std::string_view::npos
                 ? std::string(1, c)
                 : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    return out;
  };
  constexpr std::string_view kInText = "%\r\n", kInProperty = "%\r\n,:";
  constexpr std::string_view kCommands[] = {"error", "warning", "notice"};
  std::string out;
  for (const Diagnostic& d : findings) {
    std::string text = clean_name(d.detail.empty() ? d.message : d.detail);
    if (!help(d).empty()) text += "\nhelp: " + clean_name(help(d));
    std::string where;
    if (!d.where.file.empty()) where = "file=" + escape(clean_name(d.where.file), kInProperty);
    if (d.where.line > 0)
      where += fmt::format(",line={},col={},endColumn={}", d.where.line, d.where.column,
                           d.where.column + d.where.width);
    const std::string title =
        escape(fmt::format("{} {}", d.code, clean_name(d.message)), kInProperty);
    out += fmt::format("::{} {}{}title={}::{}\n", kCommands[std::size_t(d.severity)], where,
                       where.empty() ? "" : ",", title, escape(text, kInText));
  }
  return out;
}

namespace {

ordered_json make_findings_object(const FileFindings& of) {
  ordered_json all = ordered_json::array();
  for (const Diagnostic& d : of.findings) all.push_back(make_finding_json(d));
  return {{"schema", "rankwright.check/1"},
          {"file", of.file},
          {"errors", count_severity(of.findings, Severity::error)},
          {"warnings", count_severity(of.findings, Severity::warning)},
          {"notes", count_severity(of.findings, Severity::note)},
          {"findings", all}};
}

}  // namespace

std::string make_findings_json(const Diagnostics& findings, std::string_view file) {
  return dump(make_findings_object({file, findings}));
}

std::string make_findings_json(std::span<const FileFindings> files) {
  ordered_json all = ordered_json::array();
  for (const FileFindings& of : files) all.push_back(make_findings_object(of));
  return dump({{"schema", "rankwright.checks/1"}, {"files", all}});
}

std::string render_findings_sarif(const Diagnostics& findings, std::string_view version) {
  ordered_json rules = ordered_json::array();
  std::set<std::string_view> codes;
  for (const Diagnostic& d : findings) codes.insert(d.code);
  for (const std::string_view code : codes) {
    const rules::Page* page = rules::find_page(code);
    rules.push_back({{"id", code},
                     {"shortDescription", {{"text", page == nullptr ? code : page->title}}},
                     {"fullDescription", {{"text", page == nullptr ? code : page->why}}}});
  }
  ordered_json results = ordered_json::array();
  for (const Diagnostic& d : findings) {
    ordered_json place = {{"artifactLocation", {{"uri", to_uri(d.where.file)}}}};
    if (d.where.line > 0)
      place["region"] = {{"startLine", d.where.line},
                         {"startColumn", d.where.column},
                         {"endColumn", d.where.column + d.where.width}};
    std::string text = d.message;
    if (!d.detail.empty()) text += ": " + d.detail;
    if (!help(d).empty()) text += ". Try " + help(d);
    results.push_back({{"ruleId", d.code},
                       {"level", name(d.severity)},
                       {"message", {{"text", break_links(text)}}},
                       {"locations", {{{"physicalLocation", place}}}}});
  }
  return dump(
      {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
       {"version", "2.1.0"},
       {"runs",
        {{{"tool", {{"driver", {{"name", "rankwright"}, {"version", version}, {"rules", rules}}}}},
          {"results", results}}}}});
}

}  // namespace rankwright::report
