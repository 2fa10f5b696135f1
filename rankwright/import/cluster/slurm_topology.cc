// Reads Slurm's topology.conf or topology.yaml: a tree of switches (topology/tree) or blocks
// (topology/block). It states the levels above hosts and the names of hosts, but nothing about the
// hosts themselves. LinkSpeed is ignored, as Slurm does.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "rankwright/base/format.h"
#include "rankwright/import/cluster/cluster_format.h"
#include "rankwright/import/cluster/host_list.h"
#include "rankwright/import/syntax/lines.h"
#include "rankwright/import/syntax/yaml.h"

namespace rankwright::importer {
namespace {

/// A million accelerators in hosts of four; a short list of hosts can expand to more.
constexpr std::size_t kMaxHosts = std::size_t{1} << 18;

constexpr std::size_t kMaxSwitches = 65536;

/// A line with its continuations joined and its comment removed.
struct Statement {
  int line = 0;
  std::string text{};
};

std::vector<Statement> split_statements(std::string_view text) {
  std::vector<Statement> all;
  bool goes_on = false;
  for (const TextLine& line : split_lines(text)) {
    std::string_view content = line.text.substr(0, line.text.find('#'));
    if (!goes_on) all.push_back({line.number, {}});
    goes_on = content.ends_with('\\');
    if (goes_on) content.remove_suffix(1);
    all.back().text += content;
    if (goes_on) all.back().text += ' ';
  }
  return all;
}

/// Returns whether the text is a topology.yaml: a list of named topologies.
bool is_topology_yaml(std::string_view text) {
  for (const TextLine& line : split_lines(text.substr(0, 65536))) {
    const std::vector<TextWord> words = split_words(line.text);
    if (words.empty() || words.front().text.starts_with('#') || words.front().text == "---")
      continue;
    return words.size() > 1 && words[0].text == "-" && words[1].text == "topology:";
  }
  return false;
}

/// Returns the topology of the file that Slurm uses by default, else its first one; nullptr if
/// there is none.
const YamlNode* find_default_topology(const YamlNode& root) {
  for (const YamlNode& one : root.items) {
    const YamlNode* const usual = one.find("cluster_default");
    if (usual != nullptr && usual->scalar == "true") return &one;
  }
  return root.items.empty() ? nullptr : &root.items.front();
}

/// Returns the switches or blocks of a topology.yaml as the lines of a topology.conf.
std::vector<Statement> convert_topology(const YamlNode& topology) {
  struct Kind {
    std::string_view map, list, name, statement;
  };
  constexpr Kind kKinds[] = {{"tree", "switches", "switch", "SwitchName"},
                             {"block", "blocks", "block", "BlockName"}};
  std::vector<Statement> all;
  for (const Kind& kind : kKinds) {
    const YamlNode* const map = topology.find(kind.map);
    const YamlNode* const list = map == nullptr ? nullptr : map->find(kind.list);
    if (list == nullptr) continue;
    for (const YamlNode& item : list->items) {
      const YamlNode* const name = item.find(kind.name);
      if (name == nullptr) continue;
      Statement one{.line = name->line, .text = fmt::format("{}={}", kind.statement, name->scalar)};
      if (const YamlNode* const below = item.find("children"))
        one.text += " Switches=" + below->scalar;
      if (const YamlNode* const hosts = item.find("nodes")) one.text += " Nodes=" + hosts->scalar;
      all.push_back(std::move(one));
    }
  }
  return all;
}

struct Switch {
  std::string name{};
  int line = 0;
  std::vector<std::string> below{};  // names of switches
  std::vector<std::string> hosts{};
  std::vector<std::size_t> children{};
  std::size_t parents = 0;
  int height = 0;  // 1: connects hosts
  i64 all_hosts = 0;
};

class SlurmReader {
 public:
  SlurmReader(std::string_view file, ClusterParts& parts, Diagnostics& findings)
      : file_(file), parts_(parts), findings_(findings) {}

