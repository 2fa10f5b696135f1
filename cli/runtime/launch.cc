#include "cli/runtime/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <ostream>

#include "cli/run/mpirun_output.h"
#include "cli/runtime/children.h"
#include "cli/runtime/session_folder.h"
#include "rankwright/base/check.h"
#include "rankwright/base/format.h"

namespace rankwright::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kToFinish{20};  // for the step, the summary and the files
constexpr std::chrono::seconds kToEnd{5};      // after SIGTERM
constexpr int kNoProgram = 127;

std::atomic<bool> noted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set, number);
  return set;
}

/// Returns a descriptor of an anonymous file with `text`, positioned at its start.
int file_of(const std::string& text) {
  const int file = memfd_create("input", MFD_CLOEXEC);
  for (std::size_t at = 0; file >= 0 && at < text.size();) {
    const ssize_t wrote = write(file, text.data() + at, text.size() - at);
    if (wrote <= 0) break;
    at += std::size_t(wrote);
  }
  if (file >= 0) lseek(file, 0, SEEK_SET);
  return file;
}

/// The arguments and environment with which the child process execs mpirun.
struct Start {
  std::vector<std::string> command;
  const SessionFolder& folder;
  Screen screen;
  sigset_t mask;  // the signal mask to restore
  int input = -1, err = -1;
  pid_t parent = getpid();
};

/// The name in the session folder of the library that binds all sockets to loopback. The link is
/// needed because LD_PRELOAD cannot name a path with blanks or colons.
constexpr std::string_view kLoopback = "loopback.so";

void set_mpirun_env(const Start& start) {
  if (geteuid() == 0) {  // mpirun refuses to run as root without both variables
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  }
  setenv(kScreenVariable, show(start.screen).c_str(), 1);
  std::string preload = fmt::format("{}/{}", start.folder.path(), kLoopback);
  if (const char* const others = std::getenv("LD_PRELOAD")) preload += fmt::format(":{}", others);
  setenv("LD_PRELOAD", preload.c_str(), 1);
}

/// Execs mpirun in the child. It gets its own process group, so that Ctrl-C in the terminal reaches
/// only the launcher, and SIGTERM when the launcher dies, on which mpirun ends its ranks.
[[noreturn]] void exec_mpirun(Start start) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != start.parent) _exit(kNoProgram);
  sigprocmask(SIG_SETMASK, &start.mask, nullptr);
  dup2(start.input, STDIN_FILENO);
  dup2(start.err, STDERR_FILENO);
  set_mpirun_env(start);
  start.folder.hold_across_exec();
  std::vector<char*> argv;
  for (std::string& word : start.command) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(kNoProgram);
}

/// A running mpirun.
class Mpirun {
 public:
  Mpirun(pid_t pid, int err, int signals, const Io& io)
      : pid_(pid), err_(err), signals_(signals), io_(io) {}

  /// Waits until mpirun has ended and its output is read. Returns its wait status.
  int watch() {
    while (!ended_ || err_open_) {
      std::array<pollfd, 2> files{pollfd{signals_, POLLIN, 0},
                                  pollfd{err_open_ ? err_ : -1, POLLIN, 0}};
      poll(files.data(), files.size(), patience());
      if (files[0].revents != 0) read_signals();
      if (files[1].revents != 0) read_err();
      if (deadline_ && Clock::now() >= *deadline_) escalate();
      // A rank that still lives keeps the pipe open, but mpirun itself writes nothing more.
      if (ended_ && err_open_ && files[1].revents == 0) err_open_ = false;
    }
    return status_;
  }

  bool asked() const { return asked_ > 0; }
  const MpirunOutput& output() const { return output_; }

 private:
  enum class Last : unsigned char { nothing, finish, end, kill };

  int patience() const {
    constexpr int kAfterEnd = 200;  // milliseconds
    if (ended_) return kAfterEnd;
    if (!deadline_) return -1;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(*deadline_ - Clock::now()).count();
    return left < 0 ? 0 : int(left) + 1;
  }

  void read_signals() {
    signalfd_siginfo info{};
    if (read(signals_, &info, sizeof info) != sizeof info) return;
    if (info.ssi_signo != SIGCHLD) {
      ++asked_;
      escalate();
      return;
    }
    if (!ended_ && waitpid(pid_, &status_, WNOHANG) == pid_) ended_ = true;
  }

