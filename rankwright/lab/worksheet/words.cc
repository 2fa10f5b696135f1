#include "rankwright/lab/worksheet/words.h"

#include <algorithm>
#include <span>

#include "rankwright/base/format.h"
#include "rankwright/base/trim.h"
#include "rankwright/base/utf8.h"

namespace rankwright::lab {
namespace words_impl {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

/// Words after which a digit begins a new word: tp8, zero3.
constexpr std::string_view kPrefixes[] = {"tp",   "pp",   "dp",    "cp", "ep",  "sp",   "etp",
                                          "fsdp", "zero", "stage", "x",  "vpp", "iter", "ranks"};

constexpr std::string_view kDenials[] = {"not", "never", "no", "without", "instead", "rather"};

struct NumberWord {
  std::string_view word;
  i64 value;
};
constexpr NumberWord kNumberWords[] = {{"one", 1}, {"two", 2},   {"three", 3},   {"four", 4},
                                       {"six", 6}, {"eight", 8}, {"twelve", 12}, {"sixteen", 16}};

constexpr std::string_view kOpenWords[] = {"todo", "tbd", "fill in", "unknown"};
constexpr std::string_view kNoneWords[] = {
    "none",    "no",      "nothing",       "n a",        "na",      "not used", "unused",
    "no axis", "off",     "not split",     "not placed", "nowhere", "neither",  "no axes",
    "nil",     "no rank", "not replicated"};

struct AxisWords {
  bool AxisSet::*axis;
  std::string_view stems;
};
constexpr AxisWords kAxisWords[] = {
    {&AxisSet::tp, "tp |tensor|sp |sequence parallel"},
    {&AxisSet::pp, "pp |pipeline|stage|layer"},
    {&AxisSet::cp, "cp |context|ulysses|ring |by sequence|sequence dimension"},
    {&AxisSet::dp, "dp |data |fsdp|hsdp|zero |zero1|replica|shard|by batch|by sample"},
    {&AxisSet::ep, "ep |expert"},
};

/// Other names of links, by the name of the level.
struct LinkWords {
  std::string_view level, stems;
};
constexpr LinkWords kLinkWords[] = {
    {"nvlink", "nvlink|nv link|nvswitch|nv switch|nvl |nvl72"},
    {"infiniband", "infiniband|infini band|ib |ndr|hdr|rdma"},
    {"ethernet", "ethernet|roce|rdma"},
    {"efa", "efa |elastic fabric"},
    {"pcie", "pci"},
    {"memory", "memory|shared memory"},
};

// Phrases that name a level whether or not another one is named.
constexpr std::string_view kInnerPhrases =
    "intra node|intranode|intra host|within a node|within the node|within one node|within node|"
    "within each node|inside a node|inside the node|inside one node|inside node|inside each node|"
    "in a node|in the node|in node|in one node|in each node|same node|single node|node local|"
    "on node|on one node|within a server|inside a server|same server|same host|within a host|"
    "inside a host|same machine|within a machine|fastest|innermost|fast link|fast interconnect";
constexpr std::string_view kOuterPhrases =
    "inter node|internode|inter host|across node|across the node|between node|between the node|"
    "over node|multi node|multiple node|different node|other node|cross node|crosses node|"
    "cross the node|across server|across host|between host|between server|slowest|outermost|"
    "slow link|slower link|network|nic ";
// Words that name a level only if nothing else does: "inside infiniband" is not the innermost.
constexpr std::string_view kInnerWords = "inside|within|local|intra|node |fast";
constexpr std::string_view kOuterWords = "across|inter |nodes |slow";
constexpr std::string_view kAnyPhrases =
    "any|either|no preference|every link|all links|whichever|whatever|does not matter|do not "
    "matter|both";

/// Appends one character of the answer, as a letter, a digit or a blank.
void append(char c, std::string& out) {
  const bool digit = is_digit(c), letter = is_letter(c);
  if (!digit && !letter) {
    if (out.back() != ' ') out += ' ';
    return;
  }
  const char before = out.back();
  if (letter && is_digit(before)) out += ' ';
  if (digit && is_letter(before)) {
    const std::string_view word = std::string_view(out).substr(out.rfind(' ') + 1);
    if (std::find(std::begin(kPrefixes), std::end(kPrefixes), word) != std::end(kPrefixes))
      out += ' ';
  }
  out += c;
}

bool is_one_of(std::string_view normalized, std::span<const std::string_view> words) {
  const std::string_view inner = trim(normalized);
  return std::find(words.begin(), words.end(), inner) != words.end();
}

/// Returns whether every character is one of `allowed`, which are characters of UTF-8.
bool consists_of(std::string_view text, std::string_view allowed) {
  while (!text.empty()) {
    const std::size_t bytes = std::max<std::size_t>(decode_character(text).bytes, 1);
    if (allowed.find(text.substr(0, bytes)) == std::string_view::npos) return false;
    text.remove_prefix(std::min(bytes, text.size()));
  }
  return true;
}

template <class Use>
void for_each_word(std::string_view normalized, Use use) {
  while (!(normalized = trim(normalized)).empty()) {
    const std::size_t end = std::min(normalized.find(' '), normalized.size());
    use(normalized.substr(0, end));
    normalized.remove_prefix(end);
  }
}

}  // namespace
}  // namespace words_impl

