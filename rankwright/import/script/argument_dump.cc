// Reads the dump of Megatron-LM's arguments in a log.
#include <set>
#include <utility>

#include "rankwright/import/script/script_parts.h"
#include "rankwright/import/syntax/shell_evaluator.h"

namespace rankwright::importer {
namespace {

/// A line of an argument dump, after any launcher prefix: "  tensor_model_parallel_size ........
/// 8".
struct DumpLine {
  std::string_view name, value;
};

std::optional<DumpLine> parse_dump_line(std::string_view line) {
  const std::size_t dots = line.find(" ..");
  if (dots == std::string_view::npos) return std::nullopt;
  std::size_t begin = dots;
  while (begin > 0 && shell::is_name(line[begin - 1])) --begin;
  const std::size_t end = line.find_first_not_of('.', dots + 1);
  if (begin == dots || (begin > 0 && line[begin - 1] != ' ') || end == std::string_view::npos ||
      line[end] != ' ')
    return std::nullopt;
  std::size_t first = line.find_first_not_of(' ', end), last = line.find_last_not_of(" \r\t");
  if (first == std::string_view::npos || last < first) return std::nullopt;
  return DumpLine{line.substr(begin, dots - begin), line.substr(first, last + 1 - first)};
}

/// Returns "p2p a2a" for "['p2p', 'a2a']".
std::string flatten_list(std::string_view value) {
  if (value.find('\'') == std::string_view::npos) return std::string(value);
  std::string text(value);
  std::erase_if(text, [](char c) { return c == '[' || c == ']' || c == '\'' || c == ','; });
  return text;
}

/// Some arguments are named differently from the flags that set them, or have the opposite sense.
void put_argument(YamlNode& map, std::string_view argument, YamlNode value) {
  struct Renamed {
    std::string_view argument;
    std::string_view flag;
    bool opposite = false;
  };
  constexpr Renamed kRenamed[] = {{"fp8", "fp8-format"},
                                  {"fp4", "fp4-format"},
                                  {"overlap-p2p-comm", "no-overlap-p2p-communication", true},
                                  {"add-bias-linear", "disable-bias-linear", true}};
  std::string name = current_name(argument);
  bool opposite = false;
  for (const Renamed& one : kRenamed)
    if (name == one.argument) {
      name = one.flag;
      opposite = one.opposite;
    }
  const bool yes = value.scalar == "True", no = value.scalar == "False";
  if (value.scalar == "None" || (opposite ? yes : no)) return drop_flag(map, name);
  if (yes || no) value.scalar = "true";
  put_flag(map, name, std::move(value));
}

/// Reads "using world size: 64, data-parallel size: 2, ...".
/// Returns the arguments that it sets, as dumps name them.
std::vector<const char*> add_world_line(std::string_view line, std::size_t at,
                                        const LocationIndex& locations, YamlNode& map) {
  struct Size {
    std::string_view label;
    const char *flag, *argument;
  };
  constexpr Size kSizes[] = {
      {"world size: ", "world-size", "world_size"},
      {"data-parallel size: ", "data-parallel-size", "data_parallel_size"},
      {" context-parallel size: ", "context-parallel-size", "context_parallel_size"},
      {"tensor-model-parallel size: ", "tensor-model-parallel-size", "tensor_model_parallel_size"},
      {"pipeline-model-parallel size: ", "pipeline-model-parallel-size",
       "pipeline_model_parallel_size"}};
  std::vector<const char*> set;
  for (const auto& [label, name, argument] : kSizes) {
    const std::size_t found = line.find(label);
    if (found == std::string_view::npos) continue;
    const std::size_t first = found + label.size();
    std::size_t end = first;
    while (end < line.size() && line[end] >= '0' && line[end] <= '9') ++end;
    if (end == first) continue;
    put_flag(map, name,
             locations.node(at + first, end - first, std::string(line.substr(first, end - first))));
    set.push_back(argument);
  }
  return set;
}

}  // namespace

bool has_argument_dump(std::string_view text) {
  return text.find("tensor_model_parallel_size ..") != std::string_view::npos;
}

ScriptFlags read_argument_dump(std::string_view text) {
  ScriptFlags flags;
  flags.map.kind = YamlNode::Kind::map;
  const LocationIndex locations(text);
  std::set<std::string_view> seen;
  bool world = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (!world && line.find("using world size: ") != std::string_view::npos) {
      world = true;
      for (const char* const name : add_world_line(line, begin, locations, flags.map))
        seen.insert(name);
    }
    const std::optional<DumpLine> one = parse_dump_line(line);
    if (one && seen.insert(one->name).second)
      put_argument(flags.map, one->name,
                   locations.node(std::size_t(one->value.data() - text.data()), one->value.size(),
                                  flatten_list(one->value)));
    begin = end + 1;
  }
  return flags;
}

}  // namespace rankwright::importer
