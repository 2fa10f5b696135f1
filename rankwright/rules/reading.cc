// RW09..: errors before there is a plan: files, keys, values, names. These codes have pages but no
// rule: the readers report them with their locations.
#include "rankwright/rules/rule.h"

namespace rankwright::rules {
namespace reading_impl {
namespace {

constexpr Severity kError = Severity::error;

constexpr Page kPages[] = {
    {"RW0901", kError, "the file cannot be read",
     "The text is not YAML, JSON or CSV at the place that is named.",
     "Mend the line; a colon without a space, a tab, or an open bracket are the usual causes.", "",
     ""},
    {"RW0902", Severity::warning, "a key that is not known is ignored",
     "Unknown keys never fail, so that files can carry remarks, but a slip of the keyboard would "
     "otherwise pass in silence.",
     "Use the key that is suggested, or remove it.", "", ""},
    {"RW0903", kError, "a value of the wrong kind",
     "A number stands where a list is expected, or the like.", "Write the kind that is named.", "",
     ""},
    {"RW0904", kError, "number out of range",
     "Degrees and sizes are whole numbers of at least 1, and small enough that products of them "
     "are "
     "exact.",
     "Write a number inside the range that is named.", "", ""},
    {"RW0905", kError, "a key stands twice",
     "Of two values only one would be used, and which is left "
     "to chance.",
     "Keep one of them.", "", ""},
    {"RW0906", kError, "the file is larger or more tangled than such a file needs to be",
     "Size, depth and number of values are bounded, and aliases are refused, because a small file "
     "can "
     "unfold to a huge one.",
     "Write the values out; for long rank lists use `placement: {hosts: [...]}`.", "", ""},
    {"RW0907", kError, "a value that is not known",
     "The key takes one of a few words, and this is none of them.",
     "Use one of those that are "
     "listed.",
     "", ""},
    {"RW0908", kError, "a name that is not known",
     "The catalog has no device, system or model of that name.",
     "List what is known with `rankwright catalog`, or describe it in a file.", "", ""},
    {"RW0909", kError, "not a quantity with a unit",
     "Bandwidths come in bits and bytes, memory in powers of ten and of two. A bare number is a "
     "guess.",
     "Write the unit: 450 GB/s, 400 Gb/s, 2 us, 80 GiB.", "", ""},
    {"RW0910", kError, "the file cannot be opened",
     "It is not there, is no regular file, or is too "
     "large.",
     "Check the path; use - to read from standard input.", "", ""},
    {"RW0911", kError, "not a node shape", "The short form of a cluster is N_nodes_x_M_gpus.",
     "Write it like 8_nodes_x_8_gpus, or use `cluster`.", "", ""},
    {"RW0912", kError, "something is missing", "A value that has no default is not given.",
     "Add the key that is named.", "", ""},
    {"RW0914", kError, "the model's shapes are not understood",
     "The config names an architecture that is not known, leaves out a shape that it needs, or "
     "states "
     "shapes that contradict each other.",
     "Add what is named; `rankwright catalog architectures` lists what is known.", "", ""},
    {"RW0915", kError, "not a pipeline layout",
     "Layouts are written in Megatron-LM's grammar: E embedding, t layer, m MTP, L loss, | ends a "
     "stage, x*n and (...)*n repeat.",
     "Write it like Ett|(tt|)*3ttL, or as a list of layers a stage.",
     "Megatron-LM, --pipeline-model-parallel-layout", ""},
    {"RW0916", kError, "not a schedule",
     "A schedule file has one line a pp rank and cells between commas: stage, then F (forward), B "
     "(backward), I (input gradient) or W (weight gradient), then microbatch. Transfers may be "
     "stated as SEND_F, RECV_F, SEND_B, RECV_B.",
     "Write it like 0F0,0F1,0B0,0B1, or print one with `rankwright explain PLAN --csv FILE`.",
     "torch.distributed.pipelining, schedules.py; torchtitan, pipeline_parallel_schedule_csv", ""},
    {"RW0917", kError, "a table without the columns of measured runs",
     "`validate` reads a CSV with one training run a row: its shapes, degrees, GPU and what was "
     "measured; or one collective measurement a row.",
     "Name the columns as tests/data/validation/runs.csv does; blank cells are allowed.", "", ""},
    {"RW0930", kError, "a log without a step",
     "Neither the line of a step nor a failed allocation stands in it: only some ranks write them, "
     "and a file may end before the first.",
     "Give the output of the rank that logs steps: the last in Megatron-LM, rank 0 in torchtitan.",
     "Megatron-LM, training_log(); torchtitan, components/metrics.py", ""},
    {"RW0931", kError, "a run too far from its estimate to calibrate by",
     "A calibration moves the rates of computation. Where they would have to be less than 0.4 or "
     "more than 1.3 of what published runs reach, something else is otherwise than the plan says.",
     "Ask `rankwright compare plan.yaml --log run.log` what; `--ran` if another plan ran.", "", ""},
    {"RW0932", kError, "not a trace of a step",
     "What `run --trace` and `explain --trace` write is read: Chrome's JSON or Perfetto's "
     "protobuf, "
     "not packed, with a track `pp rank N` for every pp rank, on which slices begin and end.",
     "Write one with `rankwright run plan.yaml --trace run.pftrace`.",
     "Trace Event Format; Perfetto, protos/perfetto/trace", ""},
    {"RW0933", kError, "not the answers of this lab",
     "An answer file has a key a question; `lab: N` in it says which lab it answers. This one "
     "names "
     "another lab, or has none of the keys.",
     "Write one to fill in with `rankwright lab 3 --template -o answer.yaml`.", "", ""},
};

}  // namespace
}  // namespace reading_impl

std::span<const Page> reading_pages() { return reading_impl::kPages; }

}  // namespace rankwright::rules
