// Reads whole files, with the care that names from outside need: regular files and
// pipes only (no device), and no more bytes than asked for.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "rankwright/base/result.h"

namespace rankwright::importer {

inline constexpr std::size_t kMaxFileBytes = 16 << 20;

/// How a reader gets at files that its input names. Tests and fuzzers pass one that refuses.
using FileReader = std::function<Result<std::string>(const std::string& path)>;

Result<std::string> read_file(const std::string& path);
/// The same of what may be longer: logs.
Result<std::string> read_long_file(const std::string& path, std::size_t max);

/// A FileReader for input that may name no files.
Result<std::string> refuse_file(const std::string& path);

/// `name` as seen from the folder of `file`; absolute names stay as they are.
std::string beside(std::string_view file, std::string_view name);

}  // namespace rankwright::importer
