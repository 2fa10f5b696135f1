#include "rankwright/runtime/functions.h"

#include <cmath>
#include <limits>

namespace rankwright::runtime {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::tensor_list;

constexpr double kEpsilon = 1e-5;

/// Saves the address of the layer's description for backward. Requires: `what` outlives the graph.
template <class T>
void save_address(AutogradContext* ctx, const T* what) {
  ctx->saved_data["what"] = std::int64_t(reinterpret_cast<std::intptr_t>(what));
}
template <class T>
const T& load_address(AutogradContext* ctx) {
  return *reinterpret_cast<const T*>(std::intptr_t(ctx->saved_data["what"].toInt()));
}

Tensor rows(const Tensor& x) { return x.reshape({-1, x.size(-1)}); }

/// gradient += outputᵀ · input
void add_weight_gradient(const Parameter& weight, const Tensor& output, const Tensor& input) {
  Tensor sum = weight.gradient;
  if (sum.scalar_type() == output.scalar_type())
    sum.addmm_(rows(output).t(), rows(input));
  else
    sum.add_(torch::mm(rows(output).t(), rows(input)));
}

void add_bias_gradient(Parameter* bias, const Tensor& output) {
  if (bias != nullptr)
    bias->gradient.add_(rows(output).sum(0, false, bias->gradient.scalar_type()));
}

Tensor multiply(const Tensor& x, const Linear& linear, const Parameter* bias) {
  std::vector<i64> shape = x.sizes().vec();
  shape.back() = linear.weight->weight.size(0);
  const Tensor weight = linear.weight->weight.t();
  return (bias != nullptr ? torch::addmm(bias->weight, rows(x), weight)
                          : torch::mm(rows(x), weight))
      .view(shape);
}

Tensor multiply_back(const Tensor& output, const Linear& linear) {
  std::vector<i64> shape = output.sizes().vec();
  shape.back() = linear.weight->weight.size(1);
  return torch::mm(rows(output), linear.weight->weight).view(shape);
}

/// Returns the columns of a layer's outputs, or of their gradients, that an adapter adds to.
Tensor outputs_of(const Adapter& adapter, const Tensor& output) {
  return rows(output).narrow(1, adapter.first, adapter.outputs);
}

/// Adds B A x of every adapter to `output`. Returns the A x, and before them `saved`, the input in
/// the form in which backward needs it: what the layer keeps for its backward. The input of frozen
/// weights without adapters is not kept.
tensor_list adapt(const Linear& linear, const Tensor& x, const Tensor& output,
                  const Tensor& saved) {
  tensor_list kept{linear.frozen && linear.adapters.empty() ? Tensor() : saved};
  for (const Adapter& adapter : linear.adapters) {
    kept.push_back(torch::mm(rows(x), adapter.a->weight.to(x.scalar_type()).t()));
    outputs_of(adapter, output).addmm_(kept.back(), adapter.b->weight.to(x.scalar_type()).t());
  }
  return kept;
}

/// The gradients of A x, by adapter: those of the outputs, multiplied by B.
tensor_list adapt_back(const Linear& linear, const Tensor& output) {
  tensor_list inner;
  for (const Adapter& adapter : linear.adapters)
    inner.push_back(
        torch::mm(outputs_of(adapter, output), adapter.b->weight.to(output.scalar_type())));
  return inner;
}

/// Adds the gradients of both matrices of every adapter. `kept` is what adapt() returned.
void add_adapter_gradients(const Linear& linear, const Tensor& output, const tensor_list& inner,
                           const Tensor& input, const tensor_list& kept) {
  for (std::size_t i = 0; i < linear.adapters.size(); ++i) {
    const Adapter& adapter = linear.adapters[i];
    add_weight_gradient(*adapter.a, inner[i], input);
    add_weight_gradient(*adapter.b, outputs_of(adapter, output), kept[i + 1]);
  }
}

/// Adds the gradients that reach the input through the adapters.
void add_adapter_inputs(const Linear& linear, const tensor_list& inner, const Tensor& input) {
  for (std::size_t i = 0; i < linear.adapters.size(); ++i)
    rows(input).addmm_(inner[i], linear.adapters[i].a->weight.to(input.scalar_type()));
}

struct ColumnLinear : Function<ColumnLinear> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, const Linear* linear) {
    save_address(ctx, linear);
    linear->rank->progress_calls();
    const Rank& rank = *linear->rank;
    const Tensor whole = rank.sequence_parallel ? gather(rank, x, linear->gathers) : x;
    const Tensor output = multiply(whole, *linear, linear->bias);
    ctx->save_for_backward(adapt(*linear, whole, output, x));
    return output;
  }

  static tensor_list backward(AutogradContext* ctx, tensor_list gradients) {
    const Linear& linear = load_address<Linear>(ctx);
    const Rank& rank = *linear.rank;
    rank.progress_calls();
    const tensor_list kept = ctx->get_saved_variables();
    const Tensor output = gradients[0].contiguous();
    const tensor_list inner = adapt_back(linear, output);
    if (!linear.frozen || !linear.adapters.empty())
      rank.weight_gradient(
          [&linear, &rank, kept, inner, output] {
            const Tensor x =
                rank.sequence_parallel ? gather(rank, kept[0], linear.gathers) : kept[0];
            add_adapter_gradients(linear, output, inner, x, kept);
            if (linear.frozen) return;
            add_weight_gradient(*linear.weight, output, x);
            add_bias_gradient(linear.bias, output);
          },
          linear.immediate);
    Tensor input = multiply_back(output, linear);
    add_adapter_inputs(linear, inner, input);
    if (rank.sequence_parallel)
      input = scatter(rank, input, linear.scatters);
    else if (rank.tp() > 1)
      reduce(rank, input, linear.reduces);
    return {input, Tensor()};
  }
};

