// RW06..: problems between a plan and the files of other tools. These codes have pages but no rule:
// the readers and writers report them with their locations.
#include "rankwright/rules/rule.h"

namespace rankwright::rules {
namespace exchange_impl {
namespace {

constexpr Page kPages[] = {
    {"RW0601", Severity::warning, "the estimate does not include this setting",
     "The framework's file changes what a step computes or stores, and no plan key represents it. "
     "Times and memory are those of the plan without it.",
     "No action is needed to import the file. Take the estimate as that of the layout alone.", "",
     ""},
    {"RW0602", Severity::warning, "the target has no setting for this",
     "The plan sets something that the framework or launcher has no setting for. The file is "
     "written without it; the comment at its top lists it.",
     "Search for a plan that the target can run (`rankwright plan --for TARGET`), or set it where "
     "the message says. With `--strict` this is an error.",
     "", ""},
    {"RW0603", Severity::error, "unrecognized file format",
     "Neither the file's name nor its content matches a supported format.",
     "Pass the format: --from megatron. `rankwright import --list` lists the formats.", "", ""},
    {"RW0604", Severity::error, "inconsistent numbers in the file",
     "The file sets a product and its factors, and they disagree. DeepSpeed requires "
     "train_batch_size = train_micro_batch_size_per_gpu x gradient_accumulation_steps x "
     "data-parallel ranks. torchtitan and accelerate require the replicas to divide the "
     "data-parallel ranks; torchtitan also requires the pipeline's micro-batch to divide the local "
     "batch.",
     "Correct or remove one of the numbers. Pass the number of ranks with --world.",
     "DeepSpeed runtime/config.py, _batch_assertion; torchtitan distributed/parallel_dims.py", ""},
    {"RW0605", Severity::warning, "the weights do not match the config",
     "The safetensors index next to the config gives another size of the weights than the config's "
     "shapes. Possible reasons: buffers, several dtypes in one file, or the config of another "
     "model.",
     "Check that both files belong to the same model. The plan uses the shapes of the config.", "",
     ""},
    {"RW0614", Severity::warning, "a value that is known only when the script runs",
     "The value of a flag comes from a variable that the script does not set: an argument, the "
     "environment or the output of a command. Scripts are read, never run.",
     "Write the value into the script, or set the key in a plan file.", "", ""},
    {"RW0615", Severity::note, "assumed a value that the file does not give",
     "If the value of a condition is unknown, its first branch is used. A variable that the script "
     "expects to be set has its default. A vocabulary size that only the tokenizer has is taken "
     "from a model of the same shapes. The number of ranks is the smallest that the degrees divide "
     "and that fits in memory. An assumed value is never the reason of an error.",
     "No action is needed if the assumption is right. Otherwise pass --model NAME, --world N, or "
     "--set NAME=VALUE for a variable of a script.",
     "", ""},
    {"RW0616", Severity::error, "the framework rejects these settings together",
     "Each setting is valid, but the framework stops at their combination.",
     "Remove the setting that the message names, or add what it needs.", "", ""},
    {"RW0617", Severity::warning, "an unknown setting may change the layout",
     "The framework has no setting of this name. Its name resembles one that changes the layout, "
     "or mentions degrees, batches or recomputation: a typo, or a setting of another version or a "
     "fork. The estimate ignores it. A typo is an error for frameworks that refuse unknown names: "
     "Megatron-LM, torchtitan, nanotron and accelerate.",
     "Use the suggested name, or set the key in the plan that `rankwright import` writes.", "", ""},
    {"RW0618", Severity::note, "unknown settings are ignored",
     "No supported version of the framework has settings of these names, and none resembles a "
     "setting that affects the layout: typos, or settings of a fork.",
     "Check the spelling. No other action is needed.", "", ""},
    {"RW0620", Severity::error, "invalid host list",
     "Host lists use Slurm's syntax: names separated by commas, with number ranges in brackets. "
     "Their length is limited because a short list can expand to a huge one.",
     "Write it like n[0-3,7],gpu-[001-128].", "Slurm, scontrol show hostnames", ""},
    {"RW0621", Severity::error, "invalid topology file",
     "The file is truncated, contradicts itself, or has unexpected content at the given position.",
     "Generate the file again with its tool, and do not edit it.", "", ""},
    {"RW0622", Severity::warning, "two files disagree",
     "Several files describe the cluster, and two of them give different values. The file named "
     "first on the command line is used.",
     "Remove the wrong file from the command line, or name the right one first.", "", ""},
    {"RW0623", Severity::note, "assumed: no file gives this value",
     "No file gives this value. It is taken from the most similar system of the catalog.",
     "Add a file that gives the value, or edit the cluster file that `rankwright import` writes.",
     "", ""},
    {"RW0624", Severity::warning, "the topology is uneven; averages are used",
     "All domains of a level have the same size in a cluster file. If switches connect different "
     "numbers of hosts, their mean is used.",
     "Import only the part of the cluster that the job uses, or write a cluster file by hand.", "",
     ""},
    {"RW0625", Severity::warning, "the measurement does not match this cluster",
     "The measured group does not fit on the cluster, or no bandwidth and latency of the level it "
     "spans explain the measured times.",
     "Measure on hosts of this cluster, from 8 bytes to a few GB. Pass the cluster with --cluster "
     "or the files that describe it.",
     "NVIDIA/nccl-tests", ""},
};

}  // namespace
}  // namespace exchange_impl

std::span<const Page> exchange_pages() { return exchange_impl::kPages; }

}  // namespace rankwright::rules
