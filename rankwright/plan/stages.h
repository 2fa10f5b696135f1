// Stages: which layers, and which of embedding, MTP and loss, are on which pp rank. A stage is one
// of pp x v slices of the model; the k-th stage of a pp rank is its chunk k.
//
// The layout grammar is Megatron-LM's (core 0.13 and later): E embedding, t decoder layer, m MTP
// module, L loss; '|' ends a stage; x*n and (...)*n repeat; commas and spaces are ignored. For
// example, "Ettt|(tt|)*29,m|L" is 32 stages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/base/result.h"

namespace rankwright::plan {

/// One slice of the model.
struct Stage {
  i64 layers = 0;
  i64 mtp = 0;
  bool embedding = false;
  bool loss = false;

  friend bool operator==(const Stage&, const Stage&) = default;
};

using Stages = std::vector<Stage>;

/// The maximum number of stages in a layout: 128 pp ranks with 16 chunks each need 2,048.
inline constexpr i64 kMaxStages = 8192;

/// Splits the layers as evenly as possible. The remainder goes to the stages in the middle, because
/// the first stage also holds the embedding, and the last the output head and the MTP modules.
Stages split_evenly(i64 layers, i64 stages, i64 mtp);

/// Makes stages with the listed layers per stage; embedding first, MTP and loss last.
Stages make_listed_stages(const std::vector<i64>& layers, i64 mtp);

/// Parses the layout grammar; RW0915 names the character at which it fails.
Result<Stages> parse_layout(std::string_view text);

/// Formats stages in the layout grammar with repeats folded: "Ettt|(tt|)*29m|L".
std::string show_layout(const Stages&);

/// Formats the layers per stage: "10 11 11 10".
std::string show_layers(const Stages&);

/// Returns the decoder layers of all stages together.
i64 count_layers(const Stages&);

}  // namespace rankwright::plan
