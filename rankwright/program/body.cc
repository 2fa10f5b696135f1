#include "rankwright/program/body.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/plan/adapters.h"
#include "rankwright/plan/data_calls.h"
#include "rankwright/program/passes.h"

namespace rankwright::program {
namespace {

/// The pieces of one stage in forward order, with the parameters that ZeRO gathers and reduces
/// around each piece.
struct StagePieces {
  std::vector<Piece> pieces{};
  std::vector<plan::Share> held{};   // by piece: gradients that are complete after its backward
  std::vector<plan::Share> apart{};  // by piece: those of them that form their own bucket (T9)
  // By piece: ZeRO-3 units that this piece is the first, or the last, to read. Those that backward
  // does not read are not in `last`.
  std::vector<std::vector<plan::Share>> first{};
  std::vector<std::vector<plan::Share>> last{};
  // By piece: those units of `first` that have gradients; under LoRA the adapters of a layer.
  std::vector<std::vector<plan::Share>> trained{};

  void add(Piece piece, const plan::Share& share, const plan::Share& unit, bool trains = true,
           bool backward = true) {
    pieces.push_back(piece);
    held.push_back(share);
    apart.emplace_back();
    first.push_back({unit});
    last.emplace_back();
    if (backward) last.back().push_back(unit);
    trained.emplace_back();
    if (trains) trained.back().push_back(unit);
  }
};

/// The position of a stage in the model.
struct Place {
  i64 first_layer = 0;  // index of its first layer
  i64 first_mtp = 0;    // index of its first MTP module
};

/// Adds the piece of the embedding, with the units of an encoder in front of it.
void add_embedding(const plan::TrainingConfig& config, StagePieces& stage) {
  stage.add({.kind = Piece::Kind::embedding}, {}, {});
  if (trains_encoder(config))
    stage.held[0] = plan::count_encoder_share(config.model, config.plan.tp);
  for (const plan::Unit& unit : list_encoder_units(config))
    for (i64 i = 0; i < unit.count; ++i) {
      stage.first[0].push_back(unit.share);
      if (unit.backward) stage.last[0].push_back(unit.share);
      if (unit.trained) stage.trained[0].push_back(unit.share);
    }
}

/// Adds the vocabulary weight of a stage: its embedding, or a tied head without an embedding. The
/// weight is one unit with the position embeddings, or its own unit if `copies`, that is if other
/// pp ranks hold copies of it.
void add_vocabulary(const plan::TrainingConfig& config, const plan::RankContents& on_stage,
                    const plan::Holding& held, bool copies, StagePieces& stage) {
  const bool tied_head = config.model.tied && on_stage.loss;
  if (!on_stage.embeds() && !(copies && tied_head)) return;
  const plan::Share weight = plan::count_vocabulary_weight(config.model, config.plan.tp);
  std::vector<plan::Share> read{weight};
  if (on_stage.embeds() && !copies)
    read = {plan::count_embedding_share(config.model, config.plan.tp)};
  if (on_stage.embeds() && copies)
    read.push_back({.dense = config.model.positions * config.model.hidden});
  std::size_t first = stage.pieces.size(), last = 0;
  for (std::size_t i = 0; i < stage.pieces.size(); ++i) {
    const Piece::Kind kind = stage.pieces[i].kind;
    const bool reads = kind == Piece::Kind::embedding || kind == Piece::Kind::mtp ||
                       (kind == Piece::Kind::heads && config.model.tied);
    if (!reads) continue;
    first = std::min(first, i);
    last = i;
  }
  const bool by_head = stage.pieces[last].kind == Piece::Kind::heads;
  for (std::size_t k = 0; k < read.size(); ++k) {
    stage.first[first].push_back(read[k]);
    if (!skips_embedding(config) || (by_head && k == 0)) stage.last[last].push_back(read[k]);
    if (trains_embedding(config)) stage.trained[first].push_back(read[k]);
  }
  if (held.embedding && trains_embedding(config))
    stage.held[first] += plan::count_embedding_share(config.model, config.plan.tp);
  if (held.apart == 0) return;
  stage.held[first].dense -= held.apart;
  stage.apart[first].dense = held.apart;
}

/// Replaces the gradients of all pieces by those of their adapters.
void replace_by_adapters(const plan::TrainingConfig& config, StagePieces& stage) {
  for (std::size_t i = 0; i < stage.pieces.size(); ++i) {
    const model::Layer* const shape = stage.pieces[i].shape;
    stage.held[i] = shape != nullptr ? count_adapter_share(config, *shape) : plan::Share{};
    stage.trained[i] = {stage.held[i]};
  }
  std::fill(stage.apart.begin(), stage.apart.end(), plan::Share{});
}

StagePieces find_stage_pieces(const plan::TrainingConfig& config,
                              const plan::RankContents& on_stage, const plan::Holding& held,
                              const Place& place, bool copies) {
  const model::Model& model = config.model;
  StagePieces stage;
  if (on_stage.embedding) add_embedding(config, stage);
  i64 nth = 0;
  for (const model::LayerRun& run : on_stage.runs) {
    const plan::Share unit = count_layer_share(model, run.layer, config.plan);
    const plan::Share gradients = count_trained_share(config, run.layer);
    for (i64 i = 0; i < run.count; ++i, ++nth)
      stage.add({.kind = Piece::Kind::layer,
                 .layer = place.first_layer + nth,
                 .shape = &run.layer,
                 .again = count_recomputed_layers(config.plan, nth, 1) > 0},
                gradients, unit, trains_weights(config, run.layer),
                runs_backward(config, run.layer));
  }
  for (i64 i = 0; i < on_stage.mtp; ++i) {
    const model::Layer& last = model.runs.back().layer;
    stage.add({.kind = Piece::Kind::mtp,
               .layer = model.layers() + place.first_mtp + i,
               .shape = &last,
               .again = recomputes_everything(config.plan)},
              count_trained_mtp_share(config), count_mtp_share(config),
              trains_weights(config, last), runs_backward(config, last));
  }
  if (on_stage.loss)
    stage.add({.kind = Piece::Kind::heads}, count_trained_head_share(config, held.head_weight),
              plan::count_head_share(model, config.plan.tp,
                                     !(model.tied && (on_stage.embeds() || copies))),
              trains_head(config));
  add_vocabulary(config, on_stage, held, copies, stage);
  if (config.job.frozen()) replace_by_adapters(config, stage);
  return stage;
}

/// Accumulates gradients and reduces each bucket as soon as it is full (ZeRO-2).
class BucketFiller {
 public:
  explicit BucketFiller(const plan::TrainingConfig& config)
      : bucket_(count_bucket_elements(config.plan)) {}

