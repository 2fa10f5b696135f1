// The time of one microbatch in one layer, in the output head and in the embedding, on one rank, by
// pass (forward, input gradient, weight gradient, recomputation) and by kind of work: matmuls by
// shape, attention by kernel, memory-bound operations, exposed collectives. Formulas L1 to L9.
// Bubbles and data parallelism are in step.h.
#pragma once

#include "rankwright/cost/links.h"
#include "rankwright/cost/rates.h"
#include "rankwright/model/model.h"
#include "rankwright/plan/messages.h"

namespace rankwright::cost {

/// The time of communication: `exposed` time delays the step, `overlapped` time runs beside
/// computation. Together they are the calls times the time of each call (Links::cost).
struct CommTime {
  Seconds exposed{}, overlapped{};

  Seconds total() const { return exposed + overlapped; }
  CommTime& operator+=(const CommTime& other) {
    exposed += other.exposed;
    overlapped += other.overlapped;
    return *this;
  }
  friend CommTime operator+(CommTime a, const CommTime& b) { return a += b; }
  friend CommTime operator*(double times, const CommTime& c) {
    return {times * c.exposed, times * c.overlapped};
  }
};

/// The time of one pass, by kind of work.
struct Pass {
  Seconds matmul{};
  Seconds attention{};  // the attention core
  Seconds elementwise{};
  Seconds casts{};
  Seconds permute{};  // of tokens to and from their experts, on the rank
  Seconds launch{};   // kernel-launch overhead
  CommTime tp{}, cp{}, ep{};

  Seconds compute() const { return matmul + attention + elementwise + casts + permute + launch; }
  Seconds total() const { return compute() + tp.exposed + cp.exposed + ep.exposed; }
  Pass& operator+=(const Pass& other);
  friend Pass operator*(double times, const Pass& pass);
};

/// The forward times of the parts of a layer that selective recomputation may run again.
struct ModuleTimes {
  bool by_op = false;       // every second matmul and the operations between, not modules
  Seconds attention{};      // the attention core
  CommTime cp{};            // the exchange of keys and values around it
  Seconds norms{};          // elementwise
  Seconds up{};             // matmuls of latent attention
  Seconds mlp{}, gating{};  // of a layer without experts: matmuls; elementwise operations
  Seconds activation{};     // elementwise operations of experts
  Pass experts{};           // with dispatch and combine
  Pass shared{};            // the part of `experts` that every token visits
  Pass gathers{};           // of inputs that are kept without recomputation (eager PyTorch)
  i64 blocks = 0;           // attention and feed-forward, each with a norm
  /// The time of the host for launches (L8): of the backward, of the experts once more, and of a
  /// recomputed module. 0 if launches are counted otherwise.
  Seconds host_backward{}, host_experts{}, host_module{};
};

/// The time of one microbatch in one layer.
struct LayerTime {
  Pass forward{};
  Pass input{};           // input gradient
  Pass weight{};          // weight gradient
  ModuleTimes modules{};  // that selective recomputation may run again
  Pass again{};           // recomputation by the plan's policy, before the backward
  bool runs_backward = true;

  Seconds backward() const { return input.total() + weight.total(); }
  /// Switches to the recomputation policy of a plan.
  void recompute(const plan::Plan& plan);
};

/// The times of tensor-parallel collectives per call, with the fraction that is exposed (L5).
class TensorComm {
 public:
  TensorComm(const plan::TrainingConfig& config, const Links& links,
             const cluster::Calibration& calibration);

  struct Passes {
    CommTime forward{}, backward{};
    CommTime gathers{};  // of inputs that only selective recomputation gathers again
  };
  /// Returns the collectives around one block with these inputs. With sequence parallelism the
  /// backward gathers the inputs of matmuls again, mostly overlapped by the weight gradient.
  /// PyTorch without torch.compile keeps them.
  Passes block(const plan::BlockInputs& inputs) const;
  Passes embedding() const;
  Passes head() const;  // with the loss
  /// Returns the collectives around the projection of an MTP module.
  Passes projection() const;

 private:
  CommTime gather(Bytes size) const { return call(plan::Op::all_gather, size, shown_); }
  CommTime scatter(Bytes size) const { return call(plan::Op::reduce_scatter, size, shown_); }
  CommTime regather(Bytes size) const;
  CommTime reduce(Bytes size) const { return call(plan::Op::all_reduce, size, 1); }
  CommTime call(plan::Op op, Bytes size, double exposed) const;
  Seconds time(plan::Op op, Bytes size) const;

  const plan::TrainingConfig& config_;
  const Links& links_;
  plan::Messages sizes_;
  double shown_ = 1;  // fraction of a gather or scatter that is exposed
  // The calls on hidden states, which most of the traffic consists of:
  Seconds gather_hidden_{}, scatter_hidden_{}, reduce_hidden_{};
};

/// Estimates the time of a layer. `again` is the recomputation of a layer that the plan recomputes,
/// even if it does not recompute all layers.
LayerTime estimate_layer_time(const plan::TrainingConfig& config, const model::Layer& layer,
                              const Rates& rates, const Links& links, const TensorComm& tensor,
                              const cluster::Calibration& calibration);

/// The time of one microbatch in the embedding, in the output head, or in the parts of an MTP
/// module outside its layer.
struct EmbeddingHeadTime {
  Pass forward{}, input{}, weight{};

  EmbeddingHeadTime& operator+=(const EmbeddingHeadTime& other) {
    forward += other.forward;
    input += other.input;
    weight += other.weight;
    return *this;
  }
  /// Returns all passes together.
  Pass sum() const {
    Pass all = forward;
    all += input;
    all += weight;
    return all;
  }
};

/// Estimates the time of the output head and the loss.
EmbeddingHeadTime estimate_head_time(const plan::TrainingConfig& config, const Rates& rates,
                                     const Links& links, const TensorComm& tensor,
                                     const cluster::Calibration& calibration);

/// Estimates the time of the embedding.
EmbeddingHeadTime estimate_embedding_time(const plan::TrainingConfig& config, const Rates& rates,
                                          const Links& links, const TensorComm& tensor,
                                          const cluster::Calibration& calibration);

/// Estimates the time of the projection of an MTP module.
EmbeddingHeadTime estimate_projection_time(const plan::TrainingConfig& config, const Rates& rates,
                                           const Links& links, const TensorComm& tensor,
                                           const cluster::Calibration& calibration);

}  // namespace rankwright::cost
