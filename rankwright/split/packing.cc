#include "rankwright/split/packing.h"

#include <algorithm>
#include <optional>

namespace rankwright::split {
namespace {

using Verdict = Probe::Verdict;

/// Maximum number of entries of the table kept for backtracking: bins x combinations of the
/// enumerated kinds.
constexpr i64 kMaxPackingEntries = i64{1} << 21;
/// A step is some nanoseconds; these operations take longer.
constexpr i64 kStepsOfQuestion = 32;
constexpr i64 kStepsOfSum = 4;

/// One choice for a bin: counts of the enumerated kinds, and the maximum of the last kind that fits
/// beside them.
struct Choice {
  std::vector<i64> others{};
  i64 key = 0;  // the others as one mixed-radix number: keys add up as counts do
  i64 last = 0;
};

class Packer {
 public:
  Packer(const Packing& packing, Steps& steps)
      : packing_(packing), steps_(steps), kinds_(packing.demand.size() - 1) {
    for (std::size_t k = 0; k <= kinds_; ++k) all_ += packing.weight[k] * packing.demand[k];
  }

  Packed solve() {
    const std::size_t bins = packing_.room.size();
    if (!allocate()) return {Verdict::unknown};
    // Twice the required weight is as good as more, and cannot overflow.
    for (std::size_t b = bins; b-- > 0;) behind_[b] = std::min(2 * all_, behind_[b + 1] + room(b));
    if (behind_[0] < all_) return {Verdict::no};
    for (std::size_t b = 0; b < bins; ++b) choices_.push_back(choices(b));
    if (steps_.out()) return {Verdict::unknown};
    if (!enough_alone()) return {Verdict::no};
    best_.assign(1, std::vector<i64>(std::size_t(keys_), -1));
    best_[0][0] = 0;
    live_ = {0};
    for (std::size_t b = 0; b < bins; ++b) {
      add(b);
      if (steps_.out()) return {Verdict::unknown};
    }
    if (best_.back().back() < packing_.demand.back()) return {Verdict::no};
    return {Verdict::yes, walk_back()};
  }

 private:
  /// Returns false if the tables would be too large.
  bool allocate() {
    for (std::size_t k = 0; k < kinds_; ++k) {
      stride_.push_back(keys_);
      const std::optional<i64> keys = product({keys_, packing_.demand[k] + 1});
      if (!keys || *keys > kMaxPackingEntries) return false;
      keys_ = *keys;
    }
    behind_.assign(packing_.room.size() + 1, 0);
    return keys_ <= kMaxPackingEntries / i64(behind_.size());
  }

  i64 room(std::size_t bin) const { return std::min(all_, packing_.room[bin]); }

  /// Enumerates the choices of a bin like an odometer; if a count does not fit, no greater one
  /// does. Omits choices that leave more weight unused than all bins together may.
  std::vector<Choice> choices(std::size_t bin) {
    if (packing_.like[bin] < i64(bin)) return choices_[std::size_t(packing_.like[bin])];
    const i64 spare = behind_[0] - all_;
    std::vector<Choice> found;
    Choice choice{.others = std::vector<i64>(kinds_)};
    while (steps_.take(kStepsOfQuestion)) {
      choice.last = packing_.max(i64(bin), choice.others);
      i64 unused = room(bin) - packing_.weight.back() * choice.last;
      for (std::size_t k = 0; k < kinds_; ++k) unused -= packing_.weight[k] * choice.others[k];
      if (choice.last >= 0 && unused <= spare) found.push_back(choice);
      std::size_t k = 0;
      // After a failure, the first kind with a nonzero count is too large: reset it and advance the
      // next kind.
      for (bool failed = choice.last < 0; k < kinds_; ++k) {
        i64& count = choice.others[k];
        if (failed && count == 0) continue;
        if (!failed && count < packing_.demand[k]) break;
        choice.key -= count * stride_[k];
        count = 0;
        failed = false;
      }
      if (k == kinds_) break;
      ++choice.others[k];
      choice.key += stride_[k];
    }
    return found;
  }

