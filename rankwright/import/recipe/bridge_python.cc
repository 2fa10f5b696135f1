// Reads programs for Megatron-Bridge that assign the settings of a config one by one
// ("cfg.train.global_batch_size = 64"). The text is read line by line and never executed: literals,
// and names that were assigned one, in the first function that has settings. Conditions and loops
// are not followed; what is set in them is left open.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "rankwright/base/format.h"
#include "rankwright/base/trim.h"
#include "rankwright/import/framework/megatron_flags.h"
#include "rankwright/import/framework/recipes.h"
#include "rankwright/import/syntax/lines.h"

namespace rankwright::importer {
namespace {

/// Sections of a config of Megatron-Bridge.
constexpr std::string_view kSections[] = {
    "model",           "train",        "dataset", "optimizer", "optim", "ddp",
    "mixed_precision", "comm_overlap", "profile", "tokenizer", "peft"};

/// "a.b.c = value", without its comment.
struct Assignment {
  std::size_t indent = 0;
  std::string_view name, value;
  int column = 1;  // of the value
};

std::optional<Assignment> parse_assignment(std::string_view line) {
  const std::size_t indent = line.find_first_not_of(" \t");
  const std::size_t equals = line.find('=');
  if (indent == std::string_view::npos || equals == std::string_view::npos || equals <= indent)
    return std::nullopt;
  if (line.substr(equals).starts_with("==")) return std::nullopt;
  const std::string_view name = trim(line.substr(indent, equals - indent));
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  });
  std::string_view value = line.substr(equals + 1);
  value = trim(value.substr(0, value.find('#')));
  if (!plain || name.empty() || value.empty()) return std::nullopt;
  return Assignment{indent, name, value, int(value.data() - line.data()) + 1};
}

/// Returns "train.global_batch_size" for "cfg.train.global_batch_size"; empty for any other name.
std::string_view find_setting(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view path = name.substr(dot + 1);
  const std::string_view section = path.substr(0, path.find('.'));
  return std::find(std::begin(kSections), std::end(kSections), section) == std::end(kSections)
             ? std::string_view()
             : path;
}

/// Returns the value of a literal: a number, a text or a constant.
std::optional<std::string> parse_literal(std::string_view text) {
  if (text.size() > 1 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0] &&
      text.find(text[0], 1) == text.size() - 1)
    return std::string(text.substr(1, text.size() - 2));
  if (text == "True" || text == "False" || text == "None") return std::string(text);
  std::string number(text);
  std::erase(number, '_');
  const bool plain = !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
  return plain ? std::optional(std::move(number)) : std::nullopt;
}

/// Reads the lines of a program.
class ProgramReader {
 public:
  explicit ProgramReader(MegatronFlags& flags) : flags_(flags) {
    flags.map.kind = YamlNode::Kind::map;
  }

  /// Returns whether the settings are complete: another function follows.
  bool add(const TextLine& line) {
    const std::string_view text = line.text;
    const std::size_t marks = text.find("\"\"\"");
    if (marks != std::string_view::npos && text.find("\"\"\"", marks + 3) == std::string_view::npos)
      in_text_ = !in_text_;
    if (in_text_) return false;
    if (text.starts_with("def ")) {
      body_ = 0;
      return !flags_.map.entries.empty();
    }
    const std::size_t indent = text.find_first_not_of(" \t\r");
    if (indent == std::string_view::npos || text[indent] == '#') return false;
    if (body_ == 0 && indent > 0) body_ = indent;
    const std::optional<Assignment> one = parse_assignment(text);
    if (one) assign(*one, line.number);
    return false;
  }

 private:
  static constexpr std::size_t kMaxSettings = 1000;

  void assign(const Assignment& one, int line) {
    YamlNode value;
    value.kind = YamlNode::Kind::scalar;
    value.line = line;
    value.column = one.column;
    value.width = int(std::min<std::size_t>(one.value.size(), 100));
    const bool certain = one.indent == 0 || one.indent == body_;
    const std::optional<std::string> literal = find_value(one.value);
    const std::string_view setting = find_setting(one.name);
    if (setting.empty()) {
      if (certain && literal) known_[std::string(one.name)] = *literal;
      return;
    }
    if (setting == "model") return assign_model(one.value, std::move(value));
    if (!certain || !literal) {
      if (flags_.unknown.size() >= kMaxSettings) return;
      flags_.unknown.push_back(
          {name_flag(setting), certain ? "an expression" : "a branch", std::move(value)});
      return;
    }
    value.scalar = *literal;
    put(setting, std::move(value));
  }

  /// "AutoBridge.from_hf_pretrained(NAME)...": the model of a hub.
  void assign_model(std::string_view call, YamlNode value) {
    const std::size_t open = call.find("from_hf_pretrained(");
    if (open == std::string_view::npos) return;
    const std::string_view arguments = call.substr(call.find('(', open) + 1);
    const std::optional<std::string> name =
        find_value(trim(arguments.substr(0, arguments.find_first_of(",)"))));
    if (!name) return;
    value.scalar = *name;
    put("model.hf_model_id", std::move(value));
  }

  std::optional<std::string> find_value(std::string_view text) const {
    const auto named = known_.find(std::string(text));
    return named == known_.end() ? parse_literal(text) : std::optional(named->second);
  }

  void put(std::string_view key, YamlNode value) {
    std::erase_if(flags_.map.entries,
                  [&](const YamlEntry& entry) { return entry.key.scalar == key; });
    YamlEntry entry{value, std::move(value)};
    entry.key.scalar = key;
    if (flags_.map.entries.size() < kMaxSettings) flags_.map.entries.push_back(std::move(entry));
  }

  MegatronFlags& flags_;
  std::map<std::string, std::string> known_{};  // names that were assigned a literal
  std::size_t body_ = 0;                        // indentation of the function
  bool in_text_ = false;
};

}  // namespace

bool is_bridge_program(std::string_view file, std::string_view text) {
  const auto has = [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; };
  return file.ends_with(".py") && has("megatron.bridge") &&
         (has(".train.micro_batch_size =") || has(".train.global_batch_size ="));
}

MegatronFlags read_bridge_program(std::string_view text, const std::string& file,
                                  Diagnostics& findings) {
  MegatronFlags flags;
  ProgramReader reader(flags);
  bool complete = false;
  for (const TextLine& line : split_lines(text)) {
    if (!complete) {
      complete = reader.add(line);
      continue;
    }
    const std::optional<Assignment> one = parse_assignment(line.text);
    if (!one || find_setting(one->name).empty()) continue;
    findings.push_back(make_assumption("the file has several configs: using the first", "",
                                       {.file = file, .line = line.number}));
    break;
  }
  return flags;
}

}  // namespace rankwright::importer