  void read_err() {
    char buffer[16384];
    const ssize_t got = read(err_, buffer, sizeof buffer);
    if (got > 0)
      io_.err << output_.feed({buffer, std::size_t(got)}) << std::flush;
    else if (got == 0 || errno != EINTR)
      err_open_ = false;
  }

  /// Escalates: asks the ranks to finish their step, then mpirun to end them, then kills. Skips the
  /// first while ranks do not handle stop signals yet.
  void escalate() {
    if (ended_) return;
    if (last_ == Last::nothing && output_.ready()) {
      use(Last::finish, SIGUSR1, kToFinish);
    } else if (last_ < Last::end) {
      use(Last::end, SIGTERM, kToEnd);
    } else {
      last_ = Last::kill;
      deadline_.reset();
      kill(-pid_, SIGKILL);  // ranks are in other process groups: kill_children() ends them
    }
  }

  void use(Last means, int signal, std::chrono::seconds patience) {
    last_ = means;
    deadline_ = Clock::now() + patience;
    kill(pid_, signal);
  }

  pid_t pid_;
  int err_, signals_;
  const Io& io_;
  MpirunOutput output_{};
  bool ended_ = false, err_open_ = true;
  int status_ = 0, asked_ = 0;
  Last last_ = Last::nothing;
  std::optional<Clock::time_point> deadline_{};
};

/// Returns a text such as "rank 3 (tp 1, dp 0, pp 1)".
std::string rank_name(const plan::TrainingConfig& config, i64 rank) {
  const mesh::Mesh mesh = config.plan.meshes().dense;
  std::string where;
  for (const mesh::Axis axis : mesh.order)
    if (mesh.degree(axis) > 1)
      where += fmt::format("{}{} {}", where.empty() ? "" : ", ", name(axis),
                           mesh.coordinate(rank, axis));
  return where.empty() ? fmt::format("rank {}", rank) : fmt::format("rank {} ({})", rank, where);
}

int report_dead(const DeadRank& dead, const plan::TrainingConfig& config, std::string_view verb,
                const Io& io) {
  std::string how = "ended the run";
  std::string help = "see its output above";
  if (dead.signal) {
    const char* const name = strsignal(*dead.signal);
    how = fmt::format("was killed by signal {} ({})", *dead.signal, name ? name : "?");
    if (*dead.signal == SIGKILL) help = "it may have run out of memory: dmesg | tail";
  } else if (dead.code) {
    how = fmt::format("ended the run with code {}", *dead.code);
  }
  io.err << fmt::format(
      "rankwright {}: {} {}; the other ranks were stopped\n"
      "  help: {}\n",
      verb, rank_name(config, dead.rank), how, help);
  return kUnreadable;
}

/// Prints why mpirun ended, if it failed. Returns the exit code.
int verdict(int status, const Mpirun& mpirun, const plan::TrainingConfig& config,
            std::string_view verb, const Io& io) {
  const MpirunOutput& output = mpirun.output();
  if (output.inside_line()) io.err << "\n";
  if (mpirun.asked()) return kInterrupted;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == 0) return kOk;
  if (const std::optional<DeadRank> dead = output.dead())
    return report_dead(*dead, config, verb, io);
  if (code == kNoProgram && output.said().empty()) {
    io.err << fmt::format("rankwright {}: cannot start mpirun\n  help: apt install openmpi-bin\n",
                          verb);
    return kUnreadable;
  }
  const bool ours = code == kUnreadable || code == kRefused || code == kUsage;
  if (ours && output.passed_any()) return code;  // the ranks have printed the reason
  io.err << output.said();
  io.err << (WIFSIGNALED(status)
                 ? fmt::format("rankwright {}: mpirun was killed by signal {}\n", verb,
                               WTERMSIG(status))
                 : fmt::format("rankwright {}: mpirun exited with code {}\n", verb, code));
  return kUnreadable;
}

/// Prints why no process can be started. Returns the exit code.
int refuse(std::string_view verb, const std::string& what, std::string_view help, const Io& io) {
  io.err << fmt::format("rankwright {}: {}\n", verb, what);
  if (!help.empty()) io.err << fmt::format("  help: {}\n", help);
  return kUnreadable;
}