  void read(const std::vector<Statement>& statements) {
    for (const Statement& statement : statements) {
      take(statement);
      if (has_faults_) return;
    }
    if (!blocks_.empty() && !switches_.empty())
      return fault("the file has both switches and blocks", blocks_.front().line);
    if (!blocks_.empty()) return state_blocks();
    if (switches_.empty()) return fault("the file has neither SwitchName= nor BlockName=", 0);
    if (build_tree()) state_tree();
  }

 private:
  void fault(std::string detail, int line, int column = 0) {
    has_faults_ = true;
    findings_.push_back(bad_topology(std::move(detail), file_, line, column));
  }
  void warn(std::string_view code, std::string_view message, std::string detail, int line) {
    findings_.push_back({.code = code,
                         .severity = Severity::warning,
                         .message = std::string(message),
                         .detail = std::move(detail),
                         .where = {.file = std::string(file_), .line = line, .column = 1}});
  }

  void take(const Statement& statement) {
    Switch one{.line = statement.line};
    bool is_switch = false, is_block = false;
    for (const TextWord& word : split_words(statement.text)) {
      const std::size_t equals = word.text.find('=');
      if (equals == std::string_view::npos)
        return fault(fmt::format("'{}' is not key=value", make_excerpt(word.text)), statement.line,
                     word.column);
      const std::string key = lower(word.text.substr(0, equals));
      const std::string_view value = word.text.substr(equals + 1);
      if (key == "switchname" || key == "blockname") {
        (key == "switchname" ? is_switch : is_block) = true;
        one.name = value;
      } else if (key == "switches" || key == "nodes") {
        Result<std::vector<std::string>> names = parse_host_list(value, kMaxHosts - names_);
        if (!names) {
          names.error().where = {.file = std::string(file_),
                                 .line = statement.line,
                                 .column = word.column + int(equals) + names.error().where.column};
          findings_.push_back(std::move(names.error()));
          has_faults_ = true;
          return;
        }
        names_ += names->size();
        for (const std::string& name : *names) letters_ += name.size();
        if (letters_ > kMaxHostText)
          return fault(fmt::format("the names have more than {} characters in total",
                                   count(i64(kMaxHostText))),
                       statement.line);
        (key == "switches" ? one.below : one.hosts) = std::move(*names);
      } else if (key != "linkspeed" && key != "blocksizes") {
        warn("RW0902", "unknown key, ignored", make_excerpt(word.text.substr(0, equals)),
             statement.line);
      }
    }
    if (is_switch || is_block) add(std::move(one), is_block);
  }

  void add(Switch one, bool block) {
    std::vector<Switch>& all = block ? blocks_ : switches_;
    if (one.name.empty()) return fault("empty name", one.line);
    if (!one.below.empty() && !one.hosts.empty())
      return fault(fmt::format("{} has both switches and hosts", make_excerpt(one.name)), one.line);
    if (one.below.empty() && one.hosts.empty())
      return fault(fmt::format("{} has neither switches nor hosts", make_excerpt(one.name)),
                   one.line);
    if (all.size() == kMaxSwitches)
      return fault(fmt::format("more than {} switches", count(i64(kMaxSwitches))), one.line);
    if (!index_.emplace(one.name, all.size()).second)
      return fault(fmt::format("{} is defined twice", make_excerpt(one.name)), one.line);
    all.push_back(std::move(one));
  }

  /// Sets children and heights. Returns false if the switches are not a tree.
  bool build_tree() {
    for (std::size_t i = 0; i < switches_.size(); ++i)
      for (const std::string& name : switches_[i].below) {
        const auto found = index_.find(name);
        if (found == index_.end()) {
          fault(fmt::format("switch {} of {} is not defined in this file", make_excerpt(name),
                            make_excerpt(switches_[i].name)),
                switches_[i].line);
          return false;
        }
        // A switch with several parents is attached to the first, so that a tree remains.
        if (switches_[found->second].parents++ == 0) switches_[i].children.push_back(found->second);
      }
    return compute_heights();
  }

