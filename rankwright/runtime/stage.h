// A stage as it runs on one rank: its pieces (embedding, layers, head with the loss), each with the
// parameters that it reads, and forward and backward of one piece. Which cell runs when is the
// trainer's business, where weights and gradients lie the store's.
#pragma once

#include <deque>
#include <memory>
#include <variant>
#include <vector>

#include "rankwright/runtime/functions.h"
#include "rankwright/runtime/parameter.h"
#include "rankwright/runtime/rank.h"

namespace rankwright::runtime {

/// Parameters that come and go together: what ZeRO-3 gathers in one call, and whose gradients are
/// complete behind the backward of the same piece, the first that reads them.
struct Unit {
  std::vector<Parameter*> parameters{};
  bool shared = false;              // two pp ranks hold it: a tied embedding
  std::size_t first = 0, last = 0;  // pieces of its stage that read it
  i64 size() const;
};

struct EmbeddingPiece {
  const Rank* rank = nullptr;
  Parameter* words = nullptr;
  Parameter* positions = nullptr;  // learned ones, or nothing
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
  bool again = false;  // full recompute: forward runs a second time before backward
};

/// One chunk of a rank.
struct StagePart {
  i64 stage = 0;
  std::deque<Piece> pieces{};  // functions keep their addresses
  std::deque<Unit> units{};    // in the order in which their gradients are complete
  Unit* borrowed = nullptr;    // of another chunk: the embedding that a tied head here reads
};

/// All that a rank holds. Parameters and pieces never move.
struct Shard {
  std::deque<Parameter> parameters{};
  std::vector<std::unique_ptr<StagePart>> stages{};  // by chunk
};
Shard build(const Rank& rank);

/// What a microbatch is on its way through a stage.
struct Tokens {
  Tensor inputs{}, targets{};  // [sequence, batch]
};

/// What a piece keeps of one microbatch for its backward.
struct Saved {
  Tensor input{};                  // a leaf of the piece's own graph
  torch::autograd::Edge output{};  // where its gradient enters; nothing where forward runs again
};

/// Forward of one piece: what the next one reads, or the loss.
Tensor forward(const Piece& piece, const Tensor& input, const Tokens& tokens, Saved& saved);

/// Backward of one piece: the gradient of its input; `gradient` is of what forward returned, and
/// nothing behind a loss. What is saved is given up.
Tensor backward(const Piece& piece, Saved& saved, const Tensor& gradient, const Tokens& tokens);

}  // namespace rankwright::runtime
