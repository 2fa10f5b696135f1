#include "rankwright/import/syntax/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <istream>
#include <map>
#include <optional>
#include <streambuf>
#include <utility>

#include "rankwright/base/format.h"

namespace rankwright::importer {
namespace {

/// Reads from memory that it does not own.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* const begin = const_cast<char*>(text.data());  // streambuf's signature; it only reads
    setg(begin, begin, begin + text.size());
  }
};

/// Returns a plainer message for common errors of yaml-cpp.
std::string plain_message(const std::string& message) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"end of map flow not found", "unclosed {"},
      {"end of sequence flow not found", "unclosed ["},
      {"end of map not found", "the indentation differs from the lines above"},
      {"end of sequence not found", "the indentation differs from the lines above"},
      {"illegal map value", "unexpected value (invalid YAML)"},
  };
  for (const auto& [theirs, ours] : kWords)
    if (message == theirs) return std::string(ours);
  return message;
}

Diagnostic unreadable(std::string_view file, const YAML::Mark& mark, std::string detail) {
  return {.code = "RW0901",
          .message = "the file cannot be read as YAML",
          .detail = std::move(detail),
          .where = {.file = std::string(file),
                    .line = mark.is_null() ? 0 : mark.line + 1,
                    .column = mark.is_null() ? 0 : mark.column + 1}};
}

/// Returns the first line indented with a tab, which YAML forbids and yaml-cpp explains badly; 0 if
/// there is none.
int line_with_tab(std::string_view text) {
  int line = 1;
  for (std::size_t start = 0; start < text.size(); ++line) {
    const std::size_t first = text.find_first_not_of(' ', start);
    if (first != std::string_view::npos && text[first] == '\t') return line;
    start = std::min(text.find('\n', start), text.size() - 1) + 1;
  }
  return 0;
}

/// Thrown through yaml-cpp at the first fault: the only way to stop its parser.
struct Stop {};

/// Builds the tree from yaml-cpp's events.
class TreeBuilder final : public YAML::EventHandler {
 public:
  /// With `duplicates`, a duplicate key is a warning in it, and the last value counts.
  TreeBuilder(std::string_view file, YamlLimits limits, Diagnostics* duplicates)
      : file_(file), limits_(limits), duplicates_(duplicates) {}

