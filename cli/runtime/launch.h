// `rankwright run --local`: runs mpirun as a child with all ranks on this machine, over shared
// memory and loopback. Ctrl-C asks the ranks to finish their step, and a rank that dies is
// reported. It leaves no process and no file of MPI behind.
#pragma once

#include <string>
#include <vector>

#include "cli/io/screen.h"
#include "cli/verb.h"
#include "rankwright/plan/plan.h"

namespace rankwright::cli {

/// The environment variable that passes the launcher's Screen to the ranks, as text.
inline constexpr char kScreenVariable[] = "RANKWRIGHT_SCREEN";

/// A local run to start.
struct Launch {
  std::vector<std::string> args;  // of each rank: "run", "plan.yaml", ...
  std::string input{};            // standard input of rank 0
  std::string verb = "run";       // the verb named in messages
};

/// Runs all ranks and waits for them. Returns the exit code.
int launch(const Launch& launch, const plan::TrainingConfig& config, const Io& io);

/// Returns the command that starts `ranks` ranks of `program` with shared-memory files in `folder`.
std::vector<std::string> mpirun_command(i64 ranks, const std::string& folder,
                                        const std::string& program,
                                        const std::vector<std::string>& args);

/// For a rank: from now on records stop signals (SIGUSR1, SIGINT, SIGTERM) instead of ending.
void note_stop_signals();
bool stop_asked();

/// For a rank of a local run: has the kernel kill it when its mpirun ends for any reason.
void end_with_mpirun();

/// For a rank without a launcher, before MPI starts: prevents Open MPI from starting a daemon that
/// listens on the network, and from writing files to a session directory.
void start_without_network();

}  // namespace rankwright::cli
