// Builds the parameters and pieces of a rank.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rankwright/base/check.h"
#include "rankwright/plan/frozen.h"
#include "rankwright/plan/shares.h"
#include "rankwright/runtime/stage.h"

namespace rankwright::runtime {
namespace {

constexpr double kDeviation = 0.02;  // of the initial weights, as in GPT-2
constexpr double kRotaryBase = 10000;

class Builder {
 public:
  explicit Builder(const Rank& rank)
      : rank_(rank),
        model_(rank.config.model),
        tp_(rank.config.plan.tp),
        by_stage_(list_stage_contents(rank.config)) {}

  Shard build() {
    const std::vector<i64> stages = list_stages(rank_.config.plan, rank_.pp_rank);
    for (const i64 s : stages) embeds_ = embeds_ || contents(s).embedding;
    for (const i64 s : stages) {
      shard_.stages.push_back(std::make_unique<StagePart>());
      stage_ = shard_.stages.back().get();
      stage_->stage = s;
      if (contents(s).embedding) add_embedding(contents(s).loss);
      i64 layer = first_layer(s), on_stage = 0;
      for (const model::LayerRun& run : contents(s).runs)
        for (i64 i = 0; i < run.count; ++i) add_layer(run.layer, layer++, on_stage++);
      if (contents(s).loss) add_head();
      // Backward runs through the pieces in reverse.
      std::stable_sort(stage_->units.begin(), stage_->units.end(),
                       [](const Unit& a, const Unit& b) { return a.first > b.first; });
    }
    return std::move(shard_);
  }

 private:
  const plan::RankContents& contents(i64 stage) const { return by_stage_[std::size_t(stage)]; }
  i64 first_layer(i64 stage) const {
    i64 layers = 0;
    for (i64 s = 0; s < stage; ++s) layers += contents(s).layers;
    return layers;
  }

  Parameter* add(std::string name, std::vector<Block> blocks, Cut cut) {
    Parameter made = make_parameter(std::move(name), std::move(blocks), cut, tp_);
    // Norms, and biases after a reduction, see only this rank's part of the sequence.
    made.partial = cut == Cut::none && rank_.sequence_parallel && !frozen_;
    shard_.parameters.push_back(std::move(made));
    return &shard_.parameters.back();
  }
  Parameter* matrix(const std::string& name, i64 out, i64 in, Cut cut, double deviation) {
    return add(name, {{.name = name, .rows = out, .columns = in, .deviation = deviation}}, cut);
  }
  Parameter* vector(const std::string& name, i64 size, double mean, Cut cut = Cut::none) {
    return add(name, {{.name = name, .rows = size, .mean = mean}}, cut);
  }
  void unit(std::vector<Parameter*> parameters, std::size_t first, std::size_t last, bool shared,
            bool backward = true) {
    std::erase(parameters, nullptr);
    if (!parameters.empty())
      stage_->units.push_back({std::move(parameters), shared, first, last,
                               frozen_ ? Training::frozen : Training::full, backward});
  }

  /// One matrix of a linear layer, and whether the job adapts it.
  struct Module {
    std::string name;
    bool adapted;
    i64 out;  // of the whole matrix
  };
  /// Adds LoRA's adapters to a linear layer from `in` elements, whose weight is these modules
  /// concatenated. A is random and B zero, so that training starts from the model itself. A has the
  /// variance of PEFT's uniform initial values.
  void adapt(Linear& linear, const std::vector<Module>& modules, i64 in, Cut cut,
             std::vector<Parameter*>& adapters) {
    if (whole_layer_frozen_) return;
    const i64 rank = rank_.config.job.lora_rank;
    i64 first = 0;
    for (const Module& module : modules) {
      const i64 outputs = cut == Cut::rows ? ceil_div(module.out, tp_) : module.out;
      if (rank > 0 && module.adapted) {
        Parameter* const a =
            matrix(module.name + ".lora_a", rank, in, cut == Cut::rows ? Cut::none : Cut::columns,
                   1 / std::sqrt(3 * double(in)));
        Parameter* const b = matrix(module.name + ".lora_b", module.out, rank,
                                    cut == Cut::rows ? Cut::rows : Cut::none, 0);
        (cut == Cut::rows ? a : b)->partial = tp_ > 1;
        adapters.insert(adapters.end(), {a, b});
        linear.adapters.push_back({a, b, first, outputs});
      }
      first += outputs;
    }
  }

  Unit* unit_of(const Parameter* parameter) {
    for (const std::unique_ptr<StagePart>& stage : shard_.stages)
      for (Unit& unit : stage->units)
        if (std::ranges::find(unit.parameters, parameter) != unit.parameters.end()) return &unit;
    RW_CHECK(false);
    return nullptr;
  }

