#include "rankwright/import/cluster/host_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "rankwright/base/format.h"
#include "rankwright/base/integer.h"

namespace rankwright::importer {
namespace {

constexpr std::size_t kMaxDigits = 18;  // of a number that fits in 64 bits
constexpr std::string_view kDigits = "0123456789";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool in_name(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
         c == '.';
}

/// The numbers `first` to `last`, each with at least `width` digits.
struct HostRange {
  i64 first = 0, last = 0;
  std::size_t width = 1;

  i64 size() const { return last - first + 1; }
};

/// A part of a name: text, or the ranges of a bracket.
struct Part {
  std::string_view text{};
  std::vector<HostRange> ranges{};
};

class HostListParser {
 public:
  HostListParser(std::string_view text, std::size_t max) : text_(text), max_(max) {}

  Result<std::vector<std::string>> parse() {
    skip_space();
    for (;;) {
      const Result<std::vector<Part>> parts = read_name();
      if (!parts) return fail(parts.error());
      if (std::optional<Diagnostic> too_many = add(*parts)) return fail(std::move(*too_many));
      skip_space();
      if (at_ == text_.size()) return std::move(names_);
      if (text_[at_] != ',') return fail(here("expected ',' or '['"));
      ++at_;
      skip_space();
    }
  }

 private:
  Diagnostic here(std::string detail) const {
    const std::string_view rest = text_.substr(std::min(at_, text_.size()));
    if (!rest.empty()) detail += fmt::format(" at '{}'", make_excerpt(rest, 12));
    return {.code = "RW0620",
            .message = "invalid host list",
            .detail = std::move(detail),
            .hint = "write a list such as n[0-3,7],gpu-[001-128]",
            .where = {.column = int(at_) + 1}};
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  Result<std::vector<Part>> read_name() {
    std::vector<Part> parts;
    while (at_ < text_.size()) {
      const std::size_t begin = at_;
      while (at_ < text_.size() && in_name(text_[at_])) ++at_;
      if (at_ > begin) {
        parts.push_back({.text = text_.substr(begin, at_ - begin)});
      } else if (text_[at_] == '[') {
        Result<Part> bracket = read_bracket();
        if (!bracket) return fail(std::move(bracket.error()));
        parts.push_back(std::move(*bracket));
      } else {
        break;
      }
    }
    if (parts.empty()) return fail(here("expected a name"));
    return parts;
  }

  Result<Part> read_bracket() {
    Part part;
    do {
      ++at_;  // skip '[' or ','
      const std::optional<HostRange> range = read_range();
      if (!range) return fail(here("expected numbers such as 0-3 in the bracket"));
      part.ranges.push_back(*range);
    } while (at_ < text_.size() && text_[at_] == ',');
    if (at_ == text_.size() || text_[at_] != ']') return fail(here("expected ']'"));
    ++at_;
    return part;
  }

  std::optional<HostRange> read_range() {
    const std::size_t begin = at_;
    const std::optional<i64> first = read_number();
    if (!first) return std::nullopt;
    HostRange range{*first, *first, at_ - begin};
    if (at_ < text_.size() && text_[at_] == '-') {
      ++at_;
      const std::optional<i64> last = read_number();
      if (!last || *last < *first) return std::nullopt;
      range.last = *last;
    }
    return range;
  }

  std::optional<i64> read_number() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    if (at_ == begin || at_ - begin > kMaxDigits) return std::nullopt;
    i64 n = 0;
    std::from_chars(text_.data() + begin, text_.data() + at_, n);
    return n;
  }

