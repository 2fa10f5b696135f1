// The pages of a pipeline's bubble and micro-batches, of the utilization, and of what happens to a
// long run. To add one, add a row and its entry in docs/reference/glossary.md.
#include "rankwright/planner/concept/concept_page.h"

namespace rankwright::planner {
namespace {

constexpr ConceptPage kPipelineAndRunPages[] = {
    {.term = "bubble",
     .typed = "bubble",
     .item = cost::Item::bubble,
     .formula = "(PP - 1) / (m + PP - 1) of the step, for 1F1B with m micro-batches and equal "
                "stages. With v virtual stages per rank, (PP - 1) / v takes the place of PP - 1.",
     .when = "At the start of a step, until the first micro-batch reaches the last stage, and at "
             "its end, until its gradient is back at the first.",
     .gains = "It shrinks with more micro-batches, fewer stages, virtual stages or a zero-bubble "
              "schedule.",
     .costs =
         "Idle ranks. More micro-batches need a larger batch or smaller micro-batches; virtual "
         "stages send more often.",
     .failure = "DP raised at a constant batch: m shrinks and the bubble grows.",
     .measure = "Draw the timeline of one step and add up the idle time of each PP rank.",
     .next = {"explain bubble examples/course-64.yaml",
              "explain examples/labs/pp-4.yaml --timeline --unit-times", "lab 3"}},
    {.term = "micro-batch",
     .typed = "microbatch",
     .formula = "m = global batch / (DP x micro-batch size) micro-batches per step.",
     .splits = "The sequences of one replica, in time: they run one after another.",
     .sync = "Gradients are summed on the rank, and reduced over DP after the last micro-batch.",
     .when = "A pipeline works on several at once, one per stage.",
     .gains = "Activations of one micro-batch at a time, and a smaller bubble with more of them.",
     .costs = "Small ones run narrow matmuls and pay every latency again.",
     .failure = "A micro-batch size that does not divide global batch / DP: the plan is refused.",
     .measure = "Tokens per second and peak memory at micro-batch sizes 1, 2 and 4.",
     .next = {"explain microbatch examples/course-64.yaml", "explain bubble", "lab 3"}},
    {.term = "MFU",
     .typed = "mfu",
     .formula = "MFU = FLOPs per token x tokens per step / (step time x GPUs x peak FLOP/s).",
     .gains = "It compares runs on different numbers of GPUs and on different devices.",
     .costs = "It does not count recomputation (HFU does), and conventions differ in attention: "
              "compare only equal ones.",
     .failure = "A peak with sparsity, or PaLM's convention beside Megatron-LM's: not comparable.",
     .measure = "Tokens per second per GPU, read from the log after the first steps.",
     .next = {"explain mfu examples/course-64.yaml", "explain hfu",
              "report examples/course-64.yaml -o plan.html"}},
    {.term = "straggler",
     .typed = "straggler",
     .splits = "Nothing: every synchronous collective waits for the last of its ranks.",
     .when = "TP, CP and EP groups wait inside every layer, the next stage at each boundary, "
             "replicas at the gradient reduction.",
     .costs = "A rank that is 20 % slower can slow all ranks of the job by nearly as much.",
     .failure = "A hot, throttled or misconfigured GPU that no error reports.",
     .measure = "Time one matmul on every GPU, and compare each rank's time outside collectives.",
     .next = {"explain straggler examples/course-64.yaml",
              "explain examples/course-64.yaml --slow 0:1.2x", "lab 10"}},
    {.term = "checkpoint",
     .typed = "checkpoint",
     .formula = "Bytes = parameters x (bytes per parameter + optimizer bytes per parameter).",
     .splits = "With ZeRO every node writes its shards; without it the nodes of one replica write "
               "all.",
     .when = "Every few hundred or thousand steps, while training waits unless it is asynchronous.",
     .gains = "A failure costs the work since the last one, not the whole run.",
     .costs = "Time to write each one, and storage.",
     .failure = "Too rare: each failure repeats much work. Too frequent: writing takes the time.",
     .measure = "Time of one save, and the mean time between failures of the job.",
     .next = {"explain checkpoint examples/course-64.yaml",
              "explain examples/course-64.yaml --fail 0", "explain goodput"}},
};

}  // namespace

std::span<const ConceptPage> pipeline_and_run_pages() { return kPipelineAndRunPages; }

}  // namespace rankwright::planner
