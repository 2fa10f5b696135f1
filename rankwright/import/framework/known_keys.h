// The settings of each framework that do not decide the layout or the estimate, as its parser or
// config classes have them: one list per framework in known_keys/*.txt. A setting that is neither
// in the list nor in the reader's table is unknown: a typo, or the setting of a fork.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankwright::importer {

/// The list of one framework. "optimizer.params.*" stands for everything inside a map.
class KnownKeys {
 public:
  /// Returns the list `framework`: "megatron". Requires: there is one.
  static const KnownKeys& find(std::string_view framework);

  /// Takes lines, sorted; those that begin with '#' are comments.
  explicit KnownKeys(std::string_view text);

  /// Returns whether `path` is listed, or inside a map that is listed as a whole.
  bool contains(std::string_view path) const;
  const std::vector<std::string_view>& paths() const { return paths_; }

 private:
  std::vector<std::string_view> paths_{};  // sorted
};

/// Returns the names of the lists.
std::vector<std::string_view> list_known_key_files();

}  // namespace rankwright::importer
