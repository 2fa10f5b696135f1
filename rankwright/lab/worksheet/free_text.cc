#include "rankwright/lab/worksheet/free_text.h"

#include <algorithm>

#include "rankwright/base/check.h"
#include "rankwright/lab/worksheet/words.h"

namespace rankwright::lab {
namespace free_text_impl {
namespace {

using K = plan::TrafficKind;

constexpr std::string_view kCommunicates =
    "collective|all reduce|allreduce|all gather|allgather|reduce scatter|communicat|traffic|"
    "bandwidth|nvlink|nv link|nvswitch|fast link|fastest|latency|sync|exchange|bytes|gb |mb |tb |"
    "intra node|inside a node|within a node|inside the node|within the node|frequent|per layer|"
    "every layer|each layer";
constexpr std::string_view kUnused =
    "whole|not |no |none|nothing|one |single|fit|unused|full|1 |without|already|enough|cop|"
    "replica|off ";

constexpr AnswerPart kTensor[] = {
    {"what TP splits",
     "layer|matmul|matri|gemm|head|weight|width|hidden|block|mlp|attention|parameter|tensor"},
    {"what the ranks must exchange, or which link that needs", kCommunicates},
};
constexpr AnswerPart kSequence[] = {
    {"which operations it splits", "norm|dropout|activation|residual|layernorm|between"},
    {"the dimension that it splits", "sequence|token"},
};
constexpr AnswerPart kContext[] = {
    {"the dimension that it splits", "sequence|token|context"},
    {"what the ranks must exchange",
     "key|value|kv |attention|exchange|ring|gather|all to all|head"},
};
constexpr AnswerPart kExpert[] = {
    {"what it distributes", "expert|moe"},
    {"how tokens get there", "token|all to all|alltoall|dispatch|combine|rout"},
};
constexpr AnswerPart kPipeline[] = {
    {"what PP splits", "layer|stage|depth|block|model"},
    {"its cost (idle time), its remedy, or why the link may be slow",
     "bubble|idle|micro batch|microbatch|fill|drain|warm|imbalance|wait|send|recv|receive|point to "
     "point|p2p|little|small|low|few|rare|cheap|memory|fit|infiniband|across|between|inter node"},
};
constexpr AnswerPart kData[] = {
    {"what each DP rank holds", "replica|cop|duplicat|same model|whole model|full model|instance"},
    {"what the replicas share: their work, or their traffic",
     "batch|sample|data |throughput|gradient|grad |grads|all reduce|allreduce|sync|scale|token|"
     "speed|bytes|gb "},
};
constexpr AnswerPart kNotUsed[] = {{"why the axis is not used", kUnused}};
constexpr AnswerPart kZeroOff[] = {
    {"what every DP rank holds",
     "replica|every|each|whole|full|cop|nothing|not |no |none|off |unsharded|one |1 "}};

constexpr AnswerPart kShards = {"what happens to the states",
                                "shard|split|partition|divid|distribut|spread|slice"};
constexpr AnswerPart kShardedStates[] = {
    {"the state that ZeRO-1 shards", "optim|adam|moment|state|master|everything"},
    {"the state that ZeRO-2 adds", "grad|all state|everything|model state"},
    {"the state that ZeRO-3 adds", "param|weight|all state|everything|model state|model |fsdp"},
};

/// The parts of one axis.
struct ReasonRow {
  std::string_view axis;
  i64 plan::Plan::*degree;
  std::span<const AnswerPart> used, unused;
};
constexpr ReasonRow kReasons[] = {
    {"TP", &plan::Plan::tp, kTensor, kNotUsed},   {"SP", &plan::Plan::tp, kSequence, kNotUsed},
    {"CP", &plan::Plan::cp, kContext, kNotUsed},  {"EP", &plan::Plan::ep, kExpert, kNotUsed},
    {"PP", &plan::Plan::pp, kPipeline, kNotUsed}, {"DP", &plan::Plan::dp, kData, kNotUsed},
};

constexpr std::string_view kSlow =
    "slow|bandwidth|latency|across|infiniband|ib |ethernet|inter node|between node|leave|leaving|"
    "link|congest|network|nvlink";
constexpr AnswerPart kInLayers[] = {
    {"which link is dangerous", kSlow},
    {"what waits for it, or how often",
     "layer|matmul|gemm|stall|wait|block|critical|exposed|idle|frequent|often|step|compute|every"},
};
constexpr AnswerPart kExpertLayers[] = {
    {"where it runs, or which link is dangerous", "layer|expert|slow|bandwidth|stall|wait|link"}};
constexpr AnswerPart kFirstStage[] = {{"which stage runs it", "first|embedding|stage 0|one stage"}};
constexpr AnswerPart kLastStage[] = {
    {"which stage runs it", "last|imbalance|uneven|head|one stage"}};
constexpr AnswerPart kLatency[] = {{"the property of the link that decides", "latency|small"}};
constexpr AnswerPart kSmall[] = {{"its size", "small|forg|little|tiny|negligible|sum|minor"}};
constexpr AnswerPart kRing[] = {
    {"what hides it", "attention|hid|overlap|expos|compute"},
    {"when that fails", "block|long|short|sequence|chunk|slow|small|token"},
};
constexpr AnswerPart kKeys[] = {
    {"what it carries, or what waits for it", "key|value|kv |attention|gradient|wait|expos|slow"}};
constexpr AnswerPart kHeads[] = {
    {"what it exchanges, or what limits it", "head|sequence|attention|slow|wait|bandwidth"}};
constexpr AnswerPart kLoaded[] = {
    {"which expert everybody waits for",
     "load|imbalanc|unbalanc|hot |skew|uneven|straggl|slowest|busiest|popular|balanc"}};
constexpr AnswerPart kIdle[] = {
    {"what stages do at fill and drain, or when they are uneven",
     "idle|bubble|fill|drain|warm|uneven|imbalanc|unbalanc|wait|stall"}};
constexpr AnswerPart kTied[] = {{"who waits", "first|last|wait|each other|stage"}};
constexpr AnswerPart kBuckets[] = {
    {"when the step waits for it",
     "expos|wait|outlast|not overlap|not hid|unhid|end of|slow|bandwidth|longer|congest|stall|late|"
     "last|infiniband"},
    {"what should hide it",
     "backward|bucket|gradient|grad |grads|overlap|step|hid|comput|batch|replica"},
};
constexpr AnswerPart kGather[] = {
    {"when the step waits for it",
     "expos|wait|outlast|prefetch|not overlap|not hid|unhid|slow|bandwidth|longer|stall|late|"
     "critical"},
    {"what should hide it, or what is gathered",
     "layer|param|weight|gather|comput|overlap|matmul|forward|backward|shard|before"},
};
constexpr AnswerPart kReplicas[] = {
    {"what agrees across what", "replica|hybrid|across|node|shard|slow|expos"}};
constexpr AnswerPart kExperts[] = {
    {"what is different for experts", "replica|byte|more|fewer|larger|parameter|big|expert"}};
constexpr AnswerPart kMirror[] = {{"who waits", "two|both|mirror|wait|end of|each other|pair"}};
constexpr AnswerPart kNorm[] = {{"who waits", "slowest|wait|every|all |straggl|sync|barrier"}};

/// The parts of one kind of communication.
struct RiskRow {
  K kind;
  std::span<const AnswerPart> parts;
};
constexpr RiskRow kRisks[] = {
    {K::tp_all_gather, kInLayers},
    {K::tp_reduce_scatter, kInLayers},
    {K::tp_all_reduce, kInLayers},
    {K::tp_embedding, kFirstStage},
    {K::tp_embedding_grad, kFirstStage},
    {K::tp_head_gather, kLastStage},
    {K::tp_head_reduce, kLastStage},
    {K::tp_cross_entropy, kLatency},
    {K::tp_norm_grads, kSmall},
    {K::cp_ring, kRing},
    {K::cp_all_gather, kKeys},
    {K::cp_reduce_scatter, kKeys},
    {K::cp_all_to_all, kHeads},
    {K::ep_token_counts, kLatency},
    {K::ep_all_to_all, kLoaded},
    {K::etp_all_gather, kExpertLayers},
    {K::etp_reduce_scatter, kExpertLayers},
    {K::pp_forward, kIdle},
    {K::pp_backward, kIdle},
    {K::tied_embedding_grad, kTied},
    {K::dp_all_reduce, kBuckets},
    {K::dp_reduce_scatter, kBuckets},
    {K::dp_all_gather, kGather},
    {K::replica_all_reduce, kReplicas},
    {K::expert_dp_all_reduce, kExperts},
    {K::expert_dp_reduce_scatter, kExperts},
    {K::expert_dp_all_gather, kExperts},
    {K::mirror_grad, kMirror},
    {K::gradient_norm, kNorm},
};

/// A way to keep a state consistent: the words of `explain` for it, and the accepted ones.
struct ConsistencyRow {
  std::string_view word;
  AnswerPart part;
};
constexpr ConsistencyRow kConsistency[] = {
    {"all reduce", {"the collective that makes them equal", "all reduce|allreduce"}},
    {"reduce scatter",
     {"the collective that sums and splits them", "reduce scatter|reducescatter"}},
    {"all gather", {"the collective that collects the shards", "gather|allgather"}},
    {"equal update",
     {"why every replica computes the same",
      "equal|same|identical|all reduce|allreduce|determin|synchron"}},
    {"its shard",
     {"which part a rank updates", "shard|own |its part|its slice|partition|local|subset"}},
    {"all it holds",
     {"which part a rank updates",
      "each rank|every rank|all it|whole|full|equal|same|identical|own |local|redundan|replica|all "
      "reduce|allreduce"}},
    {"tp collective",
     {"the collectives of TP", "tp |tensor|all reduce|allreduce|gather|reduce scatter|collective"}},
    {"cp exchange", {"the exchange of CP", "cp |context|ring|exchange|key|kv "}},
    {"ep all to all", {"the collective of EP", "ep |all to all|alltoall|dispatch|expert"}},
    {"pp send", {"the transfers of PP", "send|recv|receive|p2p|point to point|pp |pipeline"}},
    {"data loader",
     {"the program that deals out samples", "loader|dataloader|sampler|seed|dataset|input"}},
    {"mirror", {"the collective between the two ranks of a stage", "mirror|pair|dualpipe"}},
    {"nothing", {"whether anything is needed", "nothing|none|no |one |single|not "}},
    {"one replica", {"the number of copies", "nothing|none|no |one |single|only|not "}},
};

}  // namespace
}  // namespace free_text_impl

std::vector<AnswerPart> reason_parts(std::string_view axis, const plan::Plan& plan) {
  const auto listed = [](std::span<const AnswerPart> parts) {
    return std::vector<AnswerPart>(parts.begin(), parts.end());
  };
  for (const free_text_impl::ReasonRow& row : free_text_impl::kReasons)
    if (row.axis == axis) return listed(plan.*row.degree > 1 ? row.used : row.unused);
  if (plan.zero == 0) return listed(free_text_impl::kZeroOff);
  std::vector<AnswerPart> parts{free_text_impl::kShards};
  for (int stage = 1; stage <= std::min(plan.zero, 3); ++stage)
    parts.push_back(free_text_impl::kShardedStates[stage - 1]);
  return parts;
}

std::span<const AnswerPart> risk_parts(plan::TrafficKind kind) {
  const free_text_impl::RiskRow& row = free_text_impl::kRisks[std::size_t(kind)];
  RW_CHECK(row.kind == kind);
  return row.parts;
}

std::vector<AnswerPart> consistency_parts(std::string_view expected) {
  const std::string normalized = normalize_answer(expected);
  std::vector<AnswerPart> parts;
  for (const free_text_impl::ConsistencyRow& row : free_text_impl::kConsistency)
    if (mentions(normalized, row.word)) parts.push_back(row.part);
  return parts;
}

std::vector<AnswerPart> list_consistency_parts() {
  std::vector<AnswerPart> parts;
  for (const free_text_impl::ConsistencyRow& row : free_text_impl::kConsistency)
    parts.push_back(row.part);
  return parts;
}

}  // namespace rankwright::lab