std::string normalize_answer(std::string_view text) {
  const std::string small = lower(text);
  std::string out = " ";
  for (std::size_t k = 0; k < small.size(); ++k) {
    const bool thousands = small[k] == ',' && k > 0 && words_impl::is_digit(small[k - 1]) &&
                           k + 3 < small.size() && words_impl::is_digit(small[k + 1]) &&
                           words_impl::is_digit(small[k + 2]) && words_impl::is_digit(small[k + 3]);
    if (!thousands) words_impl::append(small[k], out);
  }
  if (out.back() != ' ') out += ' ';
  return out;
}

bool mentions(std::string_view normalized, std::string_view stems) {
  while (!stems.empty()) {
    const std::size_t end = std::min(stems.find('|'), stems.size());
    if (normalized.find(" " + std::string(stems.substr(0, end))) != std::string_view::npos)
      return true;
    stems.remove_prefix(std::min(end + 1, stems.size()));
  }
  return false;
}

std::string normalize_assertion(std::string_view text) {
  std::string kept = " ";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(",;.()"), text.size());
    bool denied = false;
    words_impl::for_each_word(normalize_answer(text.substr(0, end)), [&](std::string_view word) {
      denied = denied || std::find(std::begin(words_impl::kDenials), std::end(words_impl::kDenials),
                                   word) != std::end(words_impl::kDenials);
      if (!denied) kept += std::string(word) + " ";
    });
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return kept;
}

std::vector<i64> list_numbers(std::string_view normalized) {
  constexpr std::size_t kMaxDigits = 15;  // fits 64 bits
  std::vector<i64> numbers;
  words_impl::for_each_word(normalized, [&](std::string_view word) {
    for (const words_impl::NumberWord& row : words_impl::kNumberWords)
      if (row.word == word) numbers.push_back(row.value);
    if (!std::all_of(word.begin(), word.end(), words_impl::is_digit)) return;
    i64 value = 0;
    for (const char c : word.substr(0, kMaxDigits)) value = 10 * value + (c - '0');
    numbers.push_back(value);
  });
  return numbers;
}

std::size_t count_words(std::string_view normalized) {
  std::size_t words = 0;
  words_impl::for_each_word(normalized, [&](std::string_view) { ++words; });
  return words;
}

AnswerForm classify_answer(std::string_view text) {
  const std::string_view trimmed = trim(text);
  if (trimmed.empty() || words_impl::consists_of(trimmed, "?._… ")) return AnswerForm::open;
  if (words_impl::consists_of(trimmed, "-‐‑‒–—−")) return AnswerForm::dash;
  const std::string normalized = normalize_answer(trimmed);
  if (words_impl::is_one_of(normalized, words_impl::kOpenWords) || trim(normalized).empty())
    return AnswerForm::open;
  return words_impl::is_one_of(normalized, words_impl::kNoneWords) ? AnswerForm::none
                                                                   : AnswerForm::text;
}

AxisSet find_axes(std::string_view normalized) {
  AxisSet axes;
  for (const words_impl::AxisWords& row : words_impl::kAxisWords)
    axes.*row.axis = mentions(normalized, row.stems);
  // "sequence" alone is the dimension that context parallelism splits.
  if (!axes.tp && mentions(normalized, "sequence")) axes.cp = true;
  return axes;
}

bool LevelSet::beyond() const {
  return outer ||
         std::find(named.begin() + (named.empty() ? 0 : 1), named.end(), true) != named.end();
}

LevelSet find_levels(std::string_view normalized, const cluster::Cluster& cluster) {
  LevelSet found{.named = std::vector<bool>(cluster.levels.size(), false)};
  bool any_named = false;
  for (std::size_t k = 0; k < cluster.levels.size(); ++k) {
    const std::string name = normalize_answer(cluster.levels[k].name);
    bool named = name != " " && normalized.find(name) != std::string_view::npos;
    for (const words_impl::LinkWords& row : words_impl::kLinkWords)
      if (trim(name) == row.level) named = named || mentions(normalized, row.stems);
    found.named[k] = named;
    any_named = any_named || named;
  }
  const bool inner = mentions(normalized, words_impl::kInnerPhrases);
  found.outer = mentions(normalized, words_impl::kOuterPhrases) ||
                (!any_named && mentions(normalized, "across|between"));
  if (inner) found.named[0] = true;
  if (!any_named && !inner && !found.outer) {
    found.named[0] = mentions(normalized, words_impl::kInnerWords);
    found.outer = mentions(normalized, words_impl::kOuterWords);
  }
  found.any = mentions(normalized, words_impl::kAnyPhrases);
  return found;
}

}  // namespace rankwright::lab