  Norm norm(const std::string& name) {
    Norm made{.rank = &rank_, .weight = vector(name + ".weight", model_.hidden, 1)};
    if (model_.norm_bias) made.bias = vector(name + ".bias", model_.hidden, 0);
    made.frozen = frozen_;
    return made;
  }

  /// Returns the word embedding. It has one name, and so the same initial weights, on every pp
  /// rank.
  Parameter* words() {
    if (words_ == nullptr)
      words_ = matrix("embedding.words", model_.vocab, model_.hidden, Cut::rows, kDeviation);
    return words_;
  }
  /// Returns whether the embedding is tied and on two pp ranks. It is then a unit of its own, so
  /// that both ranks shard it alike.
  bool shared() const { return has_vocabulary_copies(rank_.config); }

  void add_embedding(bool with_loss) {
    frozen_ = !trains_embedding(rank_.config);
    EmbeddingPiece piece{.rank = &rank_, .words = words()};
    piece.frozen = frozen_;
    if (model_.positions > 0) {
      piece.positions =
          matrix("embedding.positions", model_.positions, model_.hidden, Cut::none, kDeviation / 2);
      piece.positions->partial = false;  // its gradient is gathered before accumulation
    }
    const std::size_t here = stage_->pieces.size();
    const std::size_t head = std::size_t(contents(stage_->stage).layers) + 1;
    const std::size_t last = with_loss && model_.tied ? head : here;
    const bool read = !skips_embedding(rank_.config);  // by backward
    // ZeRO-3 gathers words and positions in one call, unless another pp rank's head shares the
    // words.
    if (shared()) {
      unit({piece.words}, here, last, true, read || last == head);
      unit({piece.positions}, here, here, false, read);
    } else {
      unit({piece.words, piece.positions}, here, last, false, read || last == head);
    }
    stage_->pieces.push_back({.what = piece});
  }

  void add_layer(const model::Layer& shape, i64 index, i64 on_stage) {
    const std::string name = fmt::format("layers.{}", index);
    frozen_ = !trains_weights(rank_.config, shape);
    whole_layer_frozen_ = shape.training != model::Training::full;
    const bool backward = runs_backward(rank_.config, shape);
    const model::Attention& a = shape.attention;
    const model::FeedForward& f = shape.ffn;
    const i64 h = model_.hidden;
    // Scaled by depth so that residual sums keep their size (GPT-2).
    const double small = kDeviation / std::sqrt(2.0 * double(model_.layers()));
    const auto block = [&](const std::string& part, i64 rows, i64 columns, double deviation) {
      return Block{.name = name + part, .rows = rows, .columns = columns, .deviation = deviation};
    };
    LayerPiece piece;
    piece.before_attention = norm(name + ".attention_norm");
    const i64 q = a.heads * a.head_dim, k = a.kv_heads * a.head_dim;
    piece.qkv = linear(add(name + ".qkv",
                           {block(".query", q, h, kDeviation), block(".key", k, h, kDeviation),
                            block(".value", k, h, kDeviation)},
                           Cut::rows));
    if (a.qkv_bias)
      piece.qkv.bias = add(name + ".qkv_bias",
                           {block(".query_bias", q, 0, 0), block(".key_bias", k, 0, 0),
                            block(".value_bias", k, 0, 0)},
                           Cut::rows);
    piece.out = linear(matrix(name + ".out", h, q, Cut::columns, small));
    if (a.out_bias) piece.out.bias = vector(name + ".out_bias", h, 0);
    piece.heads = heads(a);
    piece.before_mlp = norm(name + ".mlp_norm");
    piece.gated = f.matrices == 3;
    std::vector<Block> up{block(".up", f.width, h, kDeviation)};
    if (piece.gated) up.insert(up.begin(), block(".gate", f.width, h, kDeviation));
    piece.up = linear(add(name + ".up", up, Cut::rows));
    if (f.bias) {
      for (Block& each : up) each = {.name = each.name + "_bias", .rows = each.rows};
      piece.up.bias = add(name + ".up_bias", up, Cut::rows);
    }
    piece.down = linear(matrix(name + ".down", h, f.width, Cut::columns, small));
    if (f.bias) piece.down.bias = vector(name + ".down_bias", h, 0);
    const plan::LoraModules& lora = rank_.config.job.lora_modules;
    std::vector<Parameter*> adapters;
    adapt(piece.qkv,
          {{name + ".query", lora.q_proj, q},
           {name + ".key", lora.k_proj, k},
           {name + ".value", lora.v_proj, k}},
          h, Cut::rows, adapters);
    adapt(piece.out, {{name + ".out", lora.o_proj, h}}, q, Cut::columns, adapters);
    std::vector<Module> inner{{name + ".up", lora.up_proj, f.width}};
    if (piece.gated) inner.insert(inner.begin(), Module{name + ".gate", lora.gate_proj, f.width});
    adapt(piece.up, inner, h, Cut::rows, adapters);
    adapt(piece.down, {{name + ".down", lora.down_proj, h}}, f.width, Cut::columns, adapters);
    const std::size_t here = stage_->pieces.size();
    unit(
        {piece.before_attention.weight, piece.before_attention.bias, piece.qkv.weight,
         piece.qkv.bias, piece.out.weight, piece.out.bias, piece.before_mlp.weight,
         piece.before_mlp.bias, piece.up.weight, piece.up.bias, piece.down.weight, piece.down.bias},
        here, here, false, backward);
    if (!adapters.empty())
      stage_->units.push_back({std::move(adapters), false, here, here, Training::adapters});
    stage_->pieces.push_back(
        {.what = piece,
         .recompute = count_recomputed_layers(rank_.config.plan, on_stage, 1) > 0,
         .forward_only = !backward});
  }

