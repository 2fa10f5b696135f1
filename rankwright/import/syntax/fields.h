// Reads the values of a YAML map by a table of fields: one row a key, what it means and how it is
// read. Unknown keys warn with the nearest known one; every fault has its line and column; reading
// goes on after a fault, so that a person sees all of them at once.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankwright/base/diagnostic.h"
#include "rankwright/base/integer.h"
#include "rankwright/base/result.h"
#include "rankwright/import/syntax/yaml.h"

namespace rankwright::importer {

/// The most bytes of a name that is shown to people; what is longer is cut.
inline constexpr std::size_t kLongestLabel = 96;

/// Where faults go while a file is read.
class FieldReader {
 public:
  FieldReader(std::string_view file, Diagnostics& findings) : file_(file), findings_(findings) {}

  std::string_view file() const { return file_; }
  Diagnostics& findings() { return findings_; }

  /// Records `diagnostic` at `node`, under the dotted path that is being read.
  void report(const YamlNode& node, Diagnostic diagnostic);

  /// The value of a parse, or nothing and a finding at `node`.
  template <class T>
  std::optional<T> take(const YamlNode& node, Result<T> parsed) {
    if (parsed) return std::move(*parsed);
    report(node, std::move(parsed.error()));
    return std::nullopt;
  }

  std::optional<std::string> text(const YamlNode& node);
  /// A name that will be shown to people: short, and without control characters.
  std::optional<std::string> label(const YamlNode& node);
  std::optional<i64> whole(const YamlNode& node, i64 min, i64 max);
  std::optional<double> number(const YamlNode& node, double min, double max);
  std::optional<bool> flag(const YamlNode& node);

  /// The index of one of `words`; else RW0907 with the nearest.
  std::optional<std::size_t> one_of(const YamlNode& node, std::span<const std::string_view> words);

  /// Calls read(index of the known key, value) for every entry of the map `node`.
  template <class Read>
  void each(const YamlNode& node, const std::vector<std::string_view>& known, Read read) {
    if (!expect(node, YamlNode::Kind::map, "a map (`key: value`)")) return;
    for (const YamlEntry& entry : node.entries)
      if (const std::optional<std::size_t> index = known_key(entry.key, known)) {
        const std::string outer = path_;
        path_ += (path_.empty() ? "" : ".") + entry.key.scalar;
        // A whole map or list is pointed at by its name.
        const bool scalar = entry.value.kind == YamlNode::Kind::scalar;
        keys_.push_back({path_, location(scalar ? entry.value : entry.key, file_)});
        read(*index, entry.value);
        path_ = outer;
      }
  }

  /// Calls read() for a value that states the key `path` of a plan, whatever the file calls it.
  template <class Read>
  void under(std::string_view path, const YamlNode& value, Read read) {
    const std::string outer = std::exchange(path_, std::string(path));
    if (!path.empty()) keys_.push_back({path_, location(value, file_)});
    read();
    path_ = outer;
  }

  bool expect(const YamlNode& node, YamlNode::Kind kind, std::string_view what);

  /// Every known key that was given, by dotted path, and where to point at it.
  struct Key {
    std::string path;
    Location where;
  };
  const std::vector<Key>& keys() const { return keys_; }

 private:
  std::optional<std::size_t> known_key(const YamlNode& key,
                                       const std::vector<std::string_view>& known);

  std::string_view file_;
  Diagnostics& findings_;
  std::string path_{};
  std::vector<Key> keys_{};
};

}  // namespace rankwright::importer
