// RW06..: what can go wrong between a plan and somebody else's file. These have pages like every
// code, but no rule: readers and writers report them where they stand.
#include "rankwright/rules/rule.h"

namespace rankwright {
namespace {

constexpr Page kPages[] = {
    {"RW0601", Severity::warning, "a setting that the estimate leaves out",
     "The framework's file sets something that changes what a step does or holds, and that no plan "
     "key stands for. Times and memory are those of the plan without it.",
     "Nothing needs to be done to read the file; take the figures as those of the layout alone.",
     "", ""},
    {"RW0602", Severity::warning, "the target cannot say this",
     "The plan states something that the framework or launcher has no setting for. The file is "
     "written without it, and lists it in its head.",
     "Change the plan to what the target runs (`rankwright plan --for TARGET`), or set it where "
     "the message says. `--strict` makes it an error.",
     "", ""},
    {"RW0603", Severity::error, "a file of no known format",
     "Neither its name nor its text is that of a format that is read.",
     "Name the format with --from; `rankwright import --list` lists them.", "", ""},
    {"RW0620", Severity::error, "not a list of hosts",
     "Host lists are written as Slurm does: names between commas, with ranges of numbers in "
     "brackets. They are bounded, because a short list can unfold to a huge one.",
     "Write it like n[0-3,7],gpu-[001-128].", "Slurm, scontrol show hostnames", ""},
};

}  // namespace

std::span<const Page> exchange_pages() { return kPages; }

}  // namespace rankwright
