// `rankwright run` and `rankwright probe`, as far as they can be done without an engine: the
// command line of a run is read, and then both are handed over to the runtime.
#include <algorithm>

#include "cli/hand_over.h"
#include "cli/run_flags.h"
#include "cli/verb.h"

namespace rankwright::cli {

int train(Args args, const Io& io) {
  // Help and typing errors need no engine, and are said once, not by every rank's libraries.
  Options options(verb("run"));
  RunFlags flags;
  flags.add_to(options);
  if (const std::optional<int> done = options.parse(args, io)) return *done;
  return hand_over("run", args, io);
}

int probe(Args args, const Io& io) {
  const bool help = std::any_of(args.begin(), args.end(), [](const std::string& word) {
    return word == "--help" || word == "-h";
  });
  if (!help || can_hand_over(io)) return hand_over("probe", args, io);
  Options options(verb("probe"));  // what all verbs have; the rest is the runtime's
  return options.parse(args, io).value_or(kOk);
}

}  // namespace rankwright::cli
