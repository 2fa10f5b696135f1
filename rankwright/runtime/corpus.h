// A Corpus is the training data: a list of tokens from which each step takes sequences. The seed,
// the step and the index in the batch alone determine a sequence, so every layout trains on the
// same batch. Only the requested windows of a file are read. It knows nothing of ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/base/result.h"

namespace rankwright::runtime {

class Corpus {
 public:
  /// Opens a file of tokens: 1 byte per token, or 2 (little-endian) for vocabularies beyond 256.
  /// Returns an error if it is not a regular file, is shorter than one sequence and its target, or
  /// ends within a token. Does not read any token yet.
  static Result<Corpus> open(const std::string& path, i64 vocabulary, i64 sequence,
                             std::uint64_t seed);
  /// Returns synthetic tokens that a model can learn: in most cases a token is determined by the
  /// one before it.
  static Corpus synthetic(i64 vocabulary, std::uint64_t seed);

  /// Returns `length` + 1 tokens: the inputs are the first `length`, the targets the last `length`.
  /// `index` is the position in the global batch. Returns an error if the window has a token
  /// outside the vocabulary or can no longer be read. Requires: `length` is at most the `sequence`
  /// that the file was opened with.
  Result<std::vector<std::int64_t>> sequence(i64 step, i64 index, i64 length) const;

 private:
  class File;

  Result<std::vector<std::int64_t>> read(i64 first, i64 count) const;

  std::shared_ptr<const File> file_{};
  std::vector<std::uint16_t> tokens_{};  // synthetic tokens; empty if there is a file
  i64 size_ = 0;                         // in tokens
  i64 vocabulary_ = 0;
  std::uint64_t seed_ = 1;
};

}  // namespace rankwright::runtime
