// Files that a command writes: whether that can be, asked before anything is computed, and written
// so that a failure leaves what was there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rankwright::cli {

/// Why a file cannot be written, and what to type.
struct OutputFault {
  std::string what, help;
};

/// What can be known before: there is no such folder, it is a folder itself, it may not be written.
/// - is standard output, and fine.
std::optional<OutputFault> output_fault(const std::string& path);

/// All of `text`, or the file as it was.
std::optional<OutputFault> write_file(const std::string& path, std::string_view text);

/// Two names of one regular file, whether it is there yet or not.
bool same_file(const std::string& a, const std::string& b);

}  // namespace rankwright::cli
