#include "cli/output_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "rankwright/report/report_words.h"

namespace rankwright::cli {
namespace {

namespace fs = std::filesystem;

OutputFault cannot_write(const std::string& path, int error) {
  return {fmt::format("cannot write {}: {}", path, std::generic_category().message(error)),
          "another file: -o FILE"};
}

std::string folder_of(const fs::path& path) {
  const std::string folder = path.parent_path().string();
  return folder.empty() ? "." : folder;
}

/// 0, or the error. A stream does not say why it failed: errno does.
int fill(const std::string& path, std::string_view text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return 0;
  return errno != 0 ? errno : EIO;
}

}  // namespace

std::optional<OutputFault> output_fault(const std::string& path) {
  std::error_code ignored;
  if (path.empty() || path == "-") return std::nullopt;
  if (fs::is_directory(path, ignored))
    return OutputFault{fmt::format("{} is a folder", path),
                       fmt::format("a file in it: {}", (fs::path(path) / "FILE").string())};
  const std::string folder = folder_of(path);
  if (!fs::exists(folder, ignored))
    return OutputFault{fmt::format("there is no folder {}", folder),
                       fmt::format("mkdir -p {}", typed_word(folder))};
  if (!fs::is_directory(folder, ignored)) return cannot_write(path, ENOTDIR);
  const bool there = fs::exists(path, ignored);
  if (access((there ? path : folder).c_str(), W_OK) != 0) return cannot_write(path, errno);
  return std::nullopt;
}

std::optional<OutputFault> write_file(const std::string& path, std::string_view text) {
  if (std::optional<OutputFault> fault = output_fault(path)) return fault;
  std::error_code failed;
  const fs::file_status before = fs::status(path, failed);
  const bool there = fs::exists(before);
  if (there && !fs::is_regular_file(before)) {  // a pipe or a device has nothing to keep
    const int error = fill(path, text);
    return error == 0 ? std::nullopt : std::optional(cannot_write(path, error));
  }
  // What a link points at is written, not the link.
  const fs::path target = there ? fs::canonical(path, failed) : fs::path(path);
  const std::string beside = fmt::format("{}.{}.part", target.string(), getpid());
  int error = fill(beside, text);
  if (error == 0) {
    if (there) fs::permissions(beside, before.permissions(), failed);
    fs::rename(beside, target, failed);
    error = failed.value();
  }
  if (error == 0) return std::nullopt;
  fs::remove(beside, failed);
  return cannot_write(path, error);
}

bool same_file(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty() || a == "-" || b == "-") return false;
  std::error_code ignored;
  const bool there = fs::exists(a, ignored);
  if (there != fs::exists(b, ignored)) return false;
  if (there) return fs::is_regular_file(a, ignored) && fs::equivalent(a, b, ignored);
  const auto whole = [&](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(path, ignored), ignored);
  };
  return whole(a) == whole(b);
}

}  // namespace rankwright::cli
