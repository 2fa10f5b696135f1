// `rankwright run --local`: mpirun as a child, all its ranks on this machine. They use shared
// memory and loopback. Ctrl-C asks the ranks to finish their step; a rank that dies is named; when
// this returns no process and no file of MPI is left.
#pragma once

#include <string>
#include <vector>

#include "cli/io/screen.h"
#include "cli/verb.h"
#include "rankwright/plan/plan.h"

namespace rankwright::cli {

/// What ranks find there is the launcher's Screen, as text.
inline constexpr char kScreenVariable[] = "RANKWRIGHT_SCREEN";

struct Launch {
  std::vector<std::string> args;  // of each rank: "run", "plan.yaml", ...
  std::string input{};            // what rank 0 reads from standard input
  std::string verb = "run";       // who speaks
};

/// Returns the exit code.
int launch(const Launch& launch, const plan::TrainingConfig& config, const Io& io);

/// The command that starts `ranks` of `program`, which talk through files in `folder`.
std::vector<std::string> mpirun_command(i64 ranks, const std::string& folder,
                                        const std::string& program,
                                        const std::vector<std::string>& args);

/// For a rank: a signal that asks to stop (SIGUSR1, SIGINT, SIGTERM) is noted from now on.
void note_stop_signals();
bool stop_asked();

/// For a rank of a local run: it is killed when its mpirun ends, however that ends.
void end_with_mpirun();

/// For a rank that no launcher started, before MPI starts: without this, Open MPI starts a daemon
/// that listens on the network, and keeps files in a session directory.
void start_without_network();

}  // namespace rankwright::cli