  Linear linear(Parameter* weight) const {
    return {.rank = &rank_, .weight = weight, .frozen = frozen_};
  }

  Heads heads(const model::Attention& a) {
    Heads made{.rank = &rank_,
               .heads = a.heads / tp_,
               .kv_heads = a.kv_heads / tp_,
               .width = a.head_dim,
               .recompute = rank_.config.plan.recompute == plan::Recompute::selective};
    const i64 s = rank_.sequence();
    if (!future_.defined()) future_ = torch::ones({s, s}, torch::kBool).triu_(1);
    made.future = future_;
    if (model_.positions > 0) return made;
    if (!cosine_.defined()) {
      const Tensor i = torch::arange(0, a.head_dim, 2, torch::kFloat64);
      const Tensor each = torch::pow(kRotaryBase, -i / double(a.head_dim));
      const Tensor angle = torch::outer(torch::arange(s, torch::kFloat64), each);
      cosine_ = angle.cos().to(rank_.formats.compute);
      sine_ = angle.sin().to(rank_.formats.compute);
    }
    made.cosine = cosine_;
    made.sine = sine_;
    return made;
  }

  void add_head() {
    frozen_ = !trains_head(rank_.config);
    HeadPiece piece{.norm = norm("head_norm")};
    const bool elsewhere = model_.tied && !embeds_;  // its embedding is on another pp rank
    Parameter* const weight =
        model_.tied ? words() : matrix("head", model_.vocab, model_.hidden, Cut::rows, kDeviation);
    weight->copy = weight->copy || elsewhere;
    piece.head = {.rank = &rank_,
                  .weight = weight,
                  .frozen = !trains_head_weight(rank_.config),
                  .gathers = plan::TrafficKind::tp_head_gather,
                  .scatters = plan::TrafficKind::tp_head_reduce,
                  .reduces = plan::TrafficKind::tp_head_reduce};
    // The embedding's chunk may finish its weight gradients before this chunk's W cells run, so the
    // head's weight gradient must be computed together with its input gradient.
    if (model_.tied && embeds_ && !contents(stage_->stage).embedding) {
      stage_->borrowed = unit_of(weight);
      piece.head.immediate = true;
    }
    const plan::Job& job = rank_.config.job;
    piece.loss = {.rank = &rank_,
                  .vocabulary = model_.vocab,
                  .scale = 1 / (double(job.global_batch) * double(job.sequence))};
    const std::size_t here = stage_->pieces.size();
    Parameter* const own = model_.tied ? nullptr : weight;
    frozen_ = !trains_head_weight(rank_.config);
    if (elsewhere) unit({weight}, here, here, true);
    frozen_ = !trains_head(rank_.config);
    unit({piece.norm.weight, piece.norm.bias, own}, here, here, false);
    stage_->pieces.push_back({.what = piece});
  }

  const Rank& rank_;
  const model::Model& model_;
  i64 tp_;
  std::vector<plan::RankContents> by_stage_;
  bool embeds_ = false;  // whether the embedding is on this rank
  Parameter* words_ = nullptr;
  Tensor cosine_{}, sine_{}, future_{};
  Shard shard_{};
  StagePart* stage_ = nullptr;
  bool frozen_ = false;              // the weights of the part that is being built
  bool whole_layer_frozen_ = false;  // the layer that is being built has no adapters either
};

}  // namespace

Shard build(const Rank& rank) { return Builder(rank).build(); }

}  // namespace rankwright::runtime
