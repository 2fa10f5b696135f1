// Output files of a command: checks before any computation whether they can be written, and writes
// them so that a failure leaves the old content.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rankwright::cli {

/// Why a file cannot be written, and what to type instead.
struct OutputFault {
  std::string what, help;
};

/// Returns the reason why a file cannot be written, as far as it is known before writing: its
/// folder does not exist, it is a folder itself, or permission is missing. - is standard output and
/// valid.
std::optional<OutputFault> check_output_path(const std::string& path);

/// Writes all of `text`, or leaves the file unchanged and returns the reason.
std::optional<OutputFault> write_file(const std::string& path, std::string_view text);

/// Returns whether both paths name one regular file, existing or not.
bool same_file(const std::string& a, const std::string& b);

}  // namespace rankwright::cli
