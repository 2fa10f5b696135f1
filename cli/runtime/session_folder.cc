#include "cli/runtime/session_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <vector>

namespace rankwright::cli {
namespace {

namespace fs = std::filesystem;

/// Returns /dev/shm if available, because ranks communicate through files in the folder.
fs::path parent_folder() {
  constexpr char kMemory[] = "/dev/shm";
  if (access(kMemory, W_OK | X_OK) == 0) return kMemory;
  std::error_code failed;
  const fs::path temporary = fs::temp_directory_path(failed);
  return failed ? fs::path("/tmp") : temporary;
}

/// Returns the name prefix of this user's folders.
std::string name_of_all() { return fmt::format("rankwright-{}-", geteuid()); }

/// Opens a folder that this user owns and that is not a link; -1 otherwise.
int open_own(const fs::path& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat found {};
  if (folder >= 0 && (fstat(folder, &found) != 0 || found.st_uid != geteuid())) {
    close(folder);
    return -1;
  }
  return folder;
}

void remove_folder(const fs::path& path) {
  std::error_code failed;  // another process may remove it at the same time
  fs::remove_all(path, failed);
}

void remove_abandoned(const fs::path& parent) {
  std::error_code failed;
  std::vector<fs::path> own;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, failed))
    if (entry.path().filename().string().starts_with(name_of_all())) own.push_back(entry.path());
  for (const fs::path& path : own) {
    const int folder = open_own(path);
    if (folder < 0) continue;
    if (flock(folder, LOCK_EX | LOCK_NB) == 0) remove_folder(path);
    close(folder);
  }
}

/// Waits for the lock. Returns whether the folder still has a name: its last holder may have
/// removed it.
bool lock_exclusively(int folder) {
  while (flock(folder, LOCK_EX) != 0)
    if (errno != EINTR) return false;
  struct stat found {};
  return fstat(folder, &found) == 0 && found.st_nlink > 0;
}

/// Runs in the helper. Closes all inherited files, so that a reader of the launcher's output, or a
/// terminal, does not wait for the helper to end.
[[noreturn]] void remove_when_unlocked(const std::string& path) {
  setsid();
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) signal(number, SIG_IGN);
  close_range(0, UINT_MAX, 0);
  for (int file = STDIN_FILENO; file <= STDERR_FILENO; ++file)
    if (open("/dev/null", O_RDWR) < 0) _exit(1);
  const int folder = open_own(path);
  if (folder >= 0 && lock_exclusively(folder)) remove_folder(path);
  _exit(0);
}

}  // namespace

SessionFolder::SessionFolder() {
  const fs::path parent = parent_folder();
  remove_abandoned(parent);
  constexpr int kTries = 10;  // another run may remove a folder before it is locked
  for (int i = 0; i < kTries && path_.empty(); ++i) {
    std::string name = (parent / fmt::format("{}{}-XXXXXX", name_of_all(), getpid())).string();
    if (mkdtemp(name.data()) == nullptr) return;
    lock_ = open_own(name);
    if (lock_ >= 0 && lock_exclusively(lock_)) {
      path_ = name;
    } else if (lock_ >= 0) {
      close(lock_);
      lock_ = -1;
    }
  }
}

SessionFolder::~SessionFolder() {
  if (path_.empty()) return;
  remove_folder(path_);
  close(lock_);
}

void SessionFolder::start_helper() const {
  if (fork() == 0) remove_when_unlocked(path_);
}

void SessionFolder::hold_across_exec() const { fcntl(lock_, F_SETFD, 0); }

}  // namespace rankwright::cli