struct RowLinear : Function<RowLinear> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, const Linear* linear) {
    save_address(ctx, linear);
    const Rank& rank = *linear->rank;
    rank.progress_calls();
    Tensor sum = multiply(x, *linear, nullptr);
    ctx->save_for_backward(adapt(*linear, x, sum, x));
    if (rank.sequence_parallel)
      sum = scatter(rank, sum, linear->scatters);
    else if (rank.tp() > 1)
      reduce(rank, sum, linear->reduces);
    return linear->bias != nullptr ? sum.add_(linear->bias->weight) : sum;
  }

  static tensor_list backward(AutogradContext* ctx, tensor_list gradients) {
    const Linear& linear = load_address<Linear>(ctx);
    const Rank& rank = *linear.rank;
    rank.progress_calls();
    const tensor_list kept = ctx->get_saved_variables();
    const Tensor own = gradients[0].contiguous();
    const Tensor output = rank.sequence_parallel ? gather(rank, own, linear.gathers) : own;
    const tensor_list inner = adapt_back(linear, output);
    if (!linear.frozen || !linear.adapters.empty())
      rank.weight_gradient([&linear, kept, inner, own, output] {
        add_adapter_gradients(linear, output, inner, kept[0], kept);
        if (linear.frozen) return;
        add_weight_gradient(*linear.weight, output, kept[0]);
        add_bias_gradient(linear.bias, own);
      });
    const Tensor input = multiply_back(output, linear);
    add_adapter_inputs(linear, inner, input);
    return {input, Tensor()};
  }
};