  void add(const plan::Share& gradients, Calls& calls) {
    waiting_ += gradients;
    for (; waiting_.dense >= bucket_; waiting_.dense -= bucket_) calls.reduce({.dense = bucket_});
    for (; waiting_.expert >= bucket_; waiting_.expert -= bucket_)
      calls.reduce({.expert = bucket_});
  }
  void flush(Calls& calls) {
    calls.reduce(waiting_);
    waiting_ = {};
  }

 private:
  i64 bucket_;
  plan::Share waiting_{};
};

/// Builds the bodies of one stage after another.
class BodyBuilder {
 public:
  explicit BodyBuilder(const plan::TrainingConfig& config) : config_(config), passes_(config) {}

  std::array<Body, 4> build(const StagePieces& stage) {
    return {forward(stage), backward(stage, {}), backward(stage, {.weight = false}),
            backward(stage, {.input = false})};
  }

 private:
  Body forward(const StagePieces& stage) {
    const std::size_t n = stage.pieces.size();
    for (std::size_t i = 0; i < n; ++i) {
      prefetch(stage, stage.first, i, i == 0, i + 1 < n ? i + 1 : n);
      passes_.forward(stage.pieces[i]);
    }
    return passes_.calls().take();
  }

  Body backward(const StagePieces& stage, Gradients g) {
    const std::size_t n = stage.pieces.size();
    BucketFiller buckets(config_);
    const bool by_bucket = config_.plan.zero == 2 && reduces_every_microbatch(config_);
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t i = n - 1 - k;
      // Weight gradients do not read the weights, so W gathers nothing.
      if (g.input && !keeps_gathered_weights(config_))
        prefetch(stage, stage.last, i, k == 0, i > 0 ? i - 1 : n);
      passes_.backward(stage.pieces[i], g);
      if (!g.weight) continue;
      if (by_bucket) {
        buckets.add(stage.held[i], passes_.calls());
        passes_.calls().reduce(stage.apart[i]);
      }
      if (config_.plan.zero == 3 && reduces_every_microbatch(config_))
        for (const plan::Share& unit : stage.trained[i]) passes_.calls().reduce(unit);
    }
    if (g.weight && by_bucket) buckets.flush(passes_.calls());
    return passes_.calls().take();
  }

