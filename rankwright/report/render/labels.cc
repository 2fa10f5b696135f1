#include "rankwright/report/render/labels.h"

#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/cost/rates.h"
#include "rankwright/cost/traffic_cost.h"
#include "rankwright/model/parameters.h"

namespace rankwright::report {
namespace {

/// Tags that follow the degrees: micro-batch and recomputation.
constexpr std::size_t kTagsAfterDegrees = 2;

std::string find_level_name(const plan::TrainingConfig& s, mesh::GroupKind kind) {
  const int level = cost::find_span(s, kind).level;
  return level < 0 ? "" : s.cluster.levels[std::size_t(level)].name;
}

}  // namespace

std::string name_assumed_model(const plan::TrainingConfig& s) {
  return s.reference_model ? fmt::format(" ({}, assumed)", s.model.name) : "";
}

namespace {

/// Returns the heading of every report with `devices` between the model and the batch.
std::string format_headline_on(const plan::TrainingConfig& s, const std::string& devices) {
  const std::string model =
      s.reference_model
          ? fmt::format("no model given (estimated with {} layers)", s.model.name)
          : fmt::format("{} ({} parameters)", s.model.name,
                        format_short_count(double(count_parameters(s.model).total())));
  const double tokens = double(s.job.global_batch) * double(s.job.sequence);
  return fmt::format("{} on {} · {} x {} = {} tokens per step", model, devices,
                     count(s.job.global_batch), count(s.job.sequence), format_short_count(tokens));
}

}  // namespace

std::string format_headline(const plan::TrainingConfig& s) {
  const i64 host = std::max<i64>(1, s.cluster.host_devices);
  return format_headline_on(s, fmt::format("{} {}, {} x {}", count(s.world), s.cluster.device.name,
                                           plural(ceil_div(s.world, host), "node", "nodes"), host));
}

std::string format_range_headline(const plan::TrainingConfig& s, i64 min, i64 max) {
  return format_headline_on(
      s, fmt::format("{} to {} {}", count(min), count(max), s.cluster.device.name));
}

std::string format_short_headline(const plan::TrainingConfig& s, rules::Target target) {
  const i64 host = std::max<i64>(1, s.cluster.host_devices);
  const std::string model = s.reference_model
                                ? fmt::format("No model given (estimated with {})", s.model.name)
                                : s.model.name;
  const double tokens = double(s.job.global_batch) * double(s.job.sequence);
  const std::string place =
      s.world <= host ? "" : fmt::format(" ({} nodes)", count(ceil_div(s.world, host)));
  return fmt::format(
      "{} on {} {}{}, {} tokens/step{}", model, count(s.world), s.cluster.device.name, place,
      format_short_count(tokens),
      target == rules::Target::any ? "" : fmt::format(", for {}", rules::row(target).title));
}

std::vector<std::string> list_degree_tags(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  std::vector<std::string> tags;
  const auto axis = [&](std::string_view name, i64 degree, mesh::GroupKind kind,
                        const std::string& more = "") {
    tags.push_back(degree == 1 ? fmt::format("{} 1", name)
                               : fmt::format("{} {}{} ({})", name, count(degree), more,
                                             find_level_name(s, kind)));
  };
  axis("TP", p.tp, mesh::GroupKind::tp);
  if (p.cp > 1) axis("CP", p.cp, mesh::GroupKind::cp);
  axis("PP", p.pp, mesh::GroupKind::pp,
       p.virtual_stages > 1 ? fmt::format(" x {} virtual", p.virtual_stages) : "");
  axis("DP", p.dp, mesh::GroupKind::dp);
  if (p.ep > 1) axis("EP", p.ep, mesh::GroupKind::ep);
  tags.push_back(p.zero == 0 ? "no ZeRO" : fmt::format("ZeRO-{}", p.zero));
  tags.push_back(fmt::format("micro-batch {}", p.micro_batch));
  tags.push_back(describe_recomputation(p));
  return tags;
}

std::string describe_recomputation(const plan::Plan& p) {
  if (p.recompute == plan::Recompute::none) return "no recomputation";
  if (p.recompute == plan::Recompute::full && p.recompute_layers > 0)
    return fmt::format("full recomputation of {} per stage",
                       plural(p.recompute_layers, "layer", "layers"));
  if (p.recompute == plan::Recompute::selective && p.modules != plan::RecomputeModules{})
    return fmt::format("recomputes {}", show(p.modules, ", "));
  return fmt::format("{} recomputation", name(p.recompute));
}

std::string format_placed_degrees(const plan::TrainingConfig& s) {
  std::vector<std::string> tags = list_degree_tags(s);
  tags.resize(tags.size() - kTagsAfterDegrees);
  return fmt::format("{}", fmt::join(tags, " · "));
}

std::string format_degrees(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  std::vector<std::string> parts;
  const auto axis = [&](std::string_view name, i64 degree, const std::string& more = "") {
    if (degree > 1) parts.push_back(fmt::format("{} {}{}", name, count(degree), more));
  };
  axis("TP", p.tp);
  axis("CP", p.cp);
  axis("PP", p.pp, p.virtual_stages > 1 ? fmt::format(" x {}", p.virtual_stages) : "");
  axis("DP", p.dp);
  axis("EP", p.ep);
  if (s.model.sparse() && p.etp != (p.ep > 1 ? 1 : p.tp)) axis("ETP", p.etp);
  if (p.zero > 0) parts.push_back(fmt::format("ZeRO-{}", p.zero));
  if (p.recompute != plan::Recompute::none) parts.push_back(describe_recomputation(p));
  return parts.empty() ? "one GPU" : fmt::format("{}", fmt::join(parts, " · "));
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
