// The pages of the axes, and of sharding. To add one, add a row and its entry in
// docs/reference/glossary.md.
#include "rankwright/planner/concept/concept_page.h"

namespace rankwright::planner {
namespace {

constexpr ConceptPage kAxisPages[] = {
    {.term = "tensor parallelism",
     .typed = "tp",
     .item = cost::Item::tp,
     .splits =
         "Attention heads, feed-forward width and vocabulary: every rank holds 1 / TP of each "
         "matrix of every layer.",
     .copies = "Norms; without sequence parallelism also the activations between blocks. All ranks "
               "of a group work on the same tokens.",
     .sync = "All-gather before and reduce-scatter after each block with sequence parallelism, "
             "all-reduce after each block without it.",
     .when = "Inside every layer, in forward and backward, for every micro-batch. The next matmul "
             "waits for it.",
     .link = "The fastest level: NVLink inside a node.",
     .gains = "Parameters, optimizer states and most activations per rank shrink by TP, and each "
              "layer takes less time.",
     .costs = "Communication that the step waits for in every layer, and narrower matmuls that "
              "reach less of the peak.",
     .failure = "TP across nodes: every layer waits for the slower network.",
     .measure = "Profile one step: time in the TP group's collectives while no kernel computes.",
     .next = {"explain tp examples/course-64.yaml", "explain all-gather", "lab 2"}},
    {.term = "pipeline parallelism",
     .typed = "pp",
     .item = cost::Item::sends,
     .splits = "Layers: each PP rank holds one stage, or several virtual stages.",
     .copies = "Nothing, except a tied embedding, which the first and the last stage both hold.",
     .sync = "send/recv of activations and of their gradients between neighboring stages.",
     .when = "At each stage boundary, in forward and backward, for every micro-batch.",
     .link = "Any: messages are few and small. Between nodes is usual.",
     .gains =
         "Parameters and optimizer states per rank shrink by PP, with the least traffic of all "
         "axes.",
     .costs = "The bubble while the pipeline fills and drains, and the activations of several "
              "micro-batches in flight.",
     .failure = "Too few micro-batches, or one stage that is slower than the others: ranks idle.",
     .measure = "Profile one step on each stage: the time between its cells.",
     .next = {"explain pp examples/course-64.yaml", "explain bubble", "lab 3"}},
    {.term = "data parallelism",
     .typed = "dp",
     .item = cost::Item::dp,
     .splits = "The batch: each replica runs its own sequences.",
     .copies = "Parameters, gradients and optimizer states, in full on every replica unless ZeRO "
               "shards them.",
     .sync = "All-reduce of gradients. Equal gradients give equal updates.",
     .when = "Once per step, in buckets that overlap backward.",
     .link = "Any that backward can cover: usually between nodes.",
     .gains = "Throughput: DP replicas work on one batch at the same time.",
     .costs = "Memory of a whole model per replica, and all gradients sent once per step.",
     .failure = "The model does not fit on one replica: more replicas do not change that.",
     .measure = "Step time with and without gradient reduction (no_sync of DDP): the difference is "
                "exposed.",
     .next = {"explain dp examples/course-64.yaml", "explain zero", "lab 1"}},
    {.term = "ZeRO stage",
     .typed = "zero",
     .item = cost::Item::dp,
     .splits = "Over the data-parallel ranks: stage 1 the optimizer states, stage 2 also the "
               "gradients, stage 3 also the parameters.",
     .copies = "States that the stage does not shard. Every rank still computes whole layers.",
     .sync = "Reduce-scatter of gradients, all-gather of parameters.",
     .when = "Stage 1: once per step. Stage 2 reduces with every micro-batch. Stage 3 also gathers "
             "each layer before its forward and its backward.",
     .link = "Any that compute can cover; stage 3 needs the most bandwidth.",
     .gains = "The sharded states shrink by the number of data-parallel ranks.",
     .costs = "Stages 1 and 2 send what one all-reduce sends, stage 3 half as much again, per "
              "reduction.",
     .failure = "Stage 3 with little compute per gather, or on a slow link: layers wait for "
                "weights.",
     .measure = "Profile one step: all-gathers that outlast the layer before them.",
     .next = {"explain zero examples/labs/zero-3.yaml", "explain fsdp", "lab 4"}},
    {.term = "FSDP",
     .typed = "fsdp",
     .item = cost::Item::dp,
     .splits = "Parameters, gradients and optimizer states of each wrapped unit, usually a layer, "
               "over the data-parallel ranks.",
     .copies = "Nothing for longer than a layer needs it: gather, compute, discard.",
     .sync = "All-gather of a unit's parameters, reduce-scatter of its gradients.",
     .when = "Before the forward and the backward of each unit, and after its backward, for every "
             "micro-batch. Prefetching overlaps the gather with the unit before.",
     .link =
         "Any that compute can cover. At scale bandwidth limits it: shard inside groups (HSDP).",
     .gains = "All states per rank shrink by the number of data-parallel ranks, without a change "
              "to the model.",
     .costs = "Half as much traffic again as DP, per micro-batch instead of once per step.",
     .failure = "Small micro-batches or many ranks: gathers take longer than the compute that "
                "should cover them.",
     .measure = "Profile one step: all-gathers that outlast the unit before them.",
     .next = {"explain fsdp examples/labs/zero-3.yaml", "explain all-gather", "lab 4"}},
    {.term = "sequence parallelism",
     .typed = "sp",
     .item = cost::Item::tp,
     .splits = "Activations of norms, dropout and residuals along the sequence, over the TP group.",
     .copies = "The norms' weights.",
     .sync = "All-gather before and reduce-scatter after each block, in place of TP's all-reduce. "
             "Gradients of the norms are summed once per step.",
     .when = "Inside every layer, in forward and backward, as with TP.",
     .link = "That of TP: the fastest level.",
     .gains = "Activations that TP leaves whole shrink by TP.",
     .costs = "No more bytes than TP alone: all-reduce = reduce-scatter, then all-gather.",
     .failure = "Left off by mistake: activations between blocks are held TP times.",
     .measure = "Peak memory of one step with sequence_parallel true and false.",
     .next = {"explain sp examples/course-64.yaml", "explain tp", "lab 9"}},
    {.term = "context parallelism",
     .typed = "cp",
     .item = cost::Item::cp,
     .splits = "Every sequence: each rank holds the activations of its tokens in all layers.",
     .copies = "Parameters; their gradients are reduced over DP x CP.",
     .sync = "Keys and values by send/recv around a ring, by all-gather, or by all-to-all "
             "(cp_comm).",
     .when = "In the attention of every layer, in forward and backward. A ring overlaps attention.",
     .link = "The fastest level that TP leaves free.",
     .gains = "Activations per rank shrink by CP, which makes long sequences fit.",
     .costs = "An exchange in every layer. Nothing is saved of parameters without ZeRO.",
     .failure = "Blocks too short to cover the exchange, or ranks with unequal shares of causal "
                "attention.",
     .measure = "Profile one attention: time in the CP group's calls while no kernel computes.",
     .next = {"explain cp examples/labs/long.yaml", "explain send-recv", "lab 9"}},
    {.term = "expert parallelism",
     .typed = "ep",
     .item = cost::Item::ep,
     .splits = "Experts of each MoE layer: each rank holds 1 / EP of them.",
     .copies = "Attention, norms, routers and dense layers, as the other axes say.",
     .sync = "All-to-all: dispatch sends each token to its experts, combine returns the results.",
     .when = "Two all-to-alls in every MoE layer in forward, two in backward.",
     .link = "The fastest level that TP leaves free; it takes ranks of DP and TP.",
     .gains = "Parameters and optimizer states of experts per rank shrink by EP.",
     .costs =
         "Four all-to-alls per MoE layer and micro-batch, exposed unless the compute of another "
         "micro-batch covers them.",
     .failure = "Uneven routing: all ranks wait for the most loaded expert.",
     .measure = "Tokens per expert over a few steps, and the time of dispatch and combine.",
     .next = {"explain ep examples/labs/experts.yaml", "explain all-to-all", "lab 8"}},
};

}  // namespace

std::span<const ConceptPage> axis_pages() { return kAxisPages; }

}  // namespace rankwright::planner
