// A Corpus is what is trained on: a row of tokens, out of which every step takes sequences. Which
// ones follows from the seed, the step and the place in the batch alone, so every layout sees the
// same batch. A file is read where a sequence lies and nowhere else. It knows no ranks.
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
  /// Opens a file of tokens: one byte each, or two little-endian ones for vocabularies beyond 256.
  /// An error where it is not a regular file, is shorter than one sequence and its target, or ends
  /// within a token. Nothing of it is read yet.
  static Result<Corpus> open(const std::string& path, i64 vocabulary, i64 sequence,
                             std::uint64_t seed);
  /// Made-up tokens with something to learn in them: each follows from the one before more often
  /// than not.
  static Corpus made_up(i64 vocabulary, std::uint64_t seed);

  /// Returns `length` + 1 tokens: inputs, and one further on targets. `index` is the place in the
  /// global batch. An error where the file has a token outside the vocabulary there, or cannot be
  /// read anymore. Requires: `length` is at most the sequence that the file was opened for.
  Result<std::vector<std::int64_t>> sequence(i64 step, i64 index, i64 length) const;

 private:
  class File;

  Result<std::vector<std::int64_t>> read(i64 first, i64 count) const;

  std::shared_ptr<const File> file_{};
  std::vector<std::uint16_t> tokens_{};  // made up; empty where there is a file
  i64 size_ = 0;                         // tokens
  i64 vocabulary_ = 0;
  std::uint64_t seed_ = 1;
};

}  // namespace rankwright::runtime