struct LayerNorm : Function<LayerNorm> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, const Norm* norm) {
    save_address(ctx, norm);
    const auto [y, mean, deviation] = torch::native_layer_norm(
        x, {x.size(-1)}, norm->weight->weight, norm->bias->weight, kEpsilon);
    ctx->save_for_backward({x, mean, deviation});
    return y;
  }

  static tensor_list backward(AutogradContext* ctx, tensor_list gradients) {
    const Norm& norm = load_address<Norm>(ctx);
    const tensor_list saved = ctx->get_saved_variables();
    const Tensor output = gradients[0].contiguous();
    const bool deferred = norm.rank->deferred != nullptr, frozen = norm.frozen;
    const bool now = !deferred && !frozen;
    const auto [input, weight, bias] = back(norm.weight->weight, saved, output, {true, now, now});
    if (frozen) return {input, Tensor()};
    if (deferred)
      // ZeRO-3 may have resharded the weight by then; the weight's gradient does not read it.
      norm.rank->weight_gradient([&norm, saved, output] {
        const Tensor any = torch::ones({output.size(-1)}, output.options());
        const auto [none, late_weight, late_bias] = back(any, saved, output, {false, true, true});
        add(norm, late_weight, late_bias);
      });
    else
      add(norm, weight, bias);
    return {input, Tensor()};
  }

 private:
  static std::tuple<Tensor, Tensor, Tensor> back(const Tensor& weight, const tensor_list& saved,
                                                 const Tensor& output, std::array<bool, 3> wanted) {
    return torch::native_layer_norm_backward(output, saved[0], {output.size(-1)}, saved[1],
                                             saved[2], weight, weight, wanted);
  }
  static void add(const Norm& norm, const Tensor& weight, const Tensor& bias) {
    norm.weight->gradient.add_(weight);
    norm.bias->gradient.add_(bias);
  }
};

/// y = x / rms(x) * w, in fp32 or wider.
struct RmsNorm : Function<RmsNorm> {
  static Tensor wide(const Tensor& x) {
    return x.scalar_type() == torch::kBFloat16 ? x.to(torch::kFloat32) : x;
  }

  static Tensor forward(AutogradContext* ctx, const Tensor& x, const Norm* norm) {
    save_address(ctx, norm);
    const Tensor input = wide(x);
    const Tensor inverse = input.square().mean(-1, true).add_(kEpsilon).rsqrt_();
    ctx->save_for_backward({x, inverse});
    return (input * inverse).mul_(norm->weight->weight).to(x.scalar_type());
  }

  static tensor_list backward(AutogradContext* ctx, tensor_list gradients) {
    const Norm& norm = load_address<Norm>(ctx);
    const tensor_list saved = ctx->get_saved_variables();
    const Tensor x = saved[0], inverse = saved[1], output = gradients[0];
    if (!norm.frozen)
      norm.rank->weight_gradient([&norm, x, inverse, output] {
        const Tensor product = (wide(x) * inverse).mul_(output);
        norm.weight->gradient.add_(rows(product).sum(0));
      });
    // With n = x / rms: dx = (g - n * mean(g * n)) / rms, g = dy * w
    const Tensor unit = wide(x) * inverse;
    Tensor input = wide(output) * norm.weight->weight;
    const Tensor along = (input * unit).mean(-1, true);
    input.addcmul_(unit, along, -1).mul_(inverse);
    return {input.to(x.scalar_type()), Tensor()};
  }
};

/// Rotates pairs (i, i + width / 2) by their angles, in place. `back` rotates by the negative
/// angles.
void rotate(Tensor& x, const Heads& heads, bool back) {
  if (!heads.cosine.defined()) return;
  const i64 half = heads.width / 2;
  Tensor first = x.narrow(-1, 0, half), second = x.narrow(-1, half, half);
  const Tensor sine = back ? -heads.sine : heads.sine;
  const Tensor before = first.clone();
  first.mul_(heads.cosine).addcmul_(second, sine, -1);
  second.mul_(heads.cosine).addcmul_(before, sine);
}

/// [sequence, batch, heads * width] <-> [batch, heads, sequence, width]
Tensor by_head(const Tensor& x, i64 heads, i64 width) {
  return x.view({x.size(0), x.size(1), heads, width}).permute({1, 2, 0, 3});
}
Tensor by_token(const Tensor& x) { return x.permute({2, 0, 1, 3}); }

/// The columns of the queries, the keys or the values in the concatenated tensor.
struct Columns {
  i64 first, count, heads;
};
std::array<Columns, 3> columns(const Heads& h) {
  const i64 query = h.heads * h.width, key = h.kv_heads * h.width;
  return {Columns{0, query, h.heads}, Columns{query, key, h.kv_heads},
          Columns{query + key, key, h.kv_heads}};
}

