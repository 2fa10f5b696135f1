// `rankwright run` and `rankwright probe`: parses the command line, then execs rankwright-runtime.
#include "cli/run/exec_runtime.h"
#include "cli/run/probe_flags.h"
#include "cli/run/run_flags.h"
#include "cli/verb.h"

namespace rankwright::cli {

int train(Args args, const Io& io) {
  // Help and usage errors need no engine and are printed once, not per rank.
  Options options(verb("run"));
  RunFlags flags;
  flags.add_to(options);
  if (const std::optional<int> done = options.parse(args, io)) return *done;
  return exec_runtime("run", args, io);
}

int probe(Args args, const Io& io) {
  Options options(verb("probe"));
  ProbeFlags flags;
  flags.add_to(options);
  if (const std::optional<int> done = options.parse(args, io)) return *done;
  return exec_runtime("probe", args, io);
}

}  // namespace rankwright::cli
