// Stages: which layers, and which of embedding, MTP and loss, stand on which pp rank. A stage is
// one of pp x v slices of the model; a pp rank's k-th stage is its chunk k.
//
// The layout grammar is Megatron-LM's (core 0.13 and later): E embedding, t decoder layer, m MTP
// module, L loss; '|' ends a stage; x*n and (...)*n repeat; commas and spaces mean nothing. So
// "Ettt|(tt|)*29,m|L" is 32 stages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/base/result.h"

namespace rankwright::plan {

struct Stage {
  i64 layers = 0;
  i64 mtp = 0;
  bool embedding = false;
  bool loss = false;

  friend bool operator==(const Stage&, const Stage&) = default;
};

using Stages = std::vector<Stage>;

/// The most stages that a layout may state: 128 pp ranks with 16 chunks each need 2,048.
inline constexpr i64 kMaxStages = 8192;

/// Layers as evenly as whole layers go; what is left over goes to the stages in the middle, because
/// the first also holds the embedding and the last the output head and the MTP modules.
Stages even_stages(i64 layers, i64 stages, i64 mtp);

/// Layers per stage as listed; embedding first, MTP and loss last.
Stages listed_stages(const std::vector<i64>& layers, i64 mtp);

/// Reads the grammar; RW0915 says at which character it goes wrong.
Result<Stages> parse_layout(std::string_view text);

/// Writes the grammar, repeats folded: "Ettt|(tt|)*29m|L".
std::string show_layout(const Stages&);

/// "10 11 11 10": layers per stage.
std::string show_layers(const Stages&);

i64 total_layers(const Stages&);

}  // namespace rankwright::plan
