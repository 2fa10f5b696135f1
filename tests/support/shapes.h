// Random shapes of every family for tests, as a config.json may state them.
#pragma once

#include <rapidcheck.h>

#include <string>

#include "rankwright/model/architecture.h"

namespace rankwright {

/// Makes shapes that build() accepts, with optional values stated or not.
inline model::Shapes random_shapes() {
  const auto any = [](i64 min, i64 max) { return *rc::gen::inRange<i64>(min, max + 1); };
  const auto maybe = [] { return *rc::gen::arbitrary<bool>(); };
  const auto flag = [&] { return maybe() ? std::optional(maybe()) : std::nullopt; };
  const model::Architecture& family =
      model::architectures()[std::size_t(any(0, i64(model::architectures().size()) - 1))];
  model::Shapes s{.name = "random",
                  .architecture = std::string(family.name),
                  .hidden = 64,
                  .layers = any(1, 12),
                  .heads = 4,
                  .kv_heads = *rc::gen::elementOf(std::vector<i64>{0, 1, 2, 4}),
                  .head_dim = maybe() ? 24 : 0,
                  .ffn = any(1, 300),
                  .vocab = any(1, 1000),
                  .max_sequence = maybe() ? any(1, 1 << 20) : 0,
                  .tied = flag(),
                  .ffn_bias = flag()};
  if (family.learned_positions) s.positions = any(0, 512);
  if (family.sparse) {
    s.experts = any(1, 9);
    s.active_experts = any(1, s.experts);
    if (maybe() && s.experts % 2 == 0) {
      s.expert_groups = 2;
      s.active_groups = s.active_experts > s.experts / 2 ? 2 : any(1, 2);
    }
    s.expert_ffn = any(1, 99);
    s.shared_ffn = maybe() ? any(1, 99) : 0;
    s.first_dense = maybe() ? any(0, 14) : 0;
    s.sparse_every = maybe() ? any(1, 14) : 1;
  }
  if (family.latent) {
    s.q_rank = maybe() ? any(1, 40) : 0;
    s.kv_rank = any(1, 40);
    s.nope_dim = any(1, 40);
    s.rope_dim = any(1, 40);
    s.value_dim = any(1, 40);
  } else {
    s.qkv_bias = flag();
    s.out_bias = flag();
  }
  s.window = maybe() ? any(0, 4096) : 0;
  if (family.indexer) {
    s.index_heads = any(1, 9);
    s.index_dim = any(1, 40);
    s.index_topk = any(1, 4096);
  }
  if (family.linear != model::Attention::Kind::none) {
    s.linear_key_heads = any(1, 3);
    s.linear_heads = s.linear_key_heads * any(1, 3);
    s.linear_dim = any(1, 40);
    s.linear_key_dim = any(1, 40);
    s.linear_conv = maybe() ? any(1, 5) : 0;
    s.conv_bias = flag();
    s.linear_bias = flag();
  }
  if (maybe()) {  // a pattern of its own
    const bool linear = family.linear != model::Attention::Kind::none;
    const std::string letters = family.single_blocks ? (family.sparse ? "M*-E" : "M*-")
                                : linear             ? "FWL"
                                                     : "FW";
    for (i64 i = any(1, s.layers); i > 0; --i)
      s.pattern += letters[std::size_t(any(0, i64(letters.size()) - 1))];
  }
  s.norms = maybe() ? any(1, 4) : 0;
  s.head_bias = flag();
  s.norm_bias = flag();
  if (!family.latent) s.qk_norm = flag();
  if (family.sparse) s.shared_gate = flag();
  if (family.sparse) s.router_bias = flag();
  s.mtp_layers = maybe() ? any(0, s.layers) : 0;
  return s;
}

}  // namespace rankwright
