#include "cli/lab/lab_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "cli/io/output_file.h"
#include "cli/io/print_refusal.h"
#include "rankwright/base/format.h"
#include "rankwright/base/shell_word.h"
#include "rankwright/import/syntax/file.h"
#include "rankwright/lab/grade.h"

namespace rankwright::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxGraded = 10'000;  // files of one folder

int cannot_write_plans(std::string what, std::string help, const Io& io) {
  print_usage_fault("lab", std::move(what), std::move(help), io);
  return kUnreadable;
}

/// Returns whether `path`, links resolved, is inside `folder`.
bool is_inside(const fs::path& folder, const fs::path& path) {
  std::error_code failed;
  const fs::path whole = fs::weakly_canonical(path, failed),
                 root = fs::weakly_canonical(folder, failed);
  return std::mismatch(root.begin(), root.end(), whole.begin(), whole.end()).first == root.end();
}

/// Returns the answer files of a folder, sorted: regular files that end in .yaml, .yml or .json.
std::vector<fs::path> list_answer_files(const std::string& folder, std::error_code& failed) {
  std::vector<fs::path> files;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const std::string extension = at->path().extension().string();
    const bool named = extension == ".yaml" || extension == ".yml" || extension == ".json";
    std::error_code ignored;
    if (named && at->is_regular_file(ignored)) files.push_back(at->path());
    if (files.size() > kMaxGraded) break;
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int write_lab_plans(const lab::Lab& lab, const std::string& folder, const Options& options,
                    const Io& io) {
  const std::vector<std::string> plans = lab::list_lab_plans(lab);
  std::error_code failed;
  for (const std::string& plan : plans) {
    const fs::path path = fs::path(folder) / plan;
    if (!fs::exists(fs::symlink_status(path, failed))) continue;
    const Result<std::string> there = importer::read_file(path.string());
    if (!there || *there != lab::find_lab_file(plan))
      return cannot_write_plans(
          fmt::format("{} exists with other content", make_excerpt(path.string(), 200)),
          "choose another folder: --files DIR", io);
  }
  std::string listed;
  for (const std::string& plan : plans) {
    const fs::path path = fs::path(folder) / plan;
    fs::create_directories(path.parent_path(), failed);
    if (const std::optional<OutputFault> fault =
            write_file(path.string(), lab::find_lab_file(plan)))
      return cannot_write_plans(fault->what, "choose another folder: --files DIR", io);
    listed += plan + "\n";
  }
  if (options.quiet()) return kOk;
  std::string text = fmt::format("wrote {} plans:\n{}", plans.size(), listed);
  if (folder != ".")
    text +=
        fmt::format("run the commands of the lab from there: cd {}\n", quote_shell_path(folder));
  return options.print(text, io);
}

int grade_folder(const std::string& folder, const Options& options, const Io& io) {
  std::error_code failed;
  const std::vector<fs::path> files = list_answer_files(folder, failed);
  const std::string shown = make_excerpt(folder, 200);
  if (failed)
    return cannot_write_plans(fmt::format("cannot read {}: {}", shown, failed.message()),
                              "name a folder of answer files: rankwright lab --grade DIR", io);
  if (files.empty() || files.size() > kMaxGraded)
    return cannot_write_plans(
        files.empty() ? fmt::format("no answer files in {}", shown)
                      : fmt::format("more than {} answer files in {}", count(kMaxGraded), shown),
        "answer files end in .yaml, .yml or .json", io);
  // Answers may name plan files, but only inside the folder.
  const importer::FileReader inside = [&](const std::string& path) {
    return is_inside(folder, path) ? importer::read_file(path) : importer::refuse_file(path);
  };
  std::vector<lab::Grade> grades;
  for (const fs::path& file : files) {
    Result<std::string> text = inside(file.string());
    const std::string learner = file.filename().string();
    grades.push_back(text ? lab::grade(learner, std::move(*text), file.string(), inside)
                          : lab::refuse_grade(learner, text.error()));
  }
  if (const int wrong =
          options.write(options.json() ? lab::grades_json(grades)
                                       : lab::grades_text(grades, options.paint(io), io.prose()),
                        io))
    return wrong;
  const bool right = std::all_of(grades.begin(), grades.end(), [](const lab::Grade& one) {
    return one.fault.empty() && all_right(one.verdicts);
  });
  return right ? kOk : kRefused;
}

}  // namespace rankwright::cli