/// Links the library for LD_PRELOAD into the session folder. Returns the error; empty on success.
std::string link_loopback(const std::filesystem::path& program, const SessionFolder& folder) {
  const std::filesystem::path library = program.parent_path() / "rankwright-loopback.so";
  if (access(library.c_str(), R_OK) != 0)
    return fmt::format("cannot read {}: ranks would listen on every network", library.string());
  const std::string link = fmt::format("{}/{}", folder.path(), kLoopback);
  if (symlink(library.c_str(), link.c_str()) != 0)
    return fmt::format("cannot write {}: {}", link, std::strerror(errno));
  return {};
}

/// Starts mpirun and waits for it. Leaves no process behind. Returns the exit code.
int run_mpirun(Start start, const Launch& launch, const plan::TrainingConfig& config,
               const Io& io) {
  const sigset_t signals = watched();
  sigprocmask(SIG_BLOCK, &signals, &start.mask);
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // orphaned ranks become children of this process
  const int signal_file = signalfd(-1, &signals, SFD_CLOEXEC);
  start.input = file_of(launch.input);
  int err[2] = {-1, -1};
  const bool opened = signal_file >= 0 && start.input >= 0 && pipe2(err, O_CLOEXEC) == 0;
  start.err = err[1];
  io.out.flush();
  io.err.flush();
  start.folder.start_helper();
  const pid_t pid = opened ? fork() : -1;
  if (pid == 0) exec_mpirun(start);
  if (pid < 0)
    return refuse(launch.verb, fmt::format("cannot start a process: {}", std::strerror(errno)), "",
                  io);
  setpgid(pid, pid);  // in both processes, to avoid a race
  close(start.input);
  close(err[1]);
  Mpirun mpirun(pid, err[0], signal_file, io);
  const int status = mpirun.watch();
  close(err[0]);
  close(signal_file);
  kill_children();
  sigprocmask(SIG_SETMASK, &start.mask, nullptr);
  return verdict(status, mpirun, config, launch.verb, io);
}

}  // namespace

std::vector<std::string> mpirun_command(i64 ranks, const std::string& folder,
                                        const std::string& program,
                                        const std::vector<std::string>& args) {
  std::vector<std::string> command{"mpirun",          "-n",        std::to_string(ranks),
                                   "--oversubscribe", "--bind-to", "none"};
  const std::pair<std::string, std::string> settings[] = {
      {"mpi_yield_when_idle", "1"},  // ranks share cores and yield while waiting
      {"pml", "ob1"},                // UCX and libfabric would search for networks
      {"btl", "self,vader"},         // shared memory only
      {"oob_tcp_if_include", "lo"},
      {"btl_vader_backing_directory", folder},
      {"orte_tmpdir_base", folder},
  };
  for (const auto& [name, value] : settings) command.insert(command.end(), {"--mca", name, value});
  command.push_back(program);
  command.insert(command.end(), args.begin(), args.end());
  return command;
}

int launch(const Launch& launch, const plan::TrainingConfig& config, const Io& io) {
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
  RW_CHECK(!failed);
  const SessionFolder folder;
  if (folder.path().empty())
    return refuse(
        launch.verb,
        fmt::format("cannot create a directory for shared memory: {}", std::strerror(errno)),
        "make /dev/shm or the directory TMPDIR writable", io);
  if (const std::string fault = link_loopback(self, folder); !fault.empty())
    return refuse(launch.verb, fault,
                  "install the package rankwright-runtime again, or build the target all", io);
  const Screen screen{.color = io.color, .err_terminal = io.err_terminal, .width = io.width};
  return run_mpirun(
      {.command = mpirun_command(config.plan.ranks(), folder.path(), self.string(), launch.args),
       .folder = folder,
       .screen = screen,
       .mask = {}},
      launch, config, io);
}

void note_stop_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { noted = true; };
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGUSR1, SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
}

void end_with_mpirun() {
  if (std::getenv(kScreenVariable) != nullptr) prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void start_without_network() {
  for (const auto& [name, value] :
       {std::pair("OMPI_MCA_ess_singleton_isolated", "1"), std::pair("OMPI_MCA_pml", "ob1"),
        std::pair("OMPI_MCA_btl", "self"), std::pair("OMPI_MCA_orte_create_session_dirs", "0")})
    setenv(name, value, 1);
}

bool stop_asked() { return noted; }

}  // namespace rankwright::cli
