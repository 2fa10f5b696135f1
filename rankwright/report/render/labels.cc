#include "rankwright/report/render/labels.h"

#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/cost/rates.h"
#include "rankwright/cost/traffic_cost.h"
#include "rankwright/model/parameters.h"

namespace rankwright::report {
namespace {

std::string find_level_name(const plan::TrainingConfig& s, mesh::GroupKind kind) {
  const int level = cost::find_span(s, kind).level;
  return level < 0 ? "" : s.cluster.levels[std::size_t(level)].name;
}

}  // namespace

std::string name_assumed_model(const plan::TrainingConfig& s) {
  return s.reference_model ? fmt::format(" ({}, assumed)", s.model.name) : "";
}

std::string format_headline(const plan::TrainingConfig& s) {
  const std::string model =
      s.reference_model
          ? fmt::format("no model given (estimated with {} layers)", s.model.name)
          : fmt::format("{} ({} parameters)", s.model.name,
                        format_short_count(double(count_parameters(s.model).total())));
  const i64 host = std::max<i64>(1, s.cluster.host_devices);
  const double tokens = double(s.job.global_batch) * double(s.job.sequence);
  return fmt::format("{} on {} {}, {} x {} · {} x {} = {} tokens a step", model, count(s.world),
                     s.cluster.device.name, plural(ceil_div(s.world, host), "node", "nodes"), host,
                     count(s.job.global_batch), count(s.job.sequence), format_short_count(tokens));
}

std::vector<std::string> list_degree_tags(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  std::vector<std::string> tags;
  const auto axis = [&](std::string_view name, i64 degree, mesh::GroupKind kind,
                        const std::string& more = "") {
    tags.push_back(degree == 1 ? fmt::format("{} 1", name)
                               : fmt::format("{} {}{} on {}", name, count(degree), more,
                                             find_level_name(s, kind)));
  };
  axis("tp", p.tp, mesh::GroupKind::tp);
  if (p.cp > 1) axis("cp", p.cp, mesh::GroupKind::cp);
  axis("pp", p.pp, mesh::GroupKind::pp,
       p.virtual_stages > 1 ? fmt::format(" x {} chunks", p.virtual_stages) : "");
  axis("dp", p.dp, mesh::GroupKind::dp);
  if (p.ep > 1) axis("ep", p.ep, mesh::GroupKind::ep);
  tags.push_back(p.zero == 0 ? "no ZeRO" : fmt::format("ZeRO-{}", p.zero));
  tags.push_back(fmt::format("microbatch {}", p.micro_batch));
  if (p.recompute == plan::Recompute::none)
    tags.emplace_back("no recompute");
  else if (p.recompute == plan::Recompute::full && p.recompute_layers > 0)
    tags.push_back(fmt::format("full recompute of {} a pp rank",
                               plural(p.recompute_layers, "layer", "layers")));
  else
    tags.push_back(fmt::format("{} recompute", name(p.recompute)));
  return tags;
}

std::string format_degree_tags(const plan::TrainingConfig& s) {
  return fmt::format("{}", fmt::join(list_degree_tags(s), " · "));
}

std::string format_mfu(const plan::TrainingConfig& config, Seconds step,
                       model::FlopsConvention convention) {
  const std::string_view narrow = cost::name_narrow_peak(config);
  return percent(cost::mfu(config, step, convention)) +
         (narrow.empty() ? "" : fmt::format(" of the {} peak", narrow));
}

}  // namespace rankwright::report