  /// Returns whether the bins could take all items of each kind, if there were only that kind.
  bool enough_alone() const {
    for (std::size_t k = 0; k <= kinds_; ++k) {
      i64 sum = 0;
      for (const std::vector<Choice>& of_bin : choices_) {
        i64 max = -1;
        for (const Choice& choice : of_bin)
          max = std::max(max, k == kinds_ ? choice.last : choice.others[k]);
        if (max < 0) return false;
        sum += max;
      }
      if (sum < packing_.demand[k]) return false;
    }
    return true;
  }

  /// Decodes the counts of the other kinds from their key.
  void unfold(i64 key, std::vector<i64>& others) const {
    for (std::size_t k = kinds_; k-- > 0; key %= stride_[k]) others[k] = key / stride_[k];
  }

  bool adds(const std::vector<i64>& others, const std::vector<i64>& more) const {
    for (std::size_t k = 0; k < kinds_; ++k)
      if (others[k] + more[k] > packing_.demand[k]) return false;
    return true;
  }

  void add(std::size_t bin) {
    if (!steps_.take(keys_ / 2)) return;
    best_.emplace_back(std::size_t(keys_), -1);
    const std::vector<i64>& before = best_[bin];
    std::vector<i64>& after = best_[bin + 1];
    std::vector<i64> live, others(kinds_);
    for (const i64 key : live_) {
      const i64 last = before[std::size_t(key)];
      unfold(key, others);
      i64 left = packing_.weight.back() * (packing_.demand.back() - last);
      for (std::size_t k = 0; k < kinds_; ++k)
        left += packing_.weight[k] * (packing_.demand[k] - others[k]);
      if (left > behind_[bin]) continue;
      if (!steps_.take(kStepsOfSum * i64(choices_[bin].size()))) return;
      for (const Choice& choice : choices_[bin]) {
        if (!adds(others, choice.others)) continue;
        i64& max = after[std::size_t(key + choice.key)];
        if (max < 0) live.push_back(key + choice.key);
        max = std::max(max, std::min(packing_.demand.back(), last + choice.last));
      }
    }
    live_ = std::move(live);
  }

  std::vector<std::vector<i64>> walk_back() const {
    std::vector<std::vector<i64>> taken(choices_.size());
    std::vector<i64> others(kinds_);
    i64 key = keys_ - 1;
    for (std::size_t bin = choices_.size(); bin-- > 0;) {
      const i64 want = best_[bin + 1][std::size_t(key)];
      for (const Choice& choice : choices_[bin]) {
        if (choice.key > key) continue;
        const i64 from = key - choice.key;
        const i64 last = best_[bin][std::size_t(from)];
        unfold(from, others);
        if (last < 0 || !adds(others, choice.others)) continue;
        if (std::min(packing_.demand.back(), last + choice.last) < want) continue;
        taken[bin] = choice.others;
        taken[bin].push_back(choice.last);
        key = from;
        break;
      }
    }
    return taken;
  }

  const Packing& packing_;
  Steps& steps_;
  const std::size_t kinds_;  // number of enumerated kinds
  i64 all_ = 0;              // weight of all items
  i64 keys_ = 1;
  std::vector<i64> stride_{};  // by kind: how much one more item adds to a key
  std::vector<i64> behind_{};  // by bin: maximum weight that it and the later bins take
  std::vector<std::vector<Choice>> choices_{};  // by bin
  // By number of bins filled and key: maximum of the last kind, or -1.
  std::vector<std::vector<i64>> best_{};
  std::vector<i64> live_{};  // keys reachable with the bins so far
};

}  // namespace

Packed pack(const Packing& packing, Steps& steps) { return Packer(packing, steps).solve(); }

}  // namespace rankwright::split
