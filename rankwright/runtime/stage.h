// A pipeline stage on one rank: its pieces (embedding, layers, head with the loss), the parameters
// that each reads, and forward and backward of one piece. PipelineExecutor orders the cells;
// ShardedParams holds weights and gradients.
#pragma once

#include <deque>
#include <memory>
#include <variant>
#include <vector>

#include "rankwright/runtime/functions.h"
#include "rankwright/runtime/parameter.h"
#include "rankwright/runtime/rank.h"

namespace rankwright::runtime {

/// Whether a unit's parameters are trained. Parts of the model may be frozen; under LoRA all of it
/// is, and adapters are trained, in the format of sums, without a master copy.
enum class Training : unsigned char { full, frozen, adapters };

/// Parameters that ZeRO-3 gathers in one call. Their gradients are complete after the backward of
/// piece `first`.
struct Unit {
  std::vector<Parameter*> parameters{};
  bool shared = false;              // a tied embedding that two pp ranks hold
  std::size_t first = 0, last = 0;  // first and last piece of its stage that reads it
  Training training = Training::full;
  bool backward = true;  // read by backward passes, too
  i64 size() const;      // elements
};

struct EmbeddingPiece {
  const Rank* rank = nullptr;
  Parameter* words = nullptr;
  Parameter* positions = nullptr;  // learned position embedding; optional
  bool frozen = false;
};

struct LayerPiece {
  Norm before_attention{}, before_mlp{};
  Linear qkv{}, out{}, up{}, down{};
  Heads heads{};
  bool gated = false;
};

struct HeadPiece {
  Norm norm{};
  Linear head{};
  Loss loss{};
};

struct Piece {
  std::variant<EmbeddingPiece, LayerPiece, HeadPiece> what{};
  bool recompute = false;     // full recompute: rerun forward before backward
  bool forward_only = false;  // keeps nothing, and backward ends before it
};

/// One chunk (virtual stage) of a rank.
struct StagePart {
  i64 stage = 0;
  std::deque<Piece> pieces{};  // autograd functions keep their addresses
  std::deque<Unit> units{};    // in the order in which their gradients become complete
  Unit* borrowed = nullptr;    // the embedding in another chunk that a tied head here reads
};

/// The part of the model that a rank holds. Parameters and pieces never move in memory.
struct Shard {
  std::deque<Parameter> parameters{};
  std::vector<std::unique_ptr<StagePart>> stages{};  // by chunk
};
/// Builds the parameters and pieces of the rank's stages.
Shard build(const Rank& rank);

/// The tokens of a microbatch.
struct Tokens {
  Tensor inputs{}, targets{};  // [sequence, batch]
};

/// The state that a piece keeps of one microbatch for its backward.
struct SavedActivations {
  Tensor input{};                  // a leaf of the piece's own graph
  torch::autograd::Edge output{};  // where the gradient enters; invalid if forward is rerun
};

/// Runs forward of one piece. Returns the input of the next piece, or the loss.
Tensor forward(const Piece& piece, const Tensor& input, const Tokens& tokens,
               SavedActivations& saved);

/// Runs backward of one piece and releases `saved`. Returns the gradient of the piece's input.
/// `gradient` is that of its output, undefined for the loss.
Tensor backward(const Piece& piece, SavedActivations& saved, const Tensor& gradient,
                const Tokens& tokens);

}  // namespace rankwright::runtime
