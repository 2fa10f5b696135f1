// RW09..: errors before there is a plan: files, keys, values, names. These codes have pages but no
// rule: the readers report them with their locations.
#include "rankwright/rules/rule.h"

namespace rankwright::rules {
namespace reading_impl {
namespace {

constexpr Severity kError = Severity::error;

constexpr Page kPages[] = {
    {"RW0901", kError, "the file cannot be read",
     "The text at the given position is not valid YAML, JSON or CSV.",
     "Fix the line. Usual causes: a colon without a space, a tab, or an unclosed bracket.", "", ""},
    {"RW0902", Severity::warning, "unknown key, ignored",
     "Unknown keys are allowed, so that files can carry extra data. A typo would otherwise go "
     "unnoticed.",
     "Use the suggested key, or remove this one.", "", ""},
    {"RW0903", kError, "wrong type of value",
     "The key needs another type, for example a list instead of a number.",
     "Write a value of the type that the message names.", "", ""},
    {"RW0904", kError, "number out of range",
     "Degrees and sizes are whole numbers of at least 1, and small enough for exact products.",
     "Write a number in the range that the message gives.", "", ""},
    {"RW0905", kError, "duplicate key", "Only one of the two values would be used.",
     "Keep one of them.", "", ""},
    {"RW0906", kError, "the file is too large or too deeply nested",
     "Size, depth and number of values are limited, and aliases are rejected, because a small file "
     "can expand to a huge one.",
     "Write the values without aliases. For long rank lists use `placement: {hosts: [...]}`.", "",
     ""},
    {"RW0907", kError, "unknown value", "The key accepts only the listed values.",
     "Use one of the listed values.", "", ""},
    {"RW0908", kError, "unknown name", "The catalog has no device, system or model of this name.",
     "List the known names with `rankwright catalog models`, `devices` or `systems`, or describe "
     "it in a file.",
     "", ""},
    {"RW0909", kError, "not a number with a unit",
     "Bandwidth may be in bits or bytes, memory in powers of ten or two. Without a unit the number "
     "is ambiguous.",
     "Write the unit: 450 GB/s, 400 Gb/s, 2 us, 80 GiB.", "", ""},
    {"RW0910", kError, "the file cannot be opened",
     "The file does not exist, is not a regular file, or is too large.",
     "Check the path. Use - to read standard input.", "", ""},
    {"RW0911", kError, "invalid node shape", "The short form of a cluster is N_nodes_x_M_gpus.",
     "Write node_shape: 8_nodes_x_8_gpus, or set `cluster`.", "", ""},
    {"RW0912", kError, "missing value", "A required value is not given.",
     "Add the key or flag that the message names.", "", ""},
    {"RW0914", kError, "invalid model shapes",
     "The architecture is unknown, a required shape is missing, or two shapes contradict each "
     "other.",
     "Add what the message names. `rankwright catalog architectures` lists the known "
     "architectures.",
     "", ""},
    {"RW0915", kError, "invalid pipeline layout",
     "Layouts are written in Megatron-LM's grammar: E embedding, t layer, m MTP, L loss, | ends a "
     "stage, x*n and (...)*n repeat a part.",
     "Write stages: Ett|(tt|)*3ttL, or the number of layers per stage: stages: [8, 8, 7, 7].",
     "Megatron-LM, --pipeline-model-parallel-layout", ""},
    {"RW0916", kError, "invalid schedule file",
     "A schedule file has one line per PP rank, with actions separated by commas: stage, then F "
     "(forward), B (backward), I (input gradient) or W (weight gradient), then micro-batch. "
     "Transfers are SEND_F, RECV_F, SEND_B and RECV_B.",
     "Write it like 0F0,0F1,0B0,0B1, or print one with `rankwright explain PLAN --csv FILE`.",
     "torch.distributed.pipelining, schedules.py; torchtitan, pipeline_parallel_schedule_csv", ""},
    {"RW0917", kError, "missing columns of measured runs",
     "`validate` reads a CSV with one training run per row (shapes, degrees, GPU and measurements) "
     "or one collective measurement per row.",
     "Use the column names of tests/data/validation/runs.csv. Cells may be empty.", "", ""},
    {"RW0930", kError, "no training step in the log",
     "The log has neither a training step nor a failed allocation. Only some ranks log steps, and "
     "a log may end before the first one.",
     "Pass the output of the rank that logs steps: the last rank in Megatron-LM, rank 0 in "
     "torchtitan.",
     "Megatron-LM, training_log(); torchtitan, components/metrics.py", ""},
    {"RW0931", kError, "the run is too far from the estimate to calibrate with",
     "Calibration scales the compute rates. Factors below 0.4 or above 1.3 of the published rates "
     "mean that the run differs from the plan in another way.",
     "Run `rankwright compare plan.yaml --log run.log` to see the likely reasons. If another plan "
     "ran, pass it with --ran.",
     "", ""},
    {"RW0932", kError, "not the trace of a training step",
     "The traces of `run --trace` and `explain --trace` are read: Chrome JSON or uncompressed "
     "Perfetto protobuf, with a track `pp rank N` for every PP rank.",
     "Write one with `rankwright run plan.yaml --trace run.pftrace`.",
     "Trace Event Format; Perfetto, protos/perfetto/trace", ""},
    {"RW0933", kError, "these answers are not for this lab",
     "An answer file has one key per question, and `lab: N` names its lab. This file names another "
     "lab, or has no known key.",
     "Write a template with `rankwright lab 3 --template -o answer.yaml`.", "", ""},
};

}  // namespace
}  // namespace reading_impl

std::span<const Page> reading_pages() { return reading_impl::kPages; }

}  // namespace rankwright::rules
