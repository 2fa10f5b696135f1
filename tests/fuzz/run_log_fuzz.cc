// Any text as the log of a run: refused, or read; and whatever it says is compared with a plan and
// calibrates its prices, or is refused for that.
#include <cmath>

#include "rankwright/catalog/catalog.h"
#include "rankwright/import/plan/plan_file.h"
#include "rankwright/report/compare/gap_text.h"
#include "rankwright/validate/calibrate.h"
#include "tests/fuzz/fuzz.h"

using namespace rankwright;

namespace {

const plan::TrainingConfig& example_plan() {
  static const plan::TrainingConfig config =
      resolve(importer::read_plan("world_size: 8\nmodel: llama-3.2-1b\ncluster: dgx-h100\n"
                                  "parallelism: {tp_size: 2, pp_size: 2, dp_size: 2}\n"
                                  "job: {global_batch: 16, sequence: 2048}\n",
                                  "plan.yaml", importer::refuse_file)
                  .draft);
  return config;
}

}  // namespace

int fuzz_run_log(const std::uint8_t* data, std::size_t size) {
  const Result<importer::RunLog> log = importer::read_run_log(as_text(data, size), "fuzz.log");
  if (!log) {
    check_finding(log.error());
    return 0;
  }
  RW_CHECK(log->oom || !log->steps.empty());
  for (const importer::RunStep& step : log->steps) {
    RW_CHECK(step.iteration > 0 && std::isfinite(step.time.value) && step.time.value >= 0);
    RW_CHECK(step.time.value > 0 || step.tokens > 0);
  }
  const planner::GapView view =
      planner::make_gap_view(example_plan(), catalog::get_calibration(), *log, nullptr);
  if (view.time) {
    const importer::MeasuredStep& m = view.time->measured;
    RW_CHECK(m.min <= m.low && m.low <= m.median && m.median <= m.high);
    for (const validate::Explanation& e : view.time->explanations)
      RW_CHECK(std::isfinite(e.score()) && e.factor > 0);
  }
  RW_CHECK(!report::render_gap_text(example_plan(), view, {}, 100).empty());
  RW_CHECK(!report::make_gap_json(example_plan(), view).empty());
  const Result<plan::RunCalibration> found =
      validate::calibrate(example_plan(), catalog::get_calibration(), *log, "fuzz.log");
  if (!found) {
    check_finding(found.error());
  } else {
    RW_CHECK(found->calibration.pace >= validate::kMinPace &&
             found->calibration.pace <= validate::kMaxPace);
  }
  return 0;
}
