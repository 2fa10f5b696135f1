#include "rankwright/plan/stages.h"

#include <fmt/format.h>

#include <numeric>

#include "rankwright/base/check.h"
#include "rankwright/base/format.h"

namespace rankwright::plan {
namespace {

/// A recursive-descent parser that expands a layout to a flat string of symbols. The number of
/// repeats is checked before they are expanded.
class LayoutParser {
 public:
  explicit LayoutParser(std::string_view text) : text_(text) {}

  Result<std::string> symbols() {
    Result<std::string> all = sequence(0);
    if (all && at_ < text_.size()) return fail_here("')' without a '('");
    return all;
  }

 private:
  static constexpr int kMaxDepth = 8;
  static constexpr std::size_t kMaxSymbols = 1 << 20;

  tl::unexpected<Diagnostic> fail_here(std::string_view what) const {
    return fail({.code = "RW0915",
                 .message = "invalid pipeline layout",
                 .detail = fmt::format("{} at character {} of '{}'", what, at_ + 1,
                                       make_excerpt(text_, 60)),
                 .hint = "for example Ettt|(tt|)*29m|L: E embedding, t layer, m MTP, L loss, | "
                         "ends a stage, x*n repeats",
                 .key = "parallelism.stages"});
  }

  Result<std::string> sequence(int depth) {
    std::string out;
    while (at_ < text_.size() && text_[at_] != ')') {
      const char c = text_[at_];
      if (c == ',' || c == ' ') {
        ++at_;
        continue;
      }
      Result<std::string> item = this->item(depth);
      if (!item) return item;
      const Result<i64> times = repeats();
      if (!times) return fail(times.error());
      if (item->size() * std::size_t(*times) + out.size() > kMaxSymbols)
        return fail_here("more than 1,048,576 symbols");
      // Skip empty items, so that "()*65536" takes no time.
      for (i64 i = 0; i < *times && !item->empty(); ++i) out += *item;
    }
    return out;
  }

  Result<std::string> item(int depth) {
    const char c = text_[at_];
    if (std::string_view("EtmL|").find(c) != std::string_view::npos) {
      ++at_;
      return std::string(1, c);
    }
    if (c != '(') return fail_here(fmt::format("'{}'", c >= ' ' && c < 127 ? c : '?'));
    if (depth == kMaxDepth) return fail_here("parentheses nested more than 8 levels deep");
    ++at_;
    Result<std::string> inner = sequence(depth + 1);
    if (!inner) return inner;
    if (at_ == text_.size()) return fail_here("no ')' for the '('");
    ++at_;
    return inner;
  }

  Result<i64> repeats() {
    if (at_ == text_.size() || text_[at_] != '*') return 1;
    ++at_;
    i64 n = 0;
    const std::size_t first = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      n = n * 10 + (text_[at_++] - '0');
      if (n > kMaxStages)
        return fail_here(fmt::format("a repeat of more than {}", count(kMaxStages)));
    }
    if (at_ == first || n == 0) return fail_here("no number after '*'");
    return n;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Formats one stage in the grammar, with long runs of layers as t*n.
std::string show_stage(const Stage& stage) {
  std::string text = stage.embedding ? "E" : "";
  i64 layers = stage.layers;
  for (; layers > kMaxStages; layers -= kMaxStages) text += fmt::format("t*{}", kMaxStages);
  text += layers > 4 ? fmt::format("t*{}", layers) : std::string(std::size_t(layers), 't');
  text += std::string(std::size_t(stage.mtp), 'm');
  if (stage.loss) text += "L";
  return text;
}

}  // namespace

Stages split_evenly(i64 layers, i64 stages, i64 mtp) {
  RW_CHECK(layers >= 0 && stages >= 1);
  Stages split(std::size_t(stages), Stage{.layers = layers / stages});
  const i64 left = layers % stages;
  const i64 first = (stages - left) / 2;
  for (i64 i = 0; i < left; ++i) ++split[std::size_t(first + i)].layers;
  split.front().embedding = true;
  split.back().loss = true;
  split.back().mtp = mtp;
  return split;
}

Stages make_listed_stages(const std::vector<i64>& layers, i64 mtp) {
  RW_CHECK(!layers.empty());
  Stages split;
  for (const i64 n : layers) split.push_back({.layers = n});
  split.front().embedding = true;
  split.back().loss = true;
  split.back().mtp = mtp;
  return split;
}

Result<Stages> parse_layout(std::string_view text) {
  const Result<std::string> symbols = LayoutParser(text).symbols();
  if (!symbols) return fail(symbols.error());
  const auto fail_here = [](std::string detail) {
    return fail({.code = "RW0915",
                 .message = "invalid pipeline layout",
                 .detail = std::move(detail),
                 .key = "parallelism.stages"});
  };
  Stages stages(1);
  bool loss = false;
  for (const char c : *symbols) {
    Stage& stage = stages.back();
    if (stage.loss && c != '|') return fail_here("the loss (L) is not last");
    if (c == 'E') {
      if (stages.size() > 1 || stage != Stage{}) return fail_here("the embedding (E) is not first");
      stage.embedding = true;
    }
    if (c == 't') ++stage.layers;
    if (c == 'm') ++stage.mtp;
    if (c == 'L') {
      if (loss) return fail_here("the loss (L) appears twice");
      loss = stage.loss = true;
    }
    if (c == '|') {
      if (i64(stages.size()) == kMaxStages)
        return fail_here(fmt::format("more than {} stages", count(kMaxStages)));
      stages.emplace_back();
    }
  }
  // A trailing '|', as in "E t|t L|", does not start another stage.
  if (stages.size() > 1 && stages.back() == Stage{} && stages[stages.size() - 2].loss)
    stages.pop_back();
  if (!stages.front().embedding) return fail_here("missing embedding (E) in the first stage");
  if (!stages.back().loss) return fail_here("missing loss (L) in the last stage");
  return stages;
}

std::string show_layout(const Stages& stages) {
  std::string text;
  for (std::size_t i = 0; i < stages.size();) {
    std::size_t same = 1;
    while (i + same < stages.size() && stages[i + same] == stages[i]) ++same;
    const std::string one = show_stage(stages[i]);
    const bool last = i + same == stages.size();
    if (same > 2 && !last) {
      text += fmt::format("({}|)*{}", one, same);
    } else {
      for (std::size_t k = 0; k < same; ++k) text += one + (last && k + 1 == same ? "" : "|");
    }
    i += same;
  }
  return text;
}

std::string show_layers(const Stages& stages) {
  std::string text;
  for (const Stage& stage : stages)
    text += (text.empty() ? "" : " ") + std::to_string(stage.layers);
  return text;
}

i64 count_layers(const Stages& stages) {
  return std::accumulate(stages.begin(), stages.end(), i64{0},
                         [](i64 sum, const Stage& stage) { return sum + stage.layers; });
}

}  // namespace rankwright::plan
