#include "cli/report_output.h"

#include <fmt/format.h>

#include <filesystem>
#include <ostream>

#include "rankwright/base/format.h"
#include "rankwright/report/page/pictures.h"
#include "rankwright/report/page/report_json.h"
#include "rankwright/report/page/report_markdown.h"
#include "rankwright/report/page/report_sentences.h"
#include "rankwright/report/render/page_shell.h"

namespace rankwright::cli {
namespace {

enum class Form { page, json, markdown };

/// Returns the format that the flags select, else by the file's extension: .json, .md.
Form form_of(const Options& options, bool markdown) {
  if (options.json()) return Form::json;
  if (markdown) return Form::markdown;
  if (options.output().ends_with(".json")) return Form::json;
  return options.output().ends_with(".md") ? Form::markdown : Form::page;
}

/// Returns the path of the page: -o, or in the current folder "plan.html" for "plan.yaml" and
/// "report.html" for standard input.
std::string page_path(const std::string& name, const Options& options) {
  if (!options.output().empty()) return options.output();
  return name == "-" ? "report.html" : std::filesystem::path(name).stem().string() + ".html";
}

/// Returns the folder of the pictures relative to the document.
std::string pictures_from(const std::string& document, const std::string& folder) {
  if (folder.empty() || document.empty() || document == "-") return folder;
  std::error_code failed;
  const std::filesystem::path from = std::filesystem::absolute(document, failed).parent_path();
  const std::filesystem::path path = std::filesystem::proximate(folder, from, failed);
  return failed ? folder : path.generic_string();
}

/// Prints why a folder cannot be created. Returns the exit code.
int no_folder(const std::string& folder, std::string_view why, const Io& io) {
  io.err << fmt::format(
      "rankwright report: --svg: {} {}\n"
      "  help: pass a directory, which is created if needed: --svg pictures\n",
      folder, why);
  return kUsage;
}

}  // namespace

report::Report new_report(std::string_view verb, Args args) {
  return {.version = RANKWRIGHT_VERSION, .command = report::format_command_line(verb, args)};
}

int refuse_missing_page(std::string_view verb, const Io& io) {
  if (!report::kReportPage.empty()) return kOk;
  io.err << fmt::format(
      "rankwright {}: built without the HTML report, which needs Node.js 18 or newer and npm\n"
      "  help: use --json, --markdown or --svg of rankwright report, or install both and build "
      "again\n",
      verb);
  return kUnreadable;
}

int save_page(const report::Report& report, const std::string& path, const Options& options,
              const Io& io) {
  const std::string page = report::embed_document(report::kReportPage, make_report_json(report));
  if (const int failed = options.save(page, path, io)) return failed;
  if (!options.quiet() && path != "-")
    io.err << fmt::format("{}: {}, opens in any browser\n", path, show(Bytes{double(page.size())}));
  return kOk;
}

int save_pictures(const report::Report& report, const std::string& folder, const Options& options,
                  const Io& io) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return no_folder(folder, fmt::format("cannot be created: {}", failed.message()), io);
  std::string written;
  for (std::size_t k = 0; k < report.plans.size(); ++k)
    for (const report::Picture& picture : report::draw_pictures(report.plans[k])) {
      const std::string file = name_picture_file(report, k, picture.name);
      const std::filesystem::path path = std::filesystem::path(folder) / file;
      if (const int code = options.save(picture.svg, path.string(), io)) return code;
      written += (written.empty() ? "" : ", ") + file;
    }
  if (!options.quiet()) io.err << fmt::format("{}: {}\n", folder, written);
  return kOk;
}

void ReportFlags::add_to(Options& options) {
  options.describe("--output",
                   "write to this file: .html, .md or .json; default: plan.html for plan.yaml");
  options.add_switch("--markdown", markdown, "write a design document in Markdown");
  options.add("--svg", svg, "write each figure as an SVG file into this directory")
      .type_name("DIR");
}

int ReportFlags::refuse(const std::string& plan, const Options& options, const Io& io) const {
  std::error_code ignored;
  if (std::filesystem::exists(svg, ignored) && !std::filesystem::is_directory(svg, ignored))
    return no_folder(svg, "is a file", io);
  if (only_pictures(options)) return kOk;
  const bool page = form_of(options, markdown) == Form::page;
  if (page)
    if (const int missing = refuse_missing_page("report", io)) return missing;
  return options.refuse_unwritable({page ? page_path(plan, options) : options.output()}, io);
}

int ReportFlags::write(const report::Report& report, const Options& options, const Io& io) const {
  if (!svg.empty())
    if (const int failed = save_pictures(report, svg, options, io)) return failed;
  if (only_pictures(options)) return kOk;
  switch (form_of(options, markdown)) {
    case Form::json:
      return options.write(make_report_json(report), io);
    case Form::markdown:
      return options.write(render_report_markdown(report, pictures_from(options.output(), svg)),
                           io);
    case Form::page:
      break;
  }
  return save_page(report, page_path(report.plans.front().name, options), options, io);
}

}  // namespace rankwright::cli
