// Tests whether calibrating with a run of one plan improves the predictions of others: in each
// group of published runs of one family, model, GPU and number format, the first run calibrates and
// the others are predicted with and without it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <tuple>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/step.h"
#include "rankwright/validate/calibrate.h"
#include "tests/support/runs.h"

namespace rankwright::validate {
namespace calibrate_published_test {

struct CalibrationErrors {
  std::vector<double> before{}, after{};
  std::size_t groups = 0, refused = 0;
};

double mean(const std::vector<double>& all) {
  double sum = 0;
  for (const double one : all) sum += one;
  return all.empty() ? 0 : sum / double(all.size());
}

double p90(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[std::size_t(std::ceil(0.9 * double(all.size()))) - 1];
}

CalibrationErrors find_calibration_errors() {
  std::map<std::tuple<std::string, std::string, std::string, std::string, i64>,
           std::vector<std::pair<const Run*, const rankwright::plan::TrainingConfig*>>>
      groups;
  const std::vector<Case> cases = make_cases(published("runs.csv").scored);
  for (const Case& one : cases) {
    if (one.run.measured.value <= 0 || one.run.sparse) continue;
    const rankwright::plan::TrainingConfig& config =
        one.options[predict(one, catalog::get_calibration()).option];
    groups[{one.run.family, one.run.model, one.run.gpu, one.run.precision, config.job.sequence}]
        .push_back({&one.run, &config});
  }
  CalibrationErrors errors;
  for (const auto& [name, runs] : groups) {
    if (runs.size() < 2) continue;
    importer::RunLog log;
    add_step(log, {.iteration = 1, .time = runs.front().first->measured});
    const Result<plan::RunCalibration> found =
        calibrate(*runs.front().second, catalog::get_calibration(), log, "run.log");
    if (!found) {
      ++errors.refused;
      continue;
    }
    ++errors.groups;
    for (std::size_t i = 1; i < runs.size(); ++i) {
      const Run& run = *runs[i].first;
      const rankwright::plan::TrainingConfig& config = *runs[i].second;
      const auto error = [&](const cluster::Calibration& c) {
        return std::abs(cost::estimate_step_time(config, c).total() / run.measured - 1);
      };
      errors.before.push_back(error(catalog::get_calibration()));
      errors.after.push_back(error(found->calibration));
    }
  }
  return errors;
}

TEST(CalibratePublished, OneRunImprovesOtherPlansOfItsModel) {
  const CalibrationErrors errors = find_calibration_errors();
  // The constants were fitted on these rows, so a run can improve little.
  std::cout << errors.before.size() << " rows of " << errors.groups << " groups: mean error "
            << 100 * mean(errors.before) << " % becomes " << 100 * mean(errors.after)
            << " %, of nine of ten " << 100 * p90(errors.before) << " % " << 100 * p90(errors.after)
            << " %\n";
  EXPECT_GE(errors.groups, 50u);
  EXPECT_EQ(errors.refused, 0u);
  EXPECT_LT(mean(errors.after), mean(errors.before));
  EXPECT_LE(p90(errors.after), 0.135);
}

}  // namespace calibrate_published_test
}  // namespace rankwright::validate
