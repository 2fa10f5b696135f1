// A Corpus is what is trained on: a row of tokens, out of which every step takes sequences. Which
// ones follows from the seed, the step and the place in the batch alone, so every layout sees the
// same batch. It knows no ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/base/result.h"

namespace rankwright::runtime {

class Corpus {
 public:
  /// A file of tokens: one byte each, or two little-endian ones for vocabularies beyond 256. An
  /// error where a token lies outside the vocabulary or the file is shorter than one sequence.
  static Result<Corpus> read(const std::string& path, i64 vocabulary, i64 sequence,
                             std::uint64_t seed);
  /// Made-up tokens with something to learn in them: each follows from the one before more often
  /// than not.
  static Corpus made_up(i64 vocabulary, std::uint64_t seed);

  /// `sequence` + 1 tokens: inputs, and one further on targets. `index` is the place in the global
  /// batch.
  std::vector<std::int64_t> sequence(i64 step, i64 index, i64 length) const;

 private:
  std::vector<std::uint16_t> tokens_{};
  std::uint64_t seed_ = 1;
};

}  // namespace rankwright::runtime
