#include "rankwright/plan/messages.h"

#include <algorithm>

namespace rankwright {
namespace {

/// `width` numbers for every token of a microbatch, in the activations' format.
Bytes activations(const Setup& setup, i64 width) {
  const i64 tokens = setup.plan.micro_batch * setup.job.sequence / setup.plan.cp;
  return double(tokens) * bytes(width, setup.job.activation_bytes());
}

}  // namespace

bool sequence_parallel(const Plan& plan) { return plan.sequence_parallel && plan.tp > 1; }

Messages messages(const Setup& setup) {
  const Bytes hidden = activations(setup, setup.model.hidden);
  return {.hidden = hidden,
          .kept = hidden / (sequence_parallel(setup.plan) ? setup.plan.tp : 1),
          .scores = bytes(setup.plan.micro_batch * setup.job.sequence / setup.plan.cp,
                          setup.job.scalar_bytes())};
}

AttentionMessages messages(const Setup& setup, const Attention& a) {
  const bool latent = a.kind == Attention::Kind::latent;
  const i64 tp = setup.plan.tp;
  const i64 query = a.query_width() / tp;
  const i64 output = a.value_width() / tp;
  const i64 key = latent ? query : ceil_div(a.kv_heads, tp) * a.head_dim;
  const i64 value = latent ? output : key;
  return {activations(setup, query), activations(setup, key), activations(setup, value),
          activations(setup, output)};
}

Bytes expert_message(const Setup& setup, const FeedForward& ffn) {
  return ffn.active * messages(setup).kept;
}

Bytes boundary_message(const Setup& setup, i64 mtp) {
  const Messages sizes = messages(setup);
  const bool parts = setup.software.scatters_sends;
  return (1 + mtp) * (parts ? sizes.hidden / setup.plan.tp : sizes.kept);
}

i64 mtp_until(const Stages& stages, i64 stage) {
  i64 modules = 0;
  for (i64 s = 0; s <= std::min(stage, i64(stages.size()) - 1); ++s)
    modules += stages[std::size_t(s)].mtp;
  return modules;
}

}  // namespace rankwright
