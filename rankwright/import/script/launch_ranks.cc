// The ranks that a launcher starts: by its options, by the variables of the script, or by the GPUs
// that are visible.
#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "rankwright/import/script/flag_collector.h"
#include "rankwright/import/script/script_parts.h"
#include "rankwright/import/script/training_commands.h"

namespace rankwright::importer {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 16 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// A number that the launcher gets, and the variable whose default it is.
struct LaunchValue {
  YamlNode node;
  std::string default_of{};

  i64 number() const { return std::stoll(node.scalar); }
};

/// Returns the first number among the flags, then among the variables.
std::optional<LaunchValue> find_launch_value(const ScriptFlags& flags, const ShellScript& script,
                                             const LocationIndex& locations,
                                             std::initializer_list<const char*> names,
                                             std::initializer_list<const char*> variables) {
  for (const char* name : names)
    if (const YamlNode* const node = flags.map.find(name);
        node != nullptr && is_number(node->scalar)) {
      const auto open = std::find_if(flags.defaults.begin(), flags.defaults.end(),
                                     [&](const auto& one) { return one.flag == name; });
      return LaunchValue{*node, open == flags.defaults.end() ? "" : open->variable};
    }
  for (const char* name : variables) {
    const auto found = script.variables.find(name);
    if (found == script.variables.end()) continue;
    const ShellWord& word = found->second;
    if (word.unknown.empty() && is_number(word.text))
      return LaunchValue{locations.node(word.at, word.width, word.text), word.default_of};
  }
  return std::nullopt;
}

/// Returns whether a variable is set for one command only (`A=1 python data.py`), and another
/// command trains.
bool is_set_for_other_command(const ShellScript& script, const ShellWord& value,
                              std::string_view text) {
  if (value.at >= text.size()) return false;
  const std::size_t after = text.find_first_not_of(" \t", value.at + value.width);
  if (after == std::string_view::npos || text[after] == '\n' || text[after] == ';') return false;
  const std::size_t line = text.rfind('\n', value.at) + 1;
  if (text.substr(line, value.at - line).find("export ") != std::string_view::npos) return false;
  std::size_t end = text.find('\n', value.at);
  while (end != std::string_view::npos && text[end - 1] == '\\') end = text.find('\n', end + 1);
  bool trains = false;
  for (const ShellCommand& command : script.commands) {
    if (command.assigned || !has_run_words(command.words)) continue;
    trains = true;
    if (std::any_of(command.words.begin(), command.words.end(),
                    [&](const ShellWord& word) { return word.at >= value.at && word.at < end; }))
      return false;
  }
  return trains;
}

/// Returns the number of GPUs that a script makes visible to the training ("0,1,2"); nothing if it
/// is not stated.
std::optional<ScriptFlags::VisibleGpus> count_visible_gpus(const ShellScript& script,
                                                           std::string_view text) {
  const auto found = script.variables.find("CUDA_VISIBLE_DEVICES");
  if (found == script.variables.end()) return std::nullopt;
  const ShellWord& list = found->second;
  if (is_set_for_other_command(script, list, text)) return std::nullopt;
  const bool plain = !list.text.empty() && list.unknown.empty() &&
                     list.text.find_first_not_of("0123456789,") == std::string::npos;
  if (!plain || list.text.front() == ',' || list.text.back() == ',') return std::nullopt;
  return ScriptFlags::VisibleGpus{1 + i64(std::count(list.text.begin(), list.text.end(), ',')),
                                  list.default_of};
}

/// Sets the ranks that the launcher of DeepSpeed starts on the GPUs that --include lists:
/// "node1:0,1@node2:0,1". A node without a list has all of its GPUs, which are not known.
void add_included_gpus(ScriptFlags& flags) {
  const YamlNode* const listed = flags.map.find("include");
  if (listed == nullptr || listed->scalar.find(':') == std::string::npos) return;
  YamlNode value = *listed;
  const auto set = [&](const char* name, i64 number) {
    value.scalar = std::to_string(number);
    put_flag(flags.map, name, value);
  };
  i64 nodes = 0, all = 0, first = 0;
  bool even = true;
  std::string_view rest = listed->scalar;
  while (!rest.empty()) {
    const std::string_view node = rest.substr(0, rest.find('@'));
    rest.remove_prefix(std::min(rest.size(), node.size() + 1));
    if (node.find(':') == std::string_view::npos) return;
    const i64 gpus = 1 + i64(std::count(node.begin(), node.end(), ','));
    if (++nodes == 1) first = gpus;
    even = even && gpus == first;
    all += gpus;
  }
  if (even) set("nnodes", nodes);
  set(even ? "nproc-per-node" : "ntasks", even ? first : all);
}

/// Returns the nodes of a launch that states all its tasks: they are its ranks, or one launcher per
/// node if there are fewer than ranks of a node. Some platforms count nodes by WORLD_SIZE.
std::optional<LaunchValue> derive_nodes(const LaunchValue& tasks, const LaunchValue& gpus) {
  const i64 all = tasks.number(), each = gpus.number();
  const bool fewer = all < each;
  if (all < 1 || each < 1 || (!fewer && !divides(each, all))) return std::nullopt;
  LaunchValue nodes = tasks;
  nodes.node.scalar = std::to_string(fewer ? all : all / each);
  return nodes;
}

}  // namespace

