// The same job on several numbers of GPUs, one row each: what a step takes, how well it scales,
// what the whole training takes and costs. Text, Markdown and JSON (schema rankwright.counts/1).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankwright/report/paint.h"
#include "rankwright/report/training.h"
#include "rankwright/search/trade.h"

namespace rankwright {

struct CountsView {
  Problem problem;  // its world is the most GPUs
  std::vector<CountRow> rows{};
  TrainingAsk training{};
  bool stopped = false;

  /// The row that is written: the fewest GPUs that make the deadline, else the fastest. Nothing
  /// where nothing fits, or nothing makes it.
  std::optional<std::size_t> chosen() const;
};

std::string counts_text(const CountsView& view, const Paint& paint, std::size_t width);
std::string counts_markdown(const CountsView& view);
std::string counts_json(const CountsView& view);

}  // namespace rankwright