  /// Gathers parameters under ZeRO-3. With overlap, the units of the next piece are gathered while
  /// this one runs. Without overlap, and for the first piece of a cell, units are gathered right
  /// before they are read. `units` are those of the stage by piece; `next` is the number of pieces
  /// if there is no next one.
  void prefetch(const StagePieces& stage, const std::vector<std::vector<plan::Share>>& units,
                std::size_t piece, bool first_piece, std::size_t next) {
    if (config_.plan.zero < 3) return;
    const bool overlapped = config_.plan.overlap.param_gather;
    const auto gather = [&](std::size_t of, bool beside) {
      for (const plan::Share& unit : units[of]) passes_.calls().gather(unit, beside);
      if (gathers_adapters(config_)) passes_.calls().gather_adapters(stage.held[of], beside);
    };
    if (!overlapped || first_piece) gather(piece, false);
    if (overlapped && next < units.size()) gather(next, true);
  }

  const plan::TrainingConfig& config_;
  Passes passes_;
};

/// Returns the positions of all stages, indexed by stage.
std::vector<Place> find_places(const std::vector<plan::RankContents>& stages) {
  std::vector<Place> all(stages.size());
  i64 layers = 0, mtp = 0;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    all[s].first_layer = layers;
    all[s].first_mtp = mtp;
    layers += stages[s].layers;
    mtp += stages[s].mtp;
  }
  return all;
}

constexpr std::string_view kParts[] = {"",        "embedding",  "attention", "mlp",      "router",
                                       "experts", "projection", "head",      "optimizer"};
static_assert(std::size(kParts) == std::size_t(Part::optimizer) + 1);

}  // namespace

std::vector<std::array<Body, 4>> build_bodies(const plan::TrainingConfig& config) {
  const std::vector<plan::RankContents> stages = list_stage_contents(config);
  const std::vector<plan::Holding> holdings = list_stage_holdings(config);
  const std::vector<Place> places = find_places(stages);
  const bool copies = has_vocabulary_copies(config);
  BodyBuilder builder(config);
  std::vector<std::array<Body, 4>> all;
  for (std::size_t s = 0; s < stages.size(); ++s)
    all.push_back(
        builder.build(find_stage_pieces(config, stages[s], holdings[s], places[s], copies)));
  return all;
}

Bytes count_transfer_bytes(const plan::TrainingConfig& config, i64 boundary) {
  // An even split has its MTP modules on the last stage, after all boundaries.
  return compute_boundary_message(config, count_mtp_until(config.plan.stages, boundary));
}

std::string show(const Step& step) {
  std::string text;
  if (step.computes()) {
    if (step.layer >= 0) text = fmt::format("layer {} ", step.layer);
    text += kParts[std::size_t(step.part)];
  } else {
    text = fmt::format("{} {}", row(step.kind).label, show(step.bytes));
  }
  if (step.again) text += " again";
  if (step.beside) text += " beside";
  return text;
}

}  // namespace rankwright::program