void add_launch(ScriptFlags& flags, const ShellScript& script, std::string_view text,
                const LocationIndex& locations) {
  add_included_gpus(flags);
  std::optional<LaunchValue> nodes =
      find_launch_value(flags, script, locations, {"nnodes", "nodes"},
                        {"NNODES", "NUM_NODES", "N_NODES", "NODES", "SLURM_NNODES", "nnodes",
                         "num_nodes", "num_node"});
  const std::optional<LaunchValue> gpus =
      find_launch_value(flags, script, locations, {"nproc-per-node", "gpus-per-node"},
                        {"GPUS_PER_NODE", "NPROC_PER_NODE", "NUM_GPUS_PER_NODE", "N_GPUS_PER_NODE",
                         "GPUS_PER_HOST", "SLURM_GPUS_ON_NODE", "SLURM_NTASKS_PER_NODE",
                         "gpus_per_node", "num_gpus_pernode", "num_gpus_per_node"});
  std::optional<LaunchValue> world =
      find_launch_value(flags, script, locations, {"ntasks"},
                        {"WORLD_SIZE", "SLURM_NTASKS", "NUM_GPUS", "num_gpus", "world_size"});
  if (!nodes && !gpus && !world) flags.visible_gpus = count_visible_gpus(script, text);
  // torchrun's default is one node.
  const bool stated = std::any_of(flags.unknown.begin(), flags.unknown.end(), [](const auto& one) {
    return one.flag == "nnodes" || one.flag == "nodes" || one.flag == "ntasks";
  });
  const bool launcher = flags.map.find("nproc-per-node") != nullptr;
  if (!nodes && gpus && world && !stated) {
    nodes = derive_nodes(*world, *gpus);
    if (nodes) world.reset();
  } else if (!nodes && gpus && !stated && launcher) {
    nodes = *gpus;
    nodes->node.scalar = "1";
    nodes->default_of.clear();
  }
  for (const std::string_view name :
       {"nnodes", "nodes", "nproc-per-node", "gpus-per-node", "ntasks"})
    drop_flag(flags.map, name);
  // The defaults of variables are open: they describe no particular run.
  const std::optional<LaunchValue>* const values[] = {&nodes, &gpus, &world};
  for (const std::optional<LaunchValue>* const one : values) {
    if (!*one || (*one)->default_of.empty()) continue;
    if (one == &world && nodes && gpus) continue;
    ScriptFlags::OpenRanks open{.variable = (*one)->default_of};
    if (nodes) open.nodes = nodes->number();
    if (gpus) open.gpus = gpus->number();
    if (world && !(nodes && gpus)) open.world = world->number();
    flags.open_ranks = std::move(open);
    return;
  }
  if (nodes) put_flag(flags.map, "nodes", nodes->node);
  if (gpus) put_flag(flags.map, "gpus-per-node", gpus->node);
  if (world) put_flag(flags.map, "world-size", world->node);
}

}  // namespace rankwright::importer
