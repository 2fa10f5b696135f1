#include "rankwright/split/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace rankwright::split {

std::optional<std::vector<i64>> compute_titan_layers(i64 layers, i64 stages, i64 first_less,
                                                     i64 last_less) {
  if (layers < 0 || stages < 1 || first_less < 0 || last_less < 0) return std::nullopt;
  if (stages == 1) return std::vector<i64>{layers};
  const i64 counted = layers + first_less + last_less;
  const i64 each = counted / stages, extra = counted % stages;
  if (each == 0 || first_less > each || last_less > each) return std::nullopt;
  std::vector<i64> by_stage;
  for (i64 s = 0; s < stages; ++s) by_stage.push_back(each + (s < extra ? 1 : 0));
  by_stage.front() -= first_less;
  by_stage.back() -= last_less;
  return by_stage;
}

std::optional<TitanSplit> find_titan_split(const plan::Stages& stages) {
  std::vector<i64> wanted;
  for (const plan::Stage& stage : stages) {
    if (stage.mtp > 0) return std::nullopt;
    wanted.push_back(stage.layers);
  }
  const i64 count = i64(stages.size()), layers = count_layers(stages);
  const auto cuts_so = [&](i64 first_less, i64 last_less) {
    return compute_titan_layers(layers, count, first_less, last_less) == wanted;
  };
  const auto settings = [&](i64 first_less, i64 last_less) {
    // The smallest layers_per_stage that does not yield more stages.
    const i64 counted = layers + first_less + last_less;
    const i64 each = std::max<i64>(1, ceil_div(counted, count));
    TitanSplit split{first_less, last_less};
    if (ceil_div(counted, each) == count) split.layers_per_stage = each;
    return split;
  };
  if (cuts_so(1, 1)) return settings(1, 1);
  // A middle stage has the base number of layers per stage, or one more. With two stages there is
  // no middle, and the smallest settings suffice.
  const i64 low = count > 2 ? wanted[1] - 1 : 1;
  const i64 high = count > 2 ? wanted[1] : *std::max_element(wanted.begin(), wanted.end()) + 1;
  for (i64 each = std::max<i64>(low, 1); each <= high; ++each)
    for (const i64 one_more : {0, 1}) {
      const i64 first_less = each + one_more - wanted.front(), last_less = each - wanted.back();
      if (cuts_so(first_less, last_less)) return settings(first_less, last_less);
    }
  return std::nullopt;
}

std::string show(const TitanSplit& split) {
  std::string text = fmt::format(
      "pipeline_parallel_first_stage_less_layers = {}\n"
      "pipeline_parallel_last_stage_less_layers = {}\n",
      split.first_less, split.last_less);
  if (split.layers_per_stage)
    text += fmt::format("pipeline_parallel_layers_per_stage = {}\n", *split.layers_per_stage);
  return text;
}

}  // namespace rankwright::split
