#include "cli/runtime/children.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <string>

namespace rankwright::cli {
namespace {

/// Parses /proc/PID/stat: "PID (name) state parent ..."; the name may contain any character.
pid_t parent_of(const std::filesystem::path& process) {
  std::ifstream file(process / "stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos || name_end + 4 >= line.size()) return -1;
  pid_t parent = -1;
  std::from_chars(line.data() + name_end + 4, line.data() + line.size(), parent);
  return parent;
}

}  // namespace

std::vector<pid_t> list_children() {
  std::vector<pid_t> found;
  std::error_code failed;
  for (const std::filesystem::directory_entry& entry :
       std::filesystem::directory_iterator("/proc", failed)) {
    const std::string number = entry.path().filename().string();
    pid_t pid = -1;
    const char* const end = number.data() + number.size();
    const std::from_chars_result read = std::from_chars(number.data(), end, pid);
    if (read.ec == std::errc() && read.ptr == end && parent_of(entry.path()) == getpid())
      found.push_back(pid);
  }
  return found;
}

void kill_children() {
  constexpr int kRounds =
      100;  // gives up on processes that cannot be killed (such as on a dead disk)
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<pid_t> left = list_children();
    if (left.empty()) return;
    for (const pid_t pid : left) kill(pid, SIGKILL);
    for (const pid_t pid : left) waitpid(pid, nullptr, WNOHANG);
    usleep(10'000);
  }
}

}  // namespace rankwright::cli