/// Computes softmax(q kᵀ / sqrt(width)) with the causal mask. The rows of one key head are the
/// queries of all heads that share it.
Tensor scores(const Tensor& q, const Tensor& k, const Heads& heads) {
  const i64 sequence = k.size(1), group = heads.heads / heads.kv_heads;
  Tensor s = torch::bmm(q, k.transpose(1, 2)).mul_(1 / std::sqrt(double(heads.width)));
  const Tensor square = s.view({-1, group, sequence, sequence});
  square.masked_fill_(heads.future, -std::numeric_limits<double>::infinity());
  const Tensor max = s.amax(-1, true);
  s.sub_(max).exp_();
  return s.div_(s.sum(-1, true));
}

struct Attention : Function<Attention> {
  static Tensor forward(AutogradContext* ctx, const Tensor& qkv, const Heads* heads) {
    save_address(ctx, heads);
    heads->rank->progress_calls();
    std::array<Tensor, 3> parts;
    for (std::size_t i = 0; i < 3; ++i) {
      const Columns c = columns(*heads)[i];
      parts[i] = by_head(qkv.narrow(-1, c.first, c.count).contiguous(), c.heads, heads->width)
                     .contiguous();
      if (i < 2) rotate(parts[i], *heads, false);
    }
    const i64 batch = qkv.size(1), sequence = qkv.size(0);
    const Tensor q = parts[0].view({batch * heads->kv_heads, -1, heads->width});
    const Tensor k = parts[1].view({-1, sequence, heads->width});
    const Tensor v = parts[2].view({-1, sequence, heads->width});
    const Tensor p = scores(q, k, *heads);
    const Tensor out = torch::bmm(p, v).view({batch, heads->heads, sequence, heads->width});
    ctx->save_for_backward({q, k, v, heads->recompute ? Tensor() : p});
    return by_token(out).reshape({sequence, batch, heads->heads * heads->width});
  }

  static tensor_list backward(AutogradContext* ctx, tensor_list gradients) {
    const Heads& heads = load_address<Heads>(ctx);
    heads.rank->progress_calls();
    const tensor_list saved = ctx->get_saved_variables();
    const Tensor q = saved[0], k = saved[1], v = saved[2];
    const Tensor p = saved[3].defined() ? saved[3] : scores(q, k, heads);
    const i64 sequence = k.size(1), batch = gradients[0].size(1);
    const Tensor out = by_head(gradients[0].contiguous(), heads.heads, heads.width)
                           .reshape({batch * heads.kv_heads, -1, heads.width});
    std::array<Tensor, 3> parts;
    parts[2] = torch::bmm(p.transpose(1, 2), out);
    // dS = P * (dP - rowsum(dP * P)), in place of dP
    Tensor s = torch::bmm(out, v.transpose(1, 2)).mul_(p);
    const Tensor along = s.sum(-1, true);
    s.addcmul_(p, along, -1).mul_(1 / std::sqrt(double(heads.width)));
    parts[0] = torch::bmm(s, k);
    parts[1] = torch::bmm(s.transpose(1, 2), q);
    Tensor qkv = torch::empty({sequence, batch, (heads.heads + 2 * heads.kv_heads) * heads.width},
                              gradients[0].options());
    for (std::size_t i = 0; i < 3; ++i) {
      const Columns c = columns(heads)[i];
      Tensor part = parts[i].view({batch, c.heads, sequence, heads.width});
      if (i < 2) rotate(part, heads, true);
      by_head(qkv, heads.heads + 2 * heads.kv_heads, heads.width)
          .narrow(1, c.first / heads.width, c.heads)
          .copy_(part);
    }
    return {qkv, Tensor()};
  }
};

