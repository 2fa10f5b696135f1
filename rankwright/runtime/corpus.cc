#include "rankwright/runtime/corpus.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace rankwright::runtime {
namespace {

constexpr i64 kBytes = 256;  // tokens that one byte can encode
constexpr i64 kMaxWords = 65536;
constexpr i64 kNumSynthetic = 1 << 16;  // synthetic tokens

/// Hashes with SplitMix64: gives the same numbers on every machine.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

tl::unexpected<Diagnostic> refused(std::string detail, std::string hint, const std::string& path) {
  return fail(Diagnostic{.code = "RW0706",
                         .severity = Severity::error,
                         .message = "unusable training data",
                         .detail = std::move(detail),
                         .hint = std::move(hint),
                         .where = {.file = path}});
}

/// Returns the kind of a file that is not a regular one.
std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

i64 width_of(i64 vocabulary) { return vocabulary > kBytes ? 2 : 1; }

constexpr char kTokensHint[] =
    "one byte per token, or two little-endian bytes if the vocabulary exceeds 256";

}  // namespace

/// A file opened for reading.
class Corpus::File {
 public:
  File(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  ~File() { close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }

  /// Reads `size` bytes from byte `offset` on; fewer if the file ends or cannot be read.
  std::string bytes(i64 offset, i64 size) const {
    std::string all(std::size_t(size), '\0');
    std::size_t got = 0;
    while (got < all.size()) {
      const ssize_t more =
          pread(descriptor_, all.data() + got, all.size() - got, off_t(offset + i64(got)));
      if (more < 0 && errno == EINTR) continue;
      if (more <= 0) break;
      got += std::size_t(more);
    }
    all.resize(got);
    return all;
  }

 private:
  int descriptor_;
  std::string path_;
};

Result<Corpus> Corpus::open(const std::string& path, i64 vocabulary, i64 sequence,
                            std::uint64_t seed) {
  constexpr char kHint[] = "--data FILE, or leave --data out";
  // A pipe that nobody writes to would block without O_NONBLOCK, which regular files ignore.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0)
    return refused(fmt::format("cannot be read: {}", std::strerror(errno)), kHint, path);
  Corpus made;
  made.file_ = std::make_shared<File>(descriptor, path);
  struct stat found {};
  if (fstat(descriptor, &found) != 0)
    return refused(fmt::format("cannot be read: {}", std::strerror(errno)), kHint, path);
  if (!S_ISREG(found.st_mode))
    return refused(fmt::format("is {}, not a regular file", kind_of(found.st_mode)),
                   "write the tokens to a file and name it: --data FILE", path);
  const i64 width = width_of(vocabulary), bytes = i64(found.st_size);
  if (bytes % width != 0)
    return refused(fmt::format("{} bytes are not a whole number of tokens: a vocabulary of {} "
                               "takes {} bytes per token",
                               bytes, vocabulary, width),
                   kTokensHint, path);
  made.size_ = bytes / width;
  made.vocabulary_ = vocabulary;
  made.seed_ = seed;
  if (made.size_ <= sequence)
    return refused(
        fmt::format("{} tokens are fewer than one sequence of {} plus one", made.size_, sequence),
        "use more data, or a shorter job.sequence", path);
  return made;
}

Corpus Corpus::synthetic(i64 vocabulary, std::uint64_t seed) {
  Corpus made;
  made.seed_ = seed;
  const std::uint64_t words = std::uint64_t(std::min(vocabulary, kMaxWords));
  std::uint64_t now = 0;
  for (i64 i = 0; i < kNumSynthetic; ++i) {
    const std::uint64_t chance = mix(seed ^ mix(std::uint64_t(i)));
    // With probability 3/4 the fixed successor of the last token, else any token.
    now = chance % 4 != 0 ? (now * 5 + 7) % words : (chance >> 8) % words;
    made.tokens_.push_back(std::uint16_t(now));
  }
  made.size_ = kNumSynthetic;
  made.vocabulary_ = vocabulary;
  return made;
}

Result<std::vector<std::int64_t>> Corpus::read(i64 first, i64 count) const {
  const i64 width = width_of(vocabulary_), begin = first * width;
  const std::string bytes = file_->bytes(begin, count * width);
  if (i64(bytes.size()) < count * width)
    return refused(fmt::format("byte {} cannot be read; there were {} bytes when the run began",
                               begin + i64(bytes.size()), size_ * width),
                   "do not change the file during a run", file_->path());
  std::vector<std::int64_t> words;
  words.reserve(std::size_t(count));
  for (std::size_t i = 0; i < bytes.size(); i += std::size_t(width)) {
    const i64 high = width == 2 ? i64(std::uint8_t(bytes[i + 1])) : 0;
    const i64 token = i64(std::uint8_t(bytes[i])) + kBytes * high;
    if (token >= vocabulary_)
      return refused(fmt::format("token {} at byte {} is outside a vocabulary of {}", token,
                                 begin + i64(i), vocabulary_),
                     kTokensHint, file_->path());
    words.push_back(token);
  }
  return words;
}

Result<std::vector<std::int64_t>> Corpus::sequence(i64 step, i64 index, i64 length) const {
  const std::uint64_t starts = std::uint64_t(std::max<i64>(1, size_ - length));
  const std::uint64_t at =
      mix(seed_ ^ mix(std::uint64_t(step)) ^ mix(~std::uint64_t(index))) % starts;
  if (file_) return read(i64(at), length + 1);
  std::vector<std::int64_t> words;
  for (i64 i = 0; i <= length; ++i)
    words.push_back(tokens_[(std::size_t(at) + std::size_t(i)) % tokens_.size()]);
  return words;
}

}  // namespace rankwright::runtime