  /// Processes switches from the leaves up, each after all below it. Switches that remain form a
  /// cycle.
  bool compute_heights() {
    std::vector<std::size_t> above(switches_.size(), kNone), waiting(switches_.size()), ready;
    for (std::size_t i = 0; i < switches_.size(); ++i) {
      waiting[i] = switches_[i].children.size();
      for (const std::size_t child : switches_[i].children) above[child] = i;
      if (waiting[i] == 0) ready.push_back(i);
    }
    std::size_t done = 0;
    for (; done < ready.size(); ++done) {
      Switch& one = switches_[ready[done]];
      one.height = 1;
      one.all_hosts = i64(one.hosts.size());
      for (const std::size_t child : one.children) {
        if (switches_[child].all_hosts == 0)
          continue;  // its children are attached to another parent
        one.height = std::max(one.height, switches_[child].height + 1);
        one.all_hosts += switches_[child].all_hosts;
      }
      const std::size_t parent = above[ready[done]];
      if (parent != kNone && --waiting[parent] == 0) ready.push_back(parent);
    }
    if (done == switches_.size()) return true;
    const auto unfinished =
        std::find_if(waiting.begin(), waiting.end(), [](std::size_t left) { return left > 0; });
    const Switch& one = switches_[std::size_t(unfinished - waiting.begin())];
    fault(fmt::format("{} is part of itself", make_excerpt(one.name)), one.line);
    return false;
  }

  /// Returns the root with the most hosts; reports a fault and returns kNone if no switch has any.
  std::size_t find_root() {
    std::vector<std::size_t> roots;
    for (std::size_t i = 0; i < switches_.size(); ++i)
      if (switches_[i].parents == 0 && switches_[i].all_hosts > 0) roots.push_back(i);
    if (roots.empty()) {
      fault("no switch has hosts", switches_.front().line);
      return kNone;
    }
    const std::size_t best =
        *std::max_element(roots.begin(), roots.end(), [&](std::size_t a, std::size_t b) {
          return switches_[a].all_hosts < switches_[b].all_hosts;
        });
    if (roots.size() > 1) {
      const std::size_t other = roots[0] == best ? roots[1] : roots[0];
      warn("RW0624", "the topology is uneven; averages are used",
           fmt::format("{} separate trees, and a job cannot span them: using {} with {}",
                       count(i64(roots.size())), make_excerpt(switches_[best].name),
                       plural(switches_[best].all_hosts, "host", "hosts")),
           switches_[other].line);
    }
    return best;
  }

  /// Returns the switches below `top` in depth-first order, each level in file order.
  std::vector<std::size_t> list_tree(std::size_t top) const {
    std::vector<std::size_t> order, stack{top};
    while (!stack.empty()) {
      const std::size_t at = stack.back();
      stack.pop_back();
      order.push_back(at);
      const std::vector<std::size_t>& below = switches_[at].children;
      stack.insert(stack.end(), below.rbegin(), below.rend());
    }
    return order;
  }

  void state_tree() {
    const std::size_t top = find_root();
    if (top == kNone) return;
    const std::vector<std::size_t> order = list_tree(top);
    const int height = switches_[top].height;
    const std::size_t levels = std::size_t(height) + 1;
    std::vector<i64> children(levels), many(levels), min(levels, kMaxCount), max(levels);
    std::vector<std::string> names;
    for (const std::size_t i : order) {
      const Switch& one = switches_[i];
      if (one.all_hosts == 0) continue;
      const std::size_t h = std::size_t(one.height);
      const i64 below = std::count_if(one.children.begin(), one.children.end(),
                                      [&](std::size_t c) { return switches_[c].all_hosts > 0; });
      const i64 size = one.height == 1 ? i64(one.hosts.size()) : below;
      children[h] += size;
      ++many[h];
      min[h] = std::min(min[h], size);
      max[h] = std::max(max[h], size);
      names.insert(names.end(), one.hosts.begin(), one.hosts.end());
    }
    std::vector<i64> tree;
    bool even = true;
    for (std::size_t h = 1; h <= std::size_t(height); ++h) {
      tree.push_back(std::max<i64>(1, (2 * children[h] + many[h]) / (2 * many[h])));
      even = even && min[h] == max[h];
    }
    state_levels(std::move(tree), std::move(names), even, switches_[top].line);
  }

