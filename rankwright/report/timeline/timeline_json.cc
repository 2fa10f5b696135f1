#include "rankwright/report/timeline/timeline_json.h"

#include "rankwright/report/explain/config_json.h"
#include "rankwright/report/timeline/timeline_drawing.h"
#include "rankwright/report/timeline/timeline_sentences.h"

namespace rankwright::report {
namespace {

using nlohmann::ordered_json;

ordered_json make_rank_json(const planner::RankSummary& r) {
  return {{"pp_rank", r.pp_rank},
          {"cells_seconds", r.cells.value},
          {"steps_seconds", r.steps.value},
          {"idle_seconds", r.idle.value},
          {"stage_activations_held", r.held},
          {"first_cell_seconds", r.phases.first.value},
          {"first_backward_seconds", r.phases.warm.value},
          {"last_forward_seconds", r.phases.drain.value},
          {"last_cell_seconds", r.phases.last.value},
          {"critical_path_seconds", r.critical.value}};
}

}  // namespace

ordered_json make_timeline_document(const planner::SimulatedStep& p,
                                    const planner::TimelineSummary& s, std::string_view heading) {
  ordered_json ranks = ordered_json::array(), bands = ordered_json::array();
  for (const planner::RankSummary& rank : s.ranks) ranks.push_back(make_rank_json(rank));
  for (const planner::Band& band : s.bands)
    bands.push_back({{"phase", band.name},
                     {"begin_seconds", band.begin.value},
                     {"end_seconds", band.end.value}});
  ordered_json kinds = ordered_json::object();
  for (const planner::EventKind kind : find_used_kinds(p.program))
    kinds[std::string(row(kind).category)] = s.critical[std::size_t(kind)].value;
  ordered_json words = ordered_json::object();
  for (const Remark& remark : write_remarks(p, s)) words[std::string(remark.name)] = remark.text;
  return {{"schema", "rankwright.timeline/1"},
          {"headline", heading},
          {"schedule", p.what},
          {"pp", p.program.pp()},
          {"chunks", p.shape.chunks},
          {"microbatches", p.program.microbatches},
          {"cells", s.cells},
          {"times", p.times},
          {"step_seconds", s.end.value},
          {"idle_fraction", s.idle},
          {"phases", bands},
          {"ranks", ranks},
          {"critical_path",
           {{"longest_on_pp_rank", s.longest().pp_rank},
            {"seconds_by_kind", kinds},
            {"transfer_seconds", s.travelled.value}}},
          {"words", words}};
}

std::string make_timeline_json(const planner::SimulatedStep& p, const planner::TimelineSummary& s,
                               std::string_view heading) {
  return dump_json(make_timeline_document(p, s, heading));
}

}  // namespace rankwright::report
