// Reads whole files whose names come from untrusted input: regular files and pipes only (no
// devices), with a limit on their size.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "rankwright/base/result.h"

namespace rankwright::importer {

inline constexpr std::size_t kMaxFileBytes = 16 << 20;

/// Reads the files that an input names. Tests and fuzzers pass one that refuses.
using FileReader = std::function<Result<std::string>(const std::string& path)>;

/// Reads a file of at most kMaxFileBytes. Fails with RW0910.
Result<std::string> read_file(const std::string& path);
/// As read_file(), with another limit, for logs.
Result<std::string> read_long_file(const std::string& path, std::size_t max);

/// A FileReader for input that may not name files.
Result<std::string> refuse_file(const std::string& path);

/// Returns `name` relative to the folder of `file`; absolute names are returned unchanged.
std::string beside(std::string_view file, std::string_view name);

/// Reads the file that `file` names: relative to its folder, to the current one, or to a folder
/// above it, as programs are mostly started from the root of a repository. If an absolute name
/// cannot be read, reads the longest end of it that names a file there.
Result<std::string> read_named_file(const FileReader& files, const std::string& file,
                                    const std::string& name);
/// Returns whether a sourced file sets up an environment and has no settings of a training.
bool is_environment_script(std::string_view file);

/// As read_named_file(), for a config: one of the same name beside `file` is it, whatever its
/// folder elsewhere.
Result<std::string> read_named_config(const FileReader& files, const std::string& file,
                                      const std::string& name);

/// Returns whether the name is that of a YAML file.
bool is_yaml_file(std::string_view file);
/// Returns whether the name is that of a shell script.
bool is_script_file(std::string_view file);

}  // namespace rankwright::importer
