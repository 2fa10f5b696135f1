// Reads the values of a YAML map by a table of fields, one row per key. Unknown keys give a warning
// with the nearest known one; every fault has its line and column; reading continues after a fault,
// so that all are reported at once.
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

/// Maximum length in bytes of a name that is shown to users; longer ones are truncated.
inline constexpr std::size_t kLongestLabel = 96;

/// A word that users expect to be a key, and what to write instead.
struct WordHint {
  std::string_view word;  // "fsdp"
  std::string_view key;   // of the same map: only the name differs; else empty
  std::string_view hint;  // if `key` is empty
};

/// Returns the note on a value that the file does not give (RW0615): `detail` says which one was
/// assumed, `hint` how to state it.
Diagnostic make_assumption(std::string detail, std::string hint = "", Location where = {});

/// Reads typed values of one file, and collects its findings and the locations of its keys.
class FieldReader {
 public:
  FieldReader(std::string_view file, Diagnostics& findings) : file_(file), findings_(findings) {}

  std::string_view file() const { return file_; }
  /// Sets what unknown keys are hinted by, before the nearest known key is suggested.
  void set_hints(std::span<const WordHint> hints) { hints_ = hints; }
  Diagnostics& findings() { return findings_; }

  /// Adds `diagnostic` at `node`, with the dotted path that is being read.
  void report(const YamlNode& node, Diagnostic diagnostic);

  /// Returns the value of a parse; reports the error at `node` and returns nothing if it failed.
  template <class T>
  std::optional<T> take(const YamlNode& node, Result<T> parsed) {
    if (parsed) return std::move(*parsed);
    report(node, std::move(parsed.error()));
    return std::nullopt;
  }

  std::optional<std::string> text(const YamlNode& node);
  /// Returns a name that is fit to be shown: short, and without control characters.
  std::optional<std::string> label(const YamlNode& node);
  /// Returns a path of at most 255 characters, without control characters.
  std::optional<std::string> path(const YamlNode& node);
  std::optional<i64> whole(const YamlNode& node, i64 min, i64 max);
  std::optional<double> number(const YamlNode& node, double min, double max);
  std::optional<bool> flag(const YamlNode& node);

  /// Returns the index of the value in `words`; reports RW0907 with the nearest word if it is
  /// unknown.
  std::optional<std::size_t> one_of(const YamlNode& node, std::span<const std::string_view> words);

  /// Calls read(index of the known key, value) for every entry of the map `node`.
  template <class Read>
  void each(const YamlNode& node, const std::vector<std::string_view>& known, Read read) {
    if (!expect(node, YamlNode::Kind::map, "a map (`key: value`)")) return;
    for (const YamlEntry& entry : node.entries)
      if (const std::optional<std::size_t> index = known_key(entry.key, known)) {
        const std::string outer = path_;
        path_ += (path_.empty() ? "" : ".") + entry.key.scalar;
        // A map or list is located by its key.
        const bool scalar = entry.value.kind == YamlNode::Kind::scalar;
        keys_.push_back({path_, location(scalar ? entry.value : entry.key, file_)});
        read(*index, entry.value);
        path_ = outer;
      }
  }

  /// Calls read() for a value that sets the plan key `path`, whatever the file calls it.
  template <class Read>
  void under(std::string_view path, const YamlNode& value, Read read) {
    const std::string outer = std::exchange(path_, std::string(path));
    if (!path.empty()) keys_.push_back({path_, location(value, file_)});
    read();
    path_ = outer;
  }

  bool expect(const YamlNode& node, YamlNode::Kind kind, std::string_view what);

  /// A known key that was given: its dotted path and its location.
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
  std::span<const WordHint> hints_{};
  std::string path_{};
  std::vector<Key> keys_{};
};

}  // namespace rankwright::importer