  void state_blocks() {
    std::vector<std::string> names;
    bool even = true;
    for (const Switch& block : blocks_) {
      if (block.hosts.empty())
        return fault(fmt::format("{} has no Nodes=", make_excerpt(block.name)), block.line);
      even = even && block.hosts.size() == blocks_.front().hosts.size();
      names.insert(names.end(), block.hosts.begin(), block.hosts.end());
    }
    const i64 blocks = i64(blocks_.size());
    const i64 hosts = std::max<i64>(1, (2 * i64(names.size()) + blocks) / (2 * blocks));
    parts_.blocks = true;
    state_levels({hosts, blocks}, std::move(names), even, blocks_.front().line);
  }

  void state_levels(std::vector<i64> tree, std::vector<std::string> names, bool even, int line) {
    std::optional<i64> hosts = 1;
    for (const i64 arity : tree) hosts = hosts ? product({*hosts, arity}) : hosts;
    if (!hosts || *hosts > cluster::kMaxDevices)
      return fault(
          fmt::format("the product of the levels exceeds {} hosts", count(cluster::kMaxDevices)),
          line);
    // A level that joins one thing is dropped; a chain of switches would otherwise make many
    // levels.
    tree.erase(std::remove(tree.begin() + 1, tree.end(), 1), tree.end());
    if (tree.size() > cluster::kMaxLevels)
      return fault(
          fmt::format("{} levels: at most {} are supported", tree.size(), cluster::kMaxLevels),
          line);
    if (!even || *hosts != i64(names.size()))
      warn("RW0624", "the topology is uneven; averages are used",
           fmt::format("switches of one level have unequal sizes: using {}, {} of {} named",
                       show_part(tree), plural(*hosts, "host", "hosts"), count(i64(names.size()))),
           line);
    state(parts_.tree, std::move(tree), "switches", file_, findings_);
    state(parts_.host_names, std::move(names), "hosts", file_, findings_);
  }

  static constexpr std::size_t kNone = std::size_t(-1);

  std::string_view file_;
  ClusterParts& parts_;
  Diagnostics& findings_;
  bool has_faults_ = false;
  std::size_t names_ = 0, letters_ = 0;  // read so far
  std::vector<Switch> switches_{}, blocks_{};
  std::unordered_map<std::string, std::size_t> index_{};
};

}  // namespace

bool claims_slurm_topology(std::string_view, std::string_view text) {
  for (const TextLine& line : split_lines(text.substr(0, 65536))) {
    const std::vector<TextWord> words = split_words(line.text);
    if (words.empty() || words.front().text.starts_with('#')) continue;
    const std::string first = lower(words.front().text);
    return first.starts_with("switchname=") || first.starts_with("blockname=") ||
           first.starts_with("blocksizes=") || is_topology_yaml(text);
  }
  return false;
}

void read_slurm_topology(std::string_view text, std::string_view file, ClusterParts& parts,
                         Diagnostics& findings) {
  if (!is_topology_yaml(text))
    return SlurmReader(file, parts, findings).read(split_statements(text));
  const Result<YamlNode> root = read_yaml(text, file);
  if (!root) return findings.push_back(root.error());
  const YamlNode* const topology = find_default_topology(*root);
  SlurmReader(file, parts, findings)
      .read(topology == nullptr ? std::vector<Statement>() : convert_topology(*topology));
}

}  // namespace rankwright::importer
