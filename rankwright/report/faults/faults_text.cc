#include "rankwright/report/faults/faults_text.h"

#include "rankwright/report/faults/failure_text.h"
#include "rankwright/report/faults/straggler_text.h"

namespace rankwright::report {

std::string render_faults_text(const planner::FaultsAnswer& answer, const Paint& paint,
                               std::size_t width) {
  const planner::Faults& faults = answer.faults;
  const plan::TrainingConfig& slowed = answer.slowed;
  std::string out;
  const auto add = [&](const std::string& part) { out += (out.empty() ? "" : "\n") + part; };
  if (faults.links) add(render_link_text(answer.plan.config(), *faults.links, paint, width));
  if (faults.links && (faults.slow || faults.dead)) add("With these links:\n");
  if (faults.slow)
    add(render_straggler_text(slowed, *faults.slow, faults.mitigation, paint, width));
  if (faults.dead)
    add(render_failure_text(slowed, *faults.dead, faults.failure, faults.from, paint, width));
  return out;
}

}  // namespace rankwright::report
