// The pages of collectives. To add one, add a row, its entry in docs/reference/glossary.md and its
// definition in collective.cc.
#include "rankwright/planner/concept/concept_page.h"

namespace rankwright::planner {
namespace {

constexpr ConceptPage kCollectivePages[] = {
    {.term = "all-reduce",
     .typed = "all-reduce",
     .collective = Collective::all_reduce,
     .bytes = "Each rank sends 2 (d - 1) / d x N, for d ranks with a buffer of N bytes each.",
     .steps =
         "2 (d - 1) in a ring, each with the latency of a link. Trees and switches that reduce "
         "need fewer; the estimate takes the fastest.",
     .used = "DP without ZeRO: gradients, once per step, overlapped with backward. TP without "
             "sequence parallelism: after each block of a layer in forward, and again in backward.",
     .relation = "all-reduce = reduce-scatter, then all-gather, with equal bytes and steps.",
     .failure = "A rank that does not call it, or calls it in another order, hangs its group.",
     .measure = "nccl-tests all_reduce_perf: bus bandwidth is the bytes above divided by the time.",
     .next = {"explain reduce-scatter", "explain all-reduce examples/course-64.yaml"}},
    {.term = "reduce-scatter",
     .typed = "reduce-scatter",
     .collective = Collective::reduce_scatter,
     .bytes = "Each rank sends (d - 1) / d x N, for d ranks with an input of N bytes each.",
     .steps = "d - 1 in a ring, each with the latency of a link.",
     .used = "ZeRO and FSDP: gradients, in backward, once per step or with every micro-batch. TP "
             "with sequence parallelism: after each block of a layer in forward, and for its "
             "input's gradient in backward.",
     .relation = "First half of an all-reduce. It is what backward does for an all-gather of "
                 "forward.",
     .failure = "Last buckets that outlast backward: the optimizer waits for them.",
     .measure = "nccl-tests reduce_scatter_perf: bus bandwidth is the bytes above divided by the "
                "time.",
     .next = {"explain all-gather", "explain reduce-scatter examples/course-64.yaml"}},
    {.term = "all-gather",
     .typed = "all-gather",
     .collective = Collective::all_gather,
     .bytes = "Each rank sends (d - 1) / d x N, for d ranks that each end with N bytes.",
     .steps = "d - 1 in a ring, each with the latency of a link.",
     .used = "ZeRO-3 and FSDP: the parameters of a layer, before its forward and its backward. "
             "ZeRO-1 and ZeRO-2: updated parameters, once per step. TP with sequence parallelism: "
             "before each block of a layer. CP: keys and values, if cp_comm is all_gather.",
     .relation = "Second half of an all-reduce. It is what backward does for a reduce-scatter of "
                 "forward.",
     .failure = "A gather that outlasts the layer before it: the next layer waits for its weights.",
     .measure = "nccl-tests all_gather_perf: bus bandwidth is the bytes above divided by the time.",
     .next = {"explain fsdp", "explain all-gather examples/course-64.yaml"}},
    {.term = "all-to-all",
     .typed = "all-to-all",
     .collective = Collective::all_to_all,
     .bytes = "Each rank sends (d - 1) / d x N, for d ranks with a buffer of N bytes each.",
     .steps = "1: all messages are in flight at once, and share each rank's link.",
     .used = "EP: dispatch of tokens to their experts and combine of the results, in every MoE "
             "layer, in forward and backward. CP: heads for sequence around attention, if cp_comm "
             "is a2a (Ulysses).",
     .relation = "Transpose of parts over ranks, so it is its own inverse: combine undoes "
                 "dispatch.",
     .failure = "Uneven routing: all ranks wait for the one that receives most tokens.",
     .measure = "nccl-tests alltoall_perf, and the tokens per expert of a few steps.",
     .next = {"explain ep", "explain all-to-all examples/labs/experts.yaml"}},
    {.term = "broadcast",
     .typed = "broadcast",
     .collective = Collective::broadcast,
     .bytes = "Each rank of a chain but the last sends N, the bytes of the root's buffer.",
     .steps = "d - 1 along the chain. Large buffers are cut into pieces that follow each other, so "
              "the last rank waits for d - 1 pieces, not for d - 1 buffers.",
     .used =
         "Start of a run: the root's parameters or its checkpoint go to all replicas. Some data "
         "loaders broadcast a batch to the TP group. The estimate of a step has none.",
     .relation = "All-reduce to which only the root adds something.",
     .failure = "Replicas that start without it differ from the first step on.",
     .measure = "Compare a checksum of the parameters on all replicas before the first step.",
     .next = {"explain dp", "explain checkpoint"}},
    {.term = "send/recv",
     .typed = "send-recv",
     .collective = Collective::send_recv,
     .bytes = "The sender sends N, the bytes of the message.",
     .steps = "1, with the latency of the link between the two ranks.",
     .used = "PP: activations to the next stage in forward, their gradients to the stage before in "
             "backward, once per micro-batch and stage boundary. CP: keys and values around a "
             "ring, if cp_comm is p2p.",
     .relation = "Step of a ring: d - 1 rounds in which each rank passes on what it received are "
                 "an all-gather.",
     .failure = "Two ranks that both wait to receive first: a deadlock.",
     .measure = "nccl-tests sendrecv_perf between the two nodes of a stage boundary.",
     .next = {"explain pp", "explain send-recv examples/course-64.yaml"}},
};

}  // namespace

std::span<const ConceptPage> collective_pages() { return kCollectivePages; }

}  // namespace rankwright::planner
