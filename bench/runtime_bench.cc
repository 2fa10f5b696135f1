// Measures the overhead of the runtime as ratios within one run:
//
//     runtime_bench                  one rank: our step over the same step in plain libtorch
//     mpirun -n 2 runtime_bench      2 data ranks: our gradient reduction over a bare MPI_Allreduce
//                                    of the same buckets, without overlap
//
// The two variants alternate, so that a slowdown of the machine affects both. Exits with 1 if a
// ratio exceeds its bound: 1.05 for a step, 1.15 for the reduction.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>

#include "rankwright/base/check.h"
#include "rankwright/model/architecture.h"
#include "rankwright/runtime/engine.h"
#include "tests/support/plain_transformer.h"

namespace rankwright::runtime {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kStepBound = 1.05, kReduceBound = 1.15;

plan::TrainingConfig config_of(std::string_view architecture, i64 dp) {
  const bool gpt2 = architecture == "gpt2";
  model::Shapes shapes{.name = "bench",
                       .architecture = std::string(architecture),
                       .hidden = 256,
                       .layers = 4,
                       .heads = 8,
                       .kv_heads = gpt2 ? 8 : 4,
                       .ffn = 1024,
                       .vocab = 2048,
                       .positions = gpt2 ? 128 : 0};
  Result<model::Model> model = build(shapes);
  RW_CHECK(model.has_value());
  plan::TrainingConfig config{.model = *model, .cluster = {}, .job = {}, .plan = {}};
  config.cluster.levels = {{.name = "host", .arity = dp, .bandwidth = {1e9}}};
  config.cluster.host_devices = dp;
  config.job = {.global_batch = 8 * dp,
                .sequence = 128,
                .param_dtype = plan::Dtype::fp32,
                .grad_dtype = plan::Dtype::fp32};
  config.plan.dp = dp;
  config.plan.micro_batch = 4;
  config.plan.bucket_size = 1'000'000;
  config.plan.overlap.grad_reduce = config.plan.overlap.param_gather = false;
  config.world = dp;
  return config;
}

double seconds(const std::function<void()>& work) {
  const Clock::time_point begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + i64(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// Times of two variants that alternate.
struct Turns {
  std::vector<double> ours{}, theirs{};
  double ratio() const { return median(ours) / median(theirs); }
};

/// The reference step in plain libtorch: microbatches, clipping, AdamW with two parameter groups.
class PlainStep {
 public:
  PlainStep(const plan::TrainingConfig& config, Engine& engine)
      : config_(config), plain_(config.model, weights(engine)) {
    std::vector<Tensor> decaying, others;
    for (const Tensor& each : plain_.parameters())
      (each.dim() > 1 ? decaying : others).push_back(each);
    torch::optim::AdamWOptions with(3e-4);
    with.betas({0.9, 0.95}).weight_decay(0.1);
    torch::optim::AdamWOptions without = with;
    without.weight_decay(0);
    std::vector<torch::optim::OptimizerParamGroup> groups;
    groups.emplace_back(decaying, std::make_unique<torch::optim::AdamWOptions>(with));
    groups.emplace_back(others, std::make_unique<torch::optim::AdamWOptions>(without));
    adam_ = std::make_unique<torch::optim::AdamW>(groups, with);
  }

  double run(const Corpus& corpus, i64 step) {
    const i64 batch = config_.plan.micro_batch, length = config_.job.sequence;
    const i64 microbatches = config_.microbatches();
    adam_->zero_grad();
    double sum = 0;
    for (i64 m = 0; m < microbatches; ++m) {
      Tensor all = torch::empty({batch, length + 1}, torch::kInt64);
      for (i64 b = 0; b < batch; ++b) {
        const std::vector<std::int64_t> words =
            corpus.sequence(step, m * batch + b, length).value();
        std::copy(words.begin(), words.end(), all.data_ptr<std::int64_t>() + b * (length + 1));
      }
      const Tensor loss =
          plain_.loss(all.narrow(1, 0, length), all.narrow(1, 1, length)) / double(microbatches);
      loss.backward();
      sum += loss.item<double>();
    }
    torch::nn::utils::clip_grad_norm_(plain_.parameters(), 1.0);
    adam_->step();
    return sum;
  }

 private:
  static std::map<std::string, Tensor> weights(Engine& engine) {
    std::map<std::string, Tensor> all;
    for (const Parameter& parameter : engine.shard().parameters)
      all[parameter.name] = parameter.weight;
    return all;
  }

  const plan::TrainingConfig& config_;
  PlainTransformer plain_;
  std::unique_ptr<torch::optim::AdamW> adam_{};
};

bool bench_step(std::string_view architecture) {
  constexpr i64 kSteps = 15;
  const plan::TrainingConfig config = config_of(architecture, 1);
  Engine engine(config, {}, 0, {});
  PlainStep plain(config, engine);
  const Corpus corpus = Corpus::synthetic(config.model.vocab, 1);
  Turns turns;
  double ours = 0, theirs = 0;
  for (i64 step = 0; step < kSteps; ++step) {
    turns.ours.push_back(seconds([&] { engine.step(corpus, step); }));
    turns.theirs.push_back(seconds([&] { theirs = plain.run(corpus, step); }));
    ours = engine.executor().loss();
  }
  std::cout << fmt::format(
      "{}: a step of ours {:.1f} ms, of plain libtorch {:.1f} ms: ratio {:.3f}, at most {}; loss "
      "{:.5f} and {:.5f}\n",
      architecture, 1e3 * median(turns.ours), 1e3 * median(turns.theirs), turns.ratio(), kStepBound,
      ours, theirs);
  return turns.ratio() <= kStepBound;
}

bool bench_reduction(const World& world) {
  constexpr i64 kRounds = 60;
  const plan::TrainingConfig config = config_of("llama", world.size());
  const Result<Groups> groups = join(config, world, *find_backend("mpi"), nullptr);
  RW_CHECK(groups.has_value());
  Engine engine(config, {}, world.rank(), *groups);
  engine.step(Corpus::synthetic(config.model.vocab, 1), 0);
  ShardedParams& params = engine.params();
  i64 size = 0;
  for (const Parameter& parameter : engine.shard().parameters) size += parameter.size();
  const Tensor bare = torch::ones({size});
  const i64 bucket = config.plan.bucket_size;
  Turns turns;
  for (i64 round = 0; round < kRounds; ++round) {
    params.clear_gradients();
    world.barrier();
    turns.ours.push_back(seconds([&] {
      for (std::size_t b = 0; b < params.buckets(0); ++b) params.begin_reduce(0, b);
      params.finish_reductions();
    }));
    world.barrier();
    turns.theirs.push_back(seconds([&] {
      for (i64 first = 0; first < size; first += bucket)
        MPI_Allreduce(MPI_IN_PLACE, bare.data_ptr<float>() + first,
                      int(std::min(bucket, size - first)), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }));
    bare.fill_(1);
  }
  std::vector<double> worst{turns.ratio()};
  world.max(worst);
  if (world.rank() == 0)
    std::cout << fmt::format(
        "{} buckets of {:.1f} MB over {} ranks: ours {:.2f} ms, bare MPI {:.2f} ms: ratio {:.3f}, "
        "at most {}\n",
        params.buckets(0), 4e-6 * double(bucket), world.size(), 1e3 * median(turns.ours),
        1e3 * median(turns.theirs), worst[0], kReduceBound);
  return worst[0] <= kReduceBound;
}

int bench() {
  torch::set_num_threads(1);
  const Result<std::unique_ptr<World>> world = World::start();
  RW_CHECK(world.has_value());
  if ((*world)->size() > 1) return bench_reduction(**world) ? 0 : 1;
  const bool both[] = {bench_step("gpt2"), bench_step("llama")};
  return both[0] && both[1] ? 0 : 1;
}

}  // namespace
}  // namespace rankwright::runtime

int main() { return rankwright::runtime::bench(); }
