#include "rankwright/program/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include "rankwright/base/format.h"
#include "rankwright/base/trim.h"
#include "rankwright/plan/stages.h"

namespace rankwright::program {
namespace {

/// By ActionKind. Steps belong to a plan and are not read from text.
constexpr std::string_view kNames[] = {"F",      "B",      "I",      "W",   "SEND_F",
                                       "RECV_F", "SEND_B", "RECV_B", "STEP"};
constexpr std::size_t kReadable = 8;

/// Actions that torch writes for FSDP. They move nothing between pp ranks.
constexpr std::string_view kIgnored[] = {"UNSHARD", "RESHARD", "REDUCE_GRAD"};

constexpr std::string_view kOverlap = "OVERLAP_F_B";
constexpr i64 kMaxMicrobatches = i64{1} << 28;
constexpr std::size_t kMaxFaults = 8;

/// Reads and removes the digits at the start of `text`; returns nullopt if there are none or the
/// number is too large.
std::optional<i64> take_number(std::string_view& text) {
  i64 n = 0;
  const std::from_chars_result end = std::from_chars(text.data(), text.data() + text.size(), n);
  if (end.ec != std::errc{} || n < 0 || text.front() == '-') return std::nullopt;
  text.remove_prefix(std::size_t(end.ptr - text.data()));
  return n;
}

/// The parts of "2F0". Torch's FSDP actions have no microbatch.
struct CellParts {
  i64 stage = 0;
  std::string_view kind{};
  std::optional<i64> microbatch{};

  /// Returns the index of the kind in kNames (its ActionKind), or kReadable if it is unknown.
  std::size_t kind_index() const {
    return std::size_t(std::find(kNames, kNames + kReadable, kind) - kNames);
  }
  bool fits() const {
    return stage < plan::kMaxStages && microbatch.value_or(0) < kMaxMicrobatches;
  }
};

std::optional<CellParts> split_cell(std::string_view text) {
  const std::optional<i64> stage = take_number(text);
  if (!stage) return std::nullopt;
  const std::size_t letters = std::min(text.find_first_of("0123456789"), text.size());
  CellParts parts{.stage = *stage, .kind = text.substr(0, letters)};
  text.remove_prefix(letters);
  if (text.empty()) return parts;
  parts.microbatch = take_number(text);
  if (!parts.microbatch || !text.empty()) return std::nullopt;
  return parts;
}

class CellReader {
 public:
  CellReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  Result<WrittenSchedule> run() {
    for (int line = 1; !text_.empty(); ++line) {
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      if (std::optional<Diagnostic> wrong = read_line(text_.substr(0, end), line))
        return fail(std::move(*wrong));
      text_.remove_prefix(std::min(end + 1, text_.size()));
    }
    const auto empty = [](const pipeline::Sequence& rank) { return rank.empty(); };
    if (std::all_of(out_.ranks.begin(), out_.ranks.end(), empty))
      return fail(wrong({.file = std::string(file_)}, "it has no actions"));
    out_.file = file_;
    return std::move(out_);
  }

 private:
  Diagnostic wrong(Location where, std::string detail) const {
    return {
        .code = "RW0916",
        .message = "invalid schedule file",
        .detail = std::move(detail),
        .hint = "one line per PP rank, for example 0F0,0F1,0B0,0B1: stage, F B I or W, micro-batch",
        .where = std::move(where)};
  }

  std::optional<Diagnostic> read_line(std::string_view line, int number) {
    if (trim(line).empty() || trim(line).front() == '#') return std::nullopt;
    const Location start{std::string(file_), number, 1, 1};
    if (i64(out_.ranks.size()) == kMaxPpRanks)
      return wrong(start, fmt::format("more than {} lines", count(kMaxPpRanks)));
    out_.ranks.emplace_back();
    out_.places.emplace_back();
    for (std::size_t at = 0; at <= line.size();) {
      const std::size_t end = std::min(line.find(',', at), line.size());
      const std::string_view cell = trim(line.substr(at, end - at));
      if (!cell.empty()) {
        Location where = start;
        where.column = int(cell.data() - line.data()) + 1;
        where.width = int(cell.size());
        if (std::optional<Diagnostic> fault = read_cell(cell, where)) return fault;
      }
      at = end + 1;
    }
    return std::nullopt;
  }

