// RW06..: problems between a plan and the files of other tools. These codes have pages but no rule:
// the readers and writers report them with their locations.
#include "rankwright/rules/rule.h"

namespace rankwright::rules {
namespace exchange_impl {
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
    {"RW0604", Severity::error, "numbers of the file do not multiply",
     "The framework's file states a product and its factors, and they do not agree: DeepSpeed "
     "stops where train_batch_size is not train_micro_batch_size_per_gpu x "
     "gradient_accumulation_steps x data ranks; torchtitan and accelerate want the replicas to "
     "divide the data ranks, torchtitan the pipeline's microbatch to divide the local batch.",
     "Leave one of the numbers out, or correct it; --world says how many ranks there are.",
     "DeepSpeed runtime/config.py, _batch_assertion; torchtitan distributed/parallel_dims.py", ""},
    {"RW0605", Severity::warning, "the weights are not those of the config",
     "The safetensors index beside the config states how many bytes the weights have, and the "
     "shapes of the config make another number: buffers, other dtypes in one file, or a config of "
     "another model.",
     "Check that both files are of one model; the plan is reckoned with the config's shapes.", "",
     ""},
    {"RW0614", Severity::warning, "a value that only the running script knows",
     "A flag's value comes from a variable that the script does not set: an argument, the "
     "environment, the output of a command. Scripts are read and never run.",
     "Write the value into the script, or state the key in a plan file.", "", ""},
    {"RW0615", Severity::note, "something that the file leaves open is assumed",
     "A condition on a value that is not known takes its first branch; a vocabulary that only the "
     "tokenizer knows is taken from a model of the same shapes.",
     "Nothing needs to be done where the assumption is right; --model states a model.", "", ""},
    {"RW0616", Severity::warning, "the framework refuses these settings together",
     "Read one by one the settings make a plan, but the framework stops at their combination.",
     "Take out the one that the message names, or add what it needs.", "", ""},
    {"RW0617", Severity::warning, "a setting that is not known may decide the layout",
     "The framework has no setting of this name. It is nearly the name of one that decides the "
     "layout, or it speaks of degrees, batches or recompute: a typo, or a name of another version "
     "or of a fork. The plan is estimated without it.",
     "Correct the name as suggested, or state the key in the plan that `rankwright import` "
     "writes.",
     "", ""},
    {"RW0618", Severity::note, "settings that are not known are ignored",
     "The framework has no settings of these names, in any version whose parser was read, and they "
     "are not close to one that matters to a plan: a typo, or settings of a fork.",
     "Check the spelling; nothing else needs to be done.", "", ""},
    {"RW0620", Severity::error, "not a list of hosts",
     "Host lists are written as Slurm does: names between commas, with ranges of numbers in "
     "brackets. They are bounded, because a short list can unfold to a huge one.",
     "Write it like n[0-3,7],gpu-[001-128].", "Slurm, scontrol show hostnames", ""},
    {"RW0621", Severity::error, "the topology is not understood",
     "A file about a cluster breaks off, contradicts itself, or has something at the place that is "
     "named which such files do not have.",
     "Write the file anew with the program that it comes from, whole and unedited.", "", ""},
    {"RW0622", Severity::warning, "two files say different things",
     "Several files describe one cluster, and two of them state another value of one thing. The "
     "first that is named on the command line is taken.",
     "Leave out the file that is wrong, or name the right one first.", "", ""},
    {"RW0623", Severity::note, "assumed, as no file says it",
     "No file states this figure. It is taken from the system of the catalog that is nearest, and "
     "marked as assumed where that can be.",
     "Give a file that states it, or write it into the cluster file that `rankwright import` "
     "makes.",
     "", ""},
    {"RW0624", Severity::warning, "an uneven topology is evened out",
     "A cluster is levels, and all domains of a level are alike. A tree whose switches join "
     "unequal numbers is read as one with their mean.",
     "Describe the part of the cluster that the job runs on, or write a cluster file.", "", ""},
    {"RW0625", Severity::warning, "a measurement that says nothing of this cluster",
     "The measured group does not fit on the cluster, or no bandwidth and latency of the level "
     "that it spans gives the measured times.",
     "Measure on hosts of this cluster, from 8 bytes to some GB, and name the cluster with "
     "--cluster or the files that describe it.",
     "NVIDIA/nccl-tests", ""},
};

}  // namespace
}  // namespace exchange_impl

std::span<const Page> exchange_pages() { return exchange_impl::kPages; }

}  // namespace rankwright::rules
