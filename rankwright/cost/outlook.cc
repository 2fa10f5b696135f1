#include "rankwright/cost/outlook.h"

#include <algorithm>

#include "rankwright/cost/bubble.h"
#include "rankwright/cost/work.h"

namespace rankwright {
namespace {

Seconds& bucket(Outlook& look, GroupKind kind) {
  switch (kind) {
    case GroupKind::tp:
      return look.tensor;
    case GroupKind::cp:
      return look.context;
    case GroupKind::ep:
    case GroupKind::etp:
      return look.expert;
    case GroupKind::pp:
      return look.pipeline;
    case GroupKind::mirror:
      return look.mirror;
    default:
      return look.data;
  }
}

}  // namespace

FlopsPerSecond peak(const Device& device, Dtype dtype) {
  if (dtype == Dtype::fp8 && device.fp8.value > 0) return device.fp8;
  return device.bf16.value > 0 ? device.bf16 : device.fp16;
}

Outlook outlook(const Setup& setup, const std::vector<PricedTraffic>& rows) {
  const Plan& plan = setup.plan;
  Outlook look;
  for (const PricedTraffic& row : rows) bucket(look, row.traffic.group) += row.total;

  // O1: forward, twice that backward, and forward again for what is recomputed.
  const std::vector<Flops> once = work(setup);
  const std::vector<Flops> again = work_again(setup);
  Flops busiest{};
  for (std::size_t r = 0; r < once.size(); ++r) busiest = std::max(busiest, 3 * once[r] + again[r]);
  const double tokens = double(setup.microbatches()) * double(plan.micro_batch) *
                        double(setup.job.sequence) / double(plan.cp) / double(plan.tp);
  const FlopsPerSecond rate =
      kAssumedEfficiency * peak(setup.cluster.device, setup.job.param_dtype);
  if (rate.value > 0) look.compute = tokens * busiest / rate;

  // O2
  look.bubble = bubble_ratio(plan.schedule, plan.pp, plan.virtual_stages, setup.microbatches()) *
                look.compute;
  // O3: gradients hide behind the backward of the last microbatch; what every microbatch sends
  // (ZeRO-2 and 3) behind all of compute.
  const double hidden = plan.zero >= 2 ? 1 : 2.0 / 3 / double(setup.microbatches());
  look.data_shown =
      plan.overlap.grad_reduce ? std::max(Seconds{}, look.data - hidden * look.compute) : look.data;
  return look;
}

std::vector<Outlook::Part> Outlook::parts() const {
  std::vector<Part> all{{"tensor parallelism", tensor},    {"context parallelism", context},
                        {"expert parallelism", expert},    {"pipeline sends", pipeline},
                        {"the pipeline bubble", bubble},   {"data parallelism", data_shown},
                        {"DualPipe's second copy", mirror}};
  all.erase(std::remove_if(all.begin(), all.end(),
                           [](const Part& part) { return part.time <= Seconds{}; }),
            all.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const Part& a, const Part& b) { return a.time > b.time; });
  return all;
}

Seconds Outlook::step() const {
  return compute + tensor + context + expert + pipeline + bubble + mirror + data_shown;
}

}  // namespace rankwright