  /// Adds the names of these parts. Checks their number and length before any is created.
  std::optional<Diagnostic> add(const std::vector<Part>& parts) {
    const auto too_many = [&] {
      return here(fmt::format("the list has more than {} hosts, the limit", count(i64(max_))));
    };
    i64 names = 1;
    std::size_t length = 0;
    for (const Part& part : parts) {
      i64 size = part.ranges.empty() ? 1 : 0;
      std::size_t longest = part.text.size();
      for (const HostRange& range : part.ranges) {
        if (range.size() > i64(max_)) return too_many();
        size += range.size();
        if (size > i64(max_)) return too_many();
        longest = std::max(longest, std::max(range.width, std::to_string(range.last).size()));
      }
      const std::optional<i64> more = product({names, size});
      if (!more || *more > i64(max_)) return too_many();
      names = *more;
      length += longest;
    }
    if (length > kLongestHostName)
      return here(fmt::format("a name has {} characters, more than {}", length, kLongestHostName));
    if (names_.size() + std::size_t(names) > max_) return too_many();
    bytes_ += length * std::size_t(names);
    if (bytes_ > kMaxHostText)
      return here(
          fmt::format("the names have more than {} characters in total", count(i64(kMaxHostText))));
    std::string name;
    expand(parts, 0, name);
    return std::nullopt;
  }

  /// Appends all names that begin with `name` and continue with the parts from `i` on. The last
  /// bracket varies fastest. The recursion is bounded: each part has at least one of the
  /// kLongestHostName characters of a name.
  void expand(const std::vector<Part>& parts, std::size_t i, std::string& name) {
    if (i == parts.size()) {
      names_.push_back(name);
      return;
    }
    const std::size_t length = name.size();
    if (parts[i].ranges.empty()) {
      name += parts[i].text;
      expand(parts, i + 1, name);
    }
    for (const HostRange& range : parts[i].ranges)
      for (i64 n = range.first; n <= range.last; ++n) {
        name.resize(length);
        const fmt::format_int digits(n);
        if (digits.size() < range.width) name.append(range.width - digits.size(), '0');
        name.append(digits.data(), digits.size());
        expand(parts, i + 1, name);
      }
    name.resize(length);
  }

  std::string_view text_;
  std::size_t max_;
  std::size_t at_ = 0;
  std::size_t bytes_ = 0;
  std::vector<std::string> names_{};
};

/// A name split around its last number; `digits` is empty if there is none.
struct SplitName {
  std::string_view before, digits, after;
};

SplitName split_name(std::string_view name) {
  const std::size_t last = name.find_last_of(kDigits);
  if (last == std::string_view::npos) return {name, {}, {}};
  const std::size_t before = name.find_last_not_of(kDigits, last);
  const std::size_t first = before == std::string_view::npos ? 0 : before + 1;
  const std::string_view digits = name.substr(first, last + 1 - first);
  if (digits.size() > kMaxDigits) return {name, {}, {}};
  return {name.substr(0, first), digits, name.substr(last + 1)};
}

i64 parse_digits(std::string_view digits) {
  i64 n = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), n);
  return n;
}

}  // namespace

Result<std::vector<std::string>> parse_host_list(std::string_view text, std::size_t max) {
  return HostListParser(text, max).parse();
}

std::string show_host_list(std::span<const std::string> names) {
  std::string list;
  for (std::size_t i = 0; i < names.size();) {
    const SplitName head = split_name(names[i]);
    std::string ranges;
    std::size_t end = i;
    while (end <
           names.size()) {  // one range per iteration, of names that differ only in their number
      const SplitName first = split_name(names[end]);
      // Slurm supports brackets only at the end of a name.
      if (first.digits.empty() || !first.after.empty() || first.before != head.before) break;
      const i64 begin = parse_digits(first.digits);
      i64 last = begin;
      for (++end; end < names.size(); ++end, ++last) {
        const SplitName next = split_name(names[end]);
        if (next.before != head.before || !next.after.empty() ||
            next.digits != fmt::format("{:0{}}", last + 1, first.digits.size()))
          break;
      }
      ranges += fmt::format("{}{}", ranges.empty() ? "" : ",", first.digits);
      if (last > begin) ranges += fmt::format("-{:0{}}", last, first.digits.size());
    }
    if (!list.empty()) list += ',';
    if (end <= i + 1) {
      list += names[i];
      end = i + 1;
    } else {
      list += fmt::format("{}[{}]", head.before, ranges);
    }
    i = end;
  }
  return list;
}

}  // namespace rankwright::importer
