#include "cli/verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <vector>

#include "rankwright/base/check.h"
#include "rankwright/base/format.h"
#include "rankwright/base/suggest.h"

namespace rankwright::cli {
namespace {

// The order here is the order of `rankwright help`.
constexpr Verb kVerbs[] = {
    {"plan", "find the fastest layout for a model on a cluster, and say why not another",
     "rankwright plan --model llama-3.1-70b --cluster \"dgx-h100 x 8\" --global-batch 512 --seq "
     "8192",
     plan},
    {"check", "lint a plan: what cannot be, what will be slow, what is left open",
     "rankwright check plan.yaml --for megatron", check},
    {"explain", "say what a plan, a diagnostic code or a plan key means",
     "rankwright explain plan.yaml --rank 17", explain},
    {"compare",
     "put two plans, or a plan and the log of its run, side by side, and say why they differ",
     "rankwright compare examples/course-64.yaml examples/course-64-chunks.yaml", compare},
    {"export", "write a plan as the files that a framework or a launcher runs",
     "rankwright export examples/gpt3-175b-1024.yaml --to megatron", export_plan},
    {"import", "read a framework's config, or files about a cluster, and write a plan or cluster",
     "rankwright import train.sh -o plan.yaml", import_plan},
    {"run", "train for real: every rank executes the plan, and what was predicted is measured",
     "rankwright run examples/gpt2-tiny-tp2-pp2-dp2.yaml --local --steps 100", train},
    {"probe", "measure this machine and its links, and write a cluster file",
     "rankwright probe -o cluster.yaml", probe},
    {"validate", "compare predictions with measured runs or collectives",
     "rankwright validate tests/data/validation/runs.csv --leave-one-family-out", validate},
    {"catalog", "list and show known models, devices, systems and diagnostic codes",
     "rankwright catalog models llama-3.1-405b", catalog},
};

constexpr std::string_view kExample =
    "rankwright plan --model llama-3.1-8b --cluster \"dgx-h100 x 2\" -o plan.yaml";

void print_help(std::ostream& out) {
  out << "Example: " << kExample << "\n\n"
      << "Rankwright: layouts for training large models, found, checked and explained.\n\n"
      << "Verbs:\n";
  for (const Verb& one : kVerbs) out << fmt::format("  {:<9}{}\n", one.name, one.summary);
  out << "  help     this text, or that of a verb: rankwright help check\n"
      << "\nA plan is a file or - for standard input; a model or a cluster is a name or a file.\n"
      << "Exit: 0 fine or warnings only, 1 unreadable or unknown, 2 a lint error or nothing\n"
      << "      fits, 64 usage, 130 Ctrl-C.\n";
}

int unknown_verb(const std::string& name, const Io& io) {
  std::vector<std::string> names{"help"};
  for (const Verb& one : kVerbs) names.emplace_back(one.name);
  io.err << fmt::format("rankwright: '{}' is not a verb\n", excerpt(name));
  if (const std::optional<std::string> near = nearest(name, names))
    io.err << fmt::format("  help: did you mean {}?\n", *near);
  else
    io.err << "  help: rankwright help lists them\n";
  return kUsage;
}

const Verb* find(std::string_view name) {
  const auto found = std::find_if(std::begin(kVerbs), std::end(kVerbs),
                                  [&](const Verb& one) { return one.name == name; });
  return found == std::end(kVerbs) ? nullptr : found;
}

int help(Args args, const Io& io) {
  if (args.empty()) {
    print_help(io.out);
    return kOk;
  }
  const Verb* const one = find(args[0]);
  if (one == nullptr) return unknown_verb(args[0], io);
  const std::string flag = "--help";
  return one->run({&flag, 1}, io);
}

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

const Verb& verb(std::string_view name) {
  const Verb* const one = find(name);
  RW_CHECK(one != nullptr);
  return *one;
}

int run(Args args, const Io& io) {
  if (args.empty()) {
    print_help(io.err);
    return kUsage;
  }
  const std::string& first = args[0];
  if (first == "--version" || first == "-V") {
    io.out << "rankwright " RANKWRIGHT_VERSION "\n";
    return kOk;
  }
  if (first == "help" || first == "--help" || first == "-h") return help(args.subspan(1), io);
  const Verb* const one = find(first);
  if (one == nullptr) return unknown_verb(first, io);
  return one->run(args.subspan(1), io);
}

}  // namespace rankwright::cli