  std::optional<Diagnostic> read_cell(std::string_view cell, const Location& where) {
    if (cell.front() != '(') return read_one(cell, where);
    const std::size_t close = cell.find(')');
    if (close == std::string_view::npos)
      return wrong(where, fmt::format("no ')' in '{}'", make_excerpt(cell, 40)));
    const std::size_t first = out_.ranks.back().size();
    std::string_view inside = cell.substr(1, close - 1);
    while (!inside.empty()) {
      const std::size_t end = std::min(inside.find(';'), inside.size());
      if (std::optional<Diagnostic> fault = read_one(trim(inside.substr(0, end)), where))
        return fault;
      inside.remove_prefix(std::min(end + 1, inside.size()));
    }
    return join(first, trim(cell.substr(close + 1)), cell, where);
  }

  /// Joins the actions from `first` on: a forward and a backward that run as one (`word` is
  /// OVERLAP_F_B), or transfers posted together (`word` is empty).
  std::optional<Diagnostic> join(std::size_t first, std::string_view word, std::string_view cell,
                                 const Location& where) {
    pipeline::Sequence& rank = out_.ranks.back();
    const auto count = [&](bool (*of)(pipeline::ActionKind)) {
      return std::size_t(std::count_if(rank.begin() + std::ptrdiff_t(first), rank.end(),
                                       [&](const pipeline::Action& a) { return of(a.kind); }));
    };
    const auto is_forward = [](pipeline::ActionKind kind) {
      return kind == pipeline::ActionKind::forward;
    };
    const std::size_t all = rank.size() - first;
    const bool pair = all == 2 && count(is_forward) == 1 && count(pipeline::gives_gradient) == 1;
    const bool batch = all > 0 && count(pipeline::is_transfer) == all;
    if (!(word.empty() ? batch : word == kOverlap && pair))
      return wrong(where, fmt::format("'{}' is neither (F;B)OVERLAP_F_B nor (SEND;RECV)",
                                      make_excerpt(cell, 40)));
    for (std::size_t i = first; i + 1 < rank.size(); ++i) rank[i].joined = 1;
    return std::nullopt;
  }

  std::optional<Diagnostic> read_one(std::string_view cell, const Location& where) {
    const std::optional<CellParts> parts = split_cell(cell);
    if (parts && !parts->microbatch &&
        std::find(std::begin(kIgnored), std::end(kIgnored), parts->kind) != std::end(kIgnored))
      return std::nullopt;
    if (!parts || !parts->microbatch || parts->kind_index() == kReadable)
      return wrong(where, fmt::format("'{}' is not an action", make_excerpt(cell, 40)));
    if (!parts->fits())
      return wrong(where, fmt::format("'{}': stages go up to {}, micro-batches up to {}",
                                      make_excerpt(cell, 40), count(plan::kMaxStages - 1),
                                      count(kMaxMicrobatches - 1)));
    const pipeline::Action read =
        action(pipeline::ActionKind(parts->kind_index()), parts->stage, *parts->microbatch);
    out_.transfers = out_.transfers || is_transfer(read.kind);
    out_.ranks.back().push_back(read);
    out_.places.back().push_back({where.line, where.column, where.width});
    return std::nullopt;
  }

  std::string_view text_;
  std::string_view file_;
  WrittenSchedule out_{};
};

/// A cell and its position; sorted by stage, microbatch and kind.
struct Placed {
  pipeline::Action cell;
  i64 pp_rank;
  i64 position;
};

/// Checks a set of cells for completeness.
class Inspector {
 public:
  explicit Inspector(const pipeline::Sequences& ranks) {
    for (std::size_t r = 0; r < ranks.size(); ++r)
      for (std::size_t i = 0; i < ranks[r].size(); ++i) {
        const pipeline::Action& a = ranks[r][i];
        set_.stages = std::max(set_.stages, i64(a.stage) + 1);
        set_.microbatches = std::max(set_.microbatches, i64(a.microbatch) + 1);
        if (is_cell(a.kind)) placed_.push_back({a, i64(r), i64(i)});
      }
    std::stable_sort(placed_.begin(), placed_.end(), [](const Placed& a, const Placed& b) {
      if (a.cell.stage != b.cell.stage) return a.cell.stage < b.cell.stage;
      if (a.cell.microbatch != b.cell.microbatch) return a.cell.microbatch < b.cell.microbatch;
      return a.cell.kind < b.cell.kind;
    });
  }

