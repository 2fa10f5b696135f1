#include <nlohmann/json.hpp>

#include "rankwright/report/render/labels.h"
#include "rankwright/report/sweep/sweep_text.h"

namespace rankwright::report {
namespace {

/// Returns a number, or the name of a value that is not a number.
nlohmann::ordered_json make_swept_value(const planner::SweepKey& key, i64 value) {
  if (key.names == nullptr) return value;
  return format_bare_value(key, value);
}

}  // namespace

std::string make_sweep_json(const planner::SweepAnswer& answer) {
  const planner::SweepView& view = answer.view;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const planner::SweepRow& row : view.rows) {
    const plan::Plan& p = row.config.plan;
    nlohmann::ordered_json one = {{"value", make_swept_value(*view.key, row.value)},
                                  {"own", row.own}};
    if (!row.estimated()) {
      one["impossible"] = row.impossible;
      rows.push_back(std::move(one));
      continue;
    }
    one["plan"] = {{"tp", p.tp},
                   {"cp", p.cp},
                   {"pp", p.pp},
                   {"dp", p.dp},
                   {"ep", p.ep},
                   {"zero", p.zero},
                   {"virtual_stages", p.virtual_stages},
                   {"schedule", name(p.schedule)},
                   {"micro_batch", p.micro_batch}};
    one["world"] = row.config.world;
    one["global_batch"] = row.config.job.global_batch;
    one["sequence"] = row.config.job.sequence;
    one["microbatches"] = row.config.microbatches();
    one["ideal_bubble"] = row.bubble;
    one["step_seconds"] = row.estimate.time().value;
    one["tokens_per_second_per_gpu"] = row.tokens;
    one["mfu"] = row.mfu;
    one["memory_bytes"] = row.estimate.memory.total().value;
    one["fullest_pp_rank"] = row.estimate.memory.pp_rank;
    one["state_bytes"] = row.estimate.memory.states().value;
    one["fits"] = row.estimate.fits();
    one["verdict"] = name(row.estimate.verdict());
    one["exposed_communication_seconds"] = row.exposed.value;
    one["link"] =
        row.link.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(row.link);
    one["refused_by"] =
        row.refused.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(row.refused);
    rows.push_back(std::move(one));
  }
  nlohmann::ordered_json json = {{"schema", "rankwright.sweep/1"},
                                 {"headline", format_headline(answer.plan.config())},
                                 {"key", view.key->name},
                                 {"now", make_swept_value(*view.key, view.now)},
                                 {"fixed", view.fixed},
                                 {"best", nullptr},
                                 {"tie_band", view.tie_band},
                                 {"rows", rows}};
  if (view.best) json["best"] = make_swept_value(*view.key, view.rows[*view.best].value);
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rankwright::report
