#include "rankwright/runtime/corpus.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "rankwright/base/check.h"

namespace rankwright::runtime {
namespace {

constexpr i64 kBytes = 256;  // words that one byte can name
constexpr i64 kMaxWords = 65536;
constexpr i64 kMadeUp = 1 << 16;  // tokens

/// SplitMix64: the same numbers on every machine.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

tl::unexpected<Diagnostic> refused(std::string detail, std::string hint, const std::string& path) {
  return fail(Diagnostic{.code = "RW0706",
                         .severity = Severity::error,
                         .message = "the data cannot be trained on",
                         .detail = std::move(detail),
                         .hint = std::move(hint),
                         .where = {.file = path}});
}

}  // namespace

Result<Corpus> Corpus::read(const std::string& path, i64 vocabulary, i64 sequence,
                            std::uint64_t seed) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return refused("cannot be read", "--data FILE, or leave --data out", path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const i64 width = vocabulary > kBytes ? 2 : 1;
  Corpus made;
  made.seed_ = seed;
  made.tokens_.reserve(text.size() / std::size_t(width));
  for (std::size_t i = 0; i + std::size_t(width) <= text.size(); i += std::size_t(width)) {
    const unsigned low = std::uint8_t(text[i]);
    const unsigned high = width == 2 ? std::uint8_t(text[i + 1]) : 0;
    const unsigned token = low + 256 * high;
    if (i64(token) >= vocabulary)
      return refused(
          fmt::format("token {} at byte {} lies outside a vocabulary of {}", token, i, vocabulary),
          "one byte a token, or two little-endian ones for more than 256 words", path);
    made.tokens_.push_back(std::uint16_t(token));
  }
  if (i64(made.tokens_.size()) <= sequence)
    return refused(fmt::format("{} tokens are less than one sequence of {} and its target",
                               made.tokens_.size(), sequence),
                   "give more data, or a shorter job.sequence", path);
  return made;
}

Corpus Corpus::made_up(i64 vocabulary, std::uint64_t seed) {
  Corpus made;
  made.seed_ = seed;
  const std::uint64_t words = std::uint64_t(std::min(vocabulary, kMaxWords));
  std::uint64_t now = 0;
  for (i64 i = 0; i < kMadeUp; ++i) {
    const std::uint64_t chance = mixed(seed ^ mixed(std::uint64_t(i)));
    // Three times of four the word that always follows, else any.
    now = chance % 4 != 0 ? (now * 5 + 7) % words : (chance >> 8) % words;
    made.tokens_.push_back(std::uint16_t(now));
  }
  return made;
}

std::vector<std::int64_t> Corpus::sequence(i64 step, i64 index, i64 length) const {
  const std::uint64_t starts = std::uint64_t(std::max<i64>(1, i64(tokens_.size()) - length));
  const std::uint64_t at =
      mixed(seed_ ^ mixed(std::uint64_t(step)) ^ mixed(~std::uint64_t(index))) % starts;
  std::vector<std::int64_t> words;
  for (i64 i = 0; i <= length; ++i)
    words.push_back(tokens_[(std::size_t(at) + std::size_t(i)) % tokens_.size()]);
  return words;
}

}  // namespace rankwright::runtime