  CellSet run() {
    std::size_t at = 0;
    // Compares the expected cells with the sorted cells. It stops after kMaxFaults, so a large gap
    // costs nothing.
    for (i64 s = 0; s < set_.stages; ++s)
      for (i64 m = 0; m < set_.microbatches; ++m) {
        if (set_.faults.size() >= kMaxFaults) return std::move(set_);
        const std::size_t first = at;
        while (at < placed_.size() && i64(placed_[at].cell.stage) == s &&
               i64(placed_[at].cell.microbatch) == m)
          ++at;
        check(s, m, first, at);
      }
    return std::move(set_);
  }

 private:
  using Why = CellFault::Why;

  void fault(Why why, const Placed& p) {
    set_.faults.push_back({why, p.cell, p.pp_rank, p.position});
  }

  /// Checks the cells [first, end) of one stage and microbatch.
  void check(i64 s, i64 m, std::size_t first, std::size_t end) {
    bool seen[4] = {false, false, false, false};
    for (std::size_t i = first; i < end; ++i) {
      const Placed& p = placed_[i];
      if (seen[std::size_t(p.cell.kind)])
        fault(Why::twice, p);
      else if (p.pp_rank != placed_[first].pp_rank)
        fault(Why::elsewhere, p);
      else if (p.cell.kind >= pipeline::ActionKind::input_grad && seen[1])
        fault(Why::mixed, p);
      seen[std::size_t(p.cell.kind)] = true;
    }
    const auto want = [&](pipeline::ActionKind kind) {
      if (!seen[std::size_t(kind)]) set_.faults.push_back({Why::missing, action(kind, s, m)});
    };
    want(pipeline::ActionKind::forward);
    if (seen[1]) return;
    const bool split = seen[2] || seen[3];
    want(split ? pipeline::ActionKind::input_grad : pipeline::ActionKind::backward);
    if (split) want(pipeline::ActionKind::weight_grad);
  }

  std::vector<Placed> placed_{};
  CellSet set_{};
};

}  // namespace

std::string show(const pipeline::Action& a) {
  return fmt::format("{}{}{}", a.stage, kNames[std::size_t(a.kind)], a.microbatch);
}

std::optional<pipeline::Action> parse_cell(std::string_view text) {
  const std::optional<CellParts> parts = split_cell(text);
  if (!parts || !parts->microbatch || parts->kind_index() == kReadable || !parts->fits())
    return std::nullopt;
  const pipeline::Action read =
      action(pipeline::ActionKind(parts->kind_index()), parts->stage, *parts->microbatch);
  return is_cell(read.kind) ? std::optional(read) : std::nullopt;
}

Location WrittenSchedule::where(i64 pp_rank, i64 position) const {
  const auto [line, column, width] = places[std::size_t(pp_rank)][std::size_t(position)];
  return {file, line, column, width};
}

std::string show_cells(const pipeline::Sequences& ranks) {
  std::string text;
  for (const pipeline::Sequence& rank : ranks) {
    std::string line;
    bool inside = false;
    for (const pipeline::Action& a : rank) {
      if (!is_cell(a.kind)) continue;
      const bool opens = !inside && a.joined != 0;
      if (!line.empty()) line += inside ? ";" : ",";
      line += (opens ? "(" : "") + show(a);
      if (inside && a.joined == 0) line += fmt::format("){}", kOverlap);
      inside = a.joined != 0;
    }
    // A blank line would be skipped by the reader, so a rank without cells is a comma.
    text += (line.empty() ? "," : line) + "\n";
  }
  return text;
}

pipeline::Sequences only_cells(const pipeline::Sequences& ranks) {
  pipeline::Sequences out;
  for (const pipeline::Sequence& rank : ranks) {
    out.emplace_back();
    std::copy_if(rank.begin(), rank.end(), std::back_inserter(out.back()),
                 [](const pipeline::Action& a) { return is_cell(a.kind); });
  }
  return out;
}

Result<WrittenSchedule> parse_cells(std::string_view text, std::string_view file) {
  return CellReader(text, file).run();
}

CellSet inspect_cells(const pipeline::Sequences& ranks) { return Inspector(ranks).run(); }

}  // namespace rankwright::program
