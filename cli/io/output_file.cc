#include "cli/io/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <random>
#include <system_error>

#include "rankwright/base/shell_word.h"

namespace rankwright::cli {
namespace {

namespace fs = std::filesystem;

OutputFault cannot_write(const std::string& path, int error) {
  return {fmt::format("cannot write {}: {}", path, std::generic_category().message(error)),
          "write to another file: -o FILE"};
}

std::string folder_of(const fs::path& path) {
  const std::string folder = path.parent_path().string();
  return folder.empty() ? "." : folder;
}

/// Writes everything to an open file and closes it. Returns 0 or the error.
int write_and_close(int file, std::string_view text) {
  int error = 0;
  while (error == 0 && !text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written >= 0)
      text.remove_prefix(std::size_t(written));
    else if (errno != EINTR)
      error = errno;
  }
  if (close(file) != 0 && error == 0) error = errno;
  return error;
}

/// A new file next to the target, which replaces it once complete.
struct PartFile {
  std::string path;
  int file = -1;  // -1: creation failed, see errno
};

/// Creates the part file. Its name is unpredictable, and an existing file or link is never opened.
PartFile make_part(const fs::path& target) {
  std::random_device random;
  PartFile part;
  for (int tries = 0; tries < 16 && part.file < 0; ++tries) {
    part.path = fmt::format("{}.{:08x}{:08x}.part", target.string(), random(), random());
    part.file = open(part.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (part.file < 0 && errno != EEXIST) break;
  }
  return part;
}

}  // namespace

std::optional<OutputFault> check_output_path(const std::string& path) {
  std::error_code ignored;
  if (path.empty() || path == "-") return std::nullopt;
  if (fs::is_directory(path, ignored))
    return OutputFault{fmt::format("{} is a directory", path),
                       fmt::format("name a file in it: {}", (fs::path(path) / "FILE").string())};
  const std::string folder = folder_of(path);
  if (!fs::exists(folder, ignored))
    return OutputFault{fmt::format("no such directory: {}", folder),
                       fmt::format("mkdir -p {}", quote_shell_path(folder))};
  if (!fs::is_directory(folder, ignored)) return cannot_write(path, ENOTDIR);
  const bool there = fs::exists(path, ignored);
  if (access((there ? path : folder).c_str(), W_OK) != 0) return cannot_write(path, errno);
  return std::nullopt;
}

std::optional<OutputFault> write_file(const std::string& path, std::string_view text) {
  if (std::optional<OutputFault> fault = check_output_path(path)) return fault;
  std::error_code failed;
  const fs::file_status before = fs::status(path, failed);
  const bool there = fs::exists(before);
  if (there && !fs::is_regular_file(before)) {  // a pipe or a device has no old content to keep
    const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    const int error = file < 0 ? errno : write_and_close(file, text);
    return error == 0 ? std::nullopt : std::optional(cannot_write(path, error));
  }
  // Write the target of a link, not the link itself.
  const fs::path target = there ? fs::canonical(path, failed) : fs::path(path);
  const PartFile part = make_part(target);
  if (part.file < 0) return cannot_write(path, errno);
  int error = there && fchmod(part.file, mode_t(before.permissions())) != 0 ? errno : 0;
  const int unwritten = write_and_close(part.file, text);
  if (error == 0) error = unwritten;
  if (error == 0 && rename(part.path.c_str(), target.c_str()) != 0) error = errno;
  if (error == 0) return std::nullopt;
  unlink(part.path.c_str());
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
