#include "rankwright/export/plan_file.h"

#include <algorithm>

#include "rankwright/export/comment.h"
#include "rankwright/export/plan_keys.h"

namespace rankwright::exporter {
namespace {

/// Returns "    tp: true" and its comment. The lines of a map follow the comment.
std::string key_line(std::string_view path, std::string_view value, const PlanComments& comments) {
  const std::ptrdiff_t depth = std::count(path.begin(), path.end(), '.');
  const std::size_t first = std::min(value.find('\n'), value.size());
  std::string text = std::string(std::size_t(2 * depth), ' ');
  text += path.substr(path.rfind('.') + 1);  // npos + 1 is 0
  text += ":";
  if (first > 0) text += " ";
  text += value.substr(0, first);
  for (const KeyComment& comment : comments.beside)
    if (comment.key == path) text += "  # " + comment_line(comment.text);
  text += value.substr(first);
  return text + "\n";
}

/// Returns the lines that open the maps around `path` which `before`, the previous key, is not in.
std::string open_maps(std::string_view path, std::string_view before,
                      const PlanComments& comments) {
  std::string text;
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos;
       dot = path.find('.', dot + 1))
    if (!before.starts_with(path.substr(0, dot + 1)))
      text += key_line(path.substr(0, dot), "", comments);
  return text;
}

}  // namespace

std::string write_plan_yaml(const plan::TrainingConfig& config, const PlanComments& comments) {
  std::string text = write_comments(comments.head, "#");
  std::string_view before;
  for (const ConfigKey& row : config_keys()) {
    if (!row.written(config)) continue;
    text += open_maps(row.path, before, comments) + key_line(row.path, row.value(config), comments);
    before = row.path;
  }
  return text;
}

}  // namespace rankwright::exporter