struct SwiGlu : Function<SwiGlu> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({x});
    const i64 width = x.size(-1) / 2;
    return torch::silu(x.narrow(-1, 0, width)).mul_(x.narrow(-1, width, width));
  }

  static tensor_list backward(AutogradContext* ctx, tensor_list gradients) {
    const Tensor x = ctx->get_saved_variables()[0];
    const i64 width = x.size(-1) / 2;
    const Tensor gate = x.narrow(-1, 0, width), up = x.narrow(-1, width, width);
    Tensor both = torch::empty_like(x);
    both.narrow(-1, width, width).copy_(torch::silu(gate).mul_(gradients[0]));
    both.narrow(-1, 0, width).copy_(torch::silu_backward(gradients[0] * up, gate));
    return {both};
  }
};

/// The vocabulary entries of this tp rank, and the targets among them.
struct Words {
  i64 first, count, valid;
  Tensor here, index;  // per token: whether its target is on this rank, and its local index

  Words(const Tensor& logits, const Tensor& targets, const Loss& loss)
      : first(logits.size(-1) * loss.rank->tp_rank),
        count(logits.size(-1)),
        valid(std::clamp<i64>(loss.vocabulary - first, 0, count)) {
    const Tensor local = targets.reshape({-1}) - first;
    here = local.ge(0).logical_and_(local.lt(valid));
    index = local.clamp_(0, count - 1).unsqueeze_(1);
  }
};

struct CrossEntropy : Function<CrossEntropy> {
  static Tensor forward(AutogradContext* ctx, const Tensor& logits, const Tensor& targets,
                        const Loss* loss) {
    save_address(ctx, loss);
    const Rank& rank = *loss->rank;
    const Words words(logits, targets, *loss);
    Tensor p = rows(logits.detach());
    if (p.scalar_type() == torch::kBFloat16) p = p.to(torch::kFloat32);
    if (words.valid < words.count)
      p.narrow(1, words.valid, words.count - words.valid)
          .fill_(-std::numeric_limits<double>::infinity());
    const auto over_tp = [&](const Tensor& each, Combine combine) {
      rank.groups.tp.all_reduce(plan::TrafficKind::tp_cross_entropy, slab(each), combine);
    };
    const Tensor max = p.amax(1);
    over_tp(max, Combine::max);
    p.sub_(max.unsqueeze(1));
    const Tensor target = p.gather(1, words.index).squeeze_(1).mul_(words.here);
    over_tp(target, Combine::sum);
    p.exp_();
    const Tensor sum = p.sum(1);
    over_tp(sum, Combine::sum);
    p.div_(sum.unsqueeze(1));
    ctx->save_for_backward({p, targets});
    ctx->saved_data["format"] = logits.scalar_type();
    ctx->saved_data["shape"] = logits.sizes().vec();
    return sum.log().sub_(target).sum().mul_(loss->scale);
  }

  static tensor_list backward(AutogradContext* ctx, tensor_list gradients) {
    const Loss& loss = load_address<Loss>(ctx);
    const tensor_list saved = ctx->get_saved_variables();
    Tensor p = saved[0];
    const Words words(p, saved[1], loss);
    p.scatter_add_(1, words.index, words.here.to(p.scalar_type()).neg_().unsqueeze_(1));
    p.mul_(loss.scale * gradients[0].item<double>());
    return {
        p.to(ctx->saved_data["format"].toScalarType()).view(ctx->saved_data["shape"].toIntVector()),
        Tensor(), Tensor()};
  }
};

}  // namespace

Tensor column_linear(const Tensor& x, const Linear& linear) {
  return ColumnLinear::apply(x, &linear);
}
Tensor row_linear(const Tensor& x, const Linear& linear) { return RowLinear::apply(x, &linear); }
Tensor normalize(const Tensor& x, const Norm& norm) {
  return norm.bias != nullptr ? LayerNorm::apply(x, &norm) : RmsNorm::apply(x, &norm);
}
Tensor attention(const Tensor& qkv, const Heads& heads) { return Attention::apply(qkv, &heads); }
Tensor swiglu(const Tensor& x) { return SwiGlu::apply(x); }
Tensor cross_entropy(const Tensor& logits, const Tensor& targets, const Loss& loss) {
  return CrossEntropy::apply(logits, targets, &loss);
}

}  // namespace rankwright::runtime
