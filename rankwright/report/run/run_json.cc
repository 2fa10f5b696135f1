#include "rankwright/report/run/run_json.h"

#include <nlohmann/json.hpp>

namespace rankwright::report {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kSchema = "rankwright.run/1";

std::string dump_line(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

double rate(i64 tokens, Seconds time) { return time.value > 0 ? double(tokens) / time.value : 0; }

ordered_json make_sent_json(const planner::RunSummary& s, const planner::TrafficComparison& one) {
  const bool named = one.level >= 0 && std::size_t(one.level) < s.level_names.size();
  return {{"communication", row(one.kind).label},
          {"group", name(one.group)},
          {"level", named ? s.level_names[std::size_t(one.level)] : std::string()},
          {"predicted_calls", one.predicted_calls},
          {"calls", one.calls},
          {"predicted_bytes", one.predicted.value},
          {"bytes", one.sent.value},
          {"waited_seconds", one.waited.value},
          {"ranks_off", one.ranks_off},
          {"equal", one.equal()}};
}

}  // namespace

std::string make_step_json(const planner::TrainedStep& step, i64 tokens) {
  return dump_line({{"type", "step"},
                    {"schema", kSchema},
                    {"step", step.step},
                    {"loss", step.loss},
                    {"gradient_norm", step.gradient_norm},
                    {"seconds", step.time.value},
                    {"tokens_per_second", rate(tokens, step.time)},
                    {"outside_cells_fraction", step.outside_cells}});
}

std::string make_summary_json(const planner::RunSummary& s) {
  ordered_json sent = ordered_json::array(), memory = ordered_json::array();
  for (const planner::TrafficComparison& one : s.sent) sent.push_back(make_sent_json(s, one));
  for (const planner::RunMemory& one : s.memory)
    memory.push_back({{"pp_rank", one.pp_rank},
                      {"predicted_bytes", one.predicted.value},
                      {"peak_bytes", one.peak.value},
                      {"rank", one.rank}});
  ordered_json predicted;  // null if the machine was not measured
  if (s.predicted)
    predicted = {{"step_seconds", s.predicted->step.value},
                 {"outside_cells_fraction", s.predicted->outside_cells}};
  ordered_json losses;
  if (!s.steps.empty()) losses = {{"first", s.steps.front().loss}, {"last", s.steps.back().loss}};
  return dump_line({{"type", "summary"},
                    {"schema", kSchema},
                    {"ranks", s.ranks},
                    {"steps", s.steps.size()},
                    {"steps_wanted", s.wanted},
                    {"stopped", s.stopped},
                    {"loss", losses},
                    {"step_seconds", s.step_time().value},
                    {"tokens_per_second", s.tokens_per_second()},
                    {"outside_cells_fraction", s.outside_cells()},
                    {"predicted", predicted},
                    {"bytes_equal", s.bytes_equal()},
                    {"predicted_bytes", s.predicted_bytes().value},
                    {"bytes", s.sent_bytes().value},
                    {"sent", sent},
                    {"memory", memory}});
}

}  // namespace rankwright::report