  /// Returns the first fault if there was one, otherwise the root of the document.
  Result<YamlNode> result() {
    if (fault_) return fail(*fault_);
    return std::move(root_);
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1)
      stop(unreadable(file_, mark, "a second YAML document begins here; only one is supported"));
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    leaf(mark, YamlNode::Kind::null, "", anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (duplicates_ == nullptr)
      refuse(mark, "YAML aliases (*name) are not supported: write the value");
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end()) refuse(mark, "an alias refers to the value that it is in");
    count_copy(mark, found->second);
    place(YamlNode(found->second));
  }

  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                const std::string& value) override {
    leaf(mark, YamlNode::Kind::scalar, value, anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, YamlNode::Kind::sequence, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, YamlNode::Kind::map, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  /// A container that is still open and, in a map, the key that waits for its value.
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor = YAML::NullAnchor;
    std::optional<YamlNode> key{};
  };

  /// The size of a tree.
  struct Size {
    std::size_t nodes = 0, bytes = 0, depth = 0;
  };

  [[noreturn]] void stop(Diagnostic fault) {
    fault_ = std::move(fault);
    throw Stop{};
  }

  [[noreturn]] void refuse(const YAML::Mark& mark, std::string detail) {
    Diagnostic fault = unreadable(file_, mark, std::move(detail));
    fault.code = "RW0906";
    fault.message = "the file is too large or too deeply nested";
    stop(std::move(fault));
  }

  static YamlNode make(const YAML::Mark& mark, YamlNode::Kind kind) {
    YamlNode node;
    node.kind = kind;
    node.line = mark.line + 1;
    node.column = mark.column + 1;
    return node;
  }

  void leaf(const YAML::Mark& mark, YamlNode::Kind kind, const std::string& value,
            YAML::anchor_t anchor) {
    YamlNode node = make(mark, kind);
    node.scalar = value;
    node.width = std::max(1, int(value.substr(0, value.find('\n')).size()));
    keep_anchor(mark, anchor, node);
    place(std::move(node));
  }

  void open(const YAML::Mark& mark, YamlNode::Kind kind, YAML::anchor_t anchor) {
    if (stack_.size() == limits_.depth)
      refuse(mark, fmt::format("it is nested more than {} levels deep", limits_.depth));
    stack_.push_back({make(mark, kind), anchor});
  }

  void close() {
    YamlNode node = std::move(stack_.back().node);
    const YAML::anchor_t anchor = stack_.back().anchor;
    stack_.pop_back();
    if (duplicates_ != nullptr) merge(node);
    keep_anchor(mark_of(node), anchor, node);
    place(std::move(node));
  }

  static Size measure(const YamlNode& node) {
    Size size{.nodes = 1, .bytes = node.scalar.size(), .depth = 0};
    const auto add = [&](const YamlNode& child) {
      const Size more = measure(child);
      size.nodes += more.nodes;
      size.bytes += more.bytes;
      size.depth = std::max(size.depth, more.depth + 1);
    };
    for (const YamlNode& item : node.items) add(item);
    for (const YamlEntry& entry : node.entries) {
      add(entry.key);
      add(entry.value);
    }
    return size;
  }

  /// Counts a copy toward the limits, before it is made: a small file could otherwise expand
  /// without bound.
  void count_copy(const YAML::Mark& mark, const YamlNode& node) {
    const Size size = measure(node);
    nodes_ += size.nodes;
    copied_bytes_ += size.bytes;
    if (nodes_ > limits_.nodes || copied_bytes_ > limits_.bytes ||
        stack_.size() + size.depth > limits_.depth)
      refuse(mark, "its aliases (*name) expand to too many values");
  }

  void keep_anchor(const YAML::Mark& mark, YAML::anchor_t anchor, const YamlNode& node) {
    if (anchor == YAML::NullAnchor || duplicates_ == nullptr) return;
    count_copy(mark, node);
    anchored_[anchor] = node;
  }

  /// Replaces "<<: *name" by the entries of that map which this one does not have.
  void merge(YamlNode& map) {
    std::vector<YamlNode> bases;
    for (YamlEntry& entry : map.entries)
      if (entry.key.scalar == "<<") {
        if (entry.value.kind == YamlNode::Kind::sequence)
          for (YamlNode& item : entry.value.items) bases.push_back(std::move(item));
        else
          bases.push_back(std::move(entry.value));
      }
    if (bases.empty()) return;
    std::erase_if(map.entries, [](const YamlEntry& entry) { return entry.key.scalar == "<<"; });
    for (YamlNode& base : bases)
      for (YamlEntry& entry : base.entries) {
        if (map.find(entry.key.scalar) != nullptr) continue;
        if (map.entries.size() == limits_.keys)
          refuse(mark_of(map), fmt::format("a map has more than {} keys", limits_.keys));
        map.entries.push_back(std::move(entry));
      }
  }

  static YAML::Mark mark_of(const YamlNode& node) {
    YAML::Mark mark;
    mark.line = node.line - 1;
    mark.column = node.column - 1;
    return mark;
  }

  void place(YamlNode node) {
    const YAML::Mark mark = mark_of(node);
    if (++nodes_ > limits_.nodes)
      refuse(mark, fmt::format("it has more than {} values", count(i64(limits_.nodes))));
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = stack_.back();
    if (parent.node.kind == YamlNode::Kind::sequence) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.key) {
      if (node.kind != YamlNode::Kind::scalar)
        stop(unreadable(file_, mark, "a key is not a plain string"));
      parent.key = std::move(node);
    } else {
      add_entry(parent, std::move(node));
    }
  }

  void add_entry(Open& map, YamlNode value) {
    if (map.node.entries.size() == limits_.keys)
      refuse(mark_of(value), fmt::format("a map has more than {} keys", limits_.keys));
    const auto first =
        std::find_if(map.node.entries.begin(), map.node.entries.end(),
                     [&](const YamlEntry& entry) { return entry.key.scalar == map.key->scalar; });
    if (first != map.node.entries.end()) {
      Diagnostic twice{.code = "RW0905",
                       .message = "duplicate key",
                       .detail = fmt::format("'{}' is already given on line {}",
                                             make_excerpt(map.key->scalar), first->key.line),
                       .hint = "keep one of the two",
                       .where = location(*map.key, file_)};
      if (duplicates_ == nullptr) stop(std::move(twice));
      twice.severity = Severity::warning;
      twice.detail += ": Python uses this one";
      duplicates_->push_back(std::move(twice));
      map.node.entries.erase(first);
    }
    map.node.entries.push_back({std::move(*map.key), std::move(value)});
    map.key.reset();
  }

  std::string_view file_;
  YamlLimits limits_;
  Diagnostics* duplicates_;
  std::vector<Open> stack_{};
  YamlNode root_{};
  std::size_t nodes_ = 0, copied_bytes_ = 0;
  std::map<YAML::anchor_t, YamlNode> anchored_{};
  int documents_ = 0;
  std::optional<Diagnostic> fault_{};
};

Result<YamlNode> read(std::string_view text, std::string_view file, YamlLimits limits,
                      Diagnostics* duplicates) {
  if (text.size() > limits.bytes)
    return fail({.code = "RW0906",
                 .message = "the file is too large or too deeply nested",
                 .detail = fmt::format("it has {} bytes, and the limit is {}",
                                       count(i64(text.size())), count(i64(limits.bytes))),
                 .where = {.file = std::string(file)}});
  TreeBuilder builder(file, limits, duplicates);
  ViewBuffer buffer(text);
  std::istream stream(&buffer);
  // yaml-cpp reports errors by exceptions; they are caught here.
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop&) {
    return builder.result();
  } catch (const YAML::Exception& error) {
    Diagnostic fault = unreadable(file, error.mark, plain_message(error.msg));
    if (const int line = line_with_tab(text); line > 0)
      fault.hint = fmt::format("indent with spaces: line {} begins with a tab", line);
    return fail(std::move(fault));
  } catch (const std::exception& error) {
    return fail(unreadable(file, YAML::Mark::null_mark(), error.what()));
  }
  return builder.result();
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  for (const YamlEntry& entry : entries)
    if (entry.key.scalar == key) return &entry.value;
  return nullptr;
}

Result<YamlNode> read_yaml(std::string_view text, std::string_view file, YamlLimits limits) {
  return read(text, file, limits, nullptr);
}

Result<YamlNode> read_python_yaml(std::string_view text, std::string_view file,
                                  Diagnostics& findings) {
  return read(text, file, {}, &findings);
}

Location location(const YamlNode& node, std::string_view file) {
  return {.file = std::string(file), .line = node.line, .column = node.column, .width = node.width};
}

}  // namespace rankwright::importer
