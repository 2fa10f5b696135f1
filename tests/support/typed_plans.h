// Lints the text of a plan file for tests, and applies the edits of a fix.
#pragma once

#include <yaml-cpp/yaml.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/import/plan/plan_file.h"
#include "rankwright/rules/rule.h"

namespace rankwright::typed_plans {

inline Diagnostics diagnose(const std::string& text, rules::Target target) {
  return lint(resolve(importer::read_plan(text, "example.yaml", importer::refuse_file).draft),
              target);
}

inline void set(YAML::Node map, std::string_view path, const YAML::Node& value) {
  const std::size_t dot = path.find('.');
  const std::string key(path.substr(0, dot));
  if (dot == std::string_view::npos) {
    map[key] = value;
  } else {
    if (!map[key]) map[key] = YAML::Node(YAML::NodeType::Map);
    set(map[key], path.substr(dot + 1), value);
  }
}

/// Returns the text with the edits applied.
inline std::string typed(const std::string& text, const std::vector<Edit>& edits) {
  YAML::Node root = YAML::Load(text);
  for (const Edit& edit : edits) set(root, edit.key, YAML::Load(edit.value));
  return YAML::Dump(root) + "\n";
}

inline std::set<std::string> codes(const Diagnostics& diagnostics) {
  std::set<std::string> all;
  for (const Diagnostic& d : diagnostics) all.insert(std::string(d.code));
  return all;
}

inline std::string show(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& d : diagnostics)
    text += std::string(d.code) + ": " + d.message + ": " + d.detail + "\n";
  return text;
}

/// Returns what a fix of `code` left or caused: the code itself, and errors that were not there
/// before.
inline std::string unhealed(const Diagnostics& before, const Diagnostics& after,
                            std::string_view code) {
  const std::set<std::string> old = codes(before);
  Diagnostics left;
  for (const Diagnostic& d : after) {
    const bool fresh = d.severity == Severity::error && !old.contains(std::string(d.code));
    if (d.code == code || fresh) left.push_back(d);
  }
  return show(left);
}

}  // namespace rankwright::typed_plans
