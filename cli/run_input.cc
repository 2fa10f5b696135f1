#include "cli/run_input.h"

#include <fmt/format.h>

#include "rankwright/catalog/catalog.h"
#include "rankwright/import/plan_format.h"
#include "rankwright/report/gap_view.h"
#include "rankwright/report/words.h"

namespace rankwright::cli {

Result<std::shared_ptr<const RunCalibration>> read_calibration(const std::string& text,
                                                               const std::string& name,
                                                               const Setup& ran) {
  const Result<RunLog> log = read_run_log(text, name);
  if (!log) return fail(log.error());
  Result<RunCalibration> found = calibrate(ran, calibration(), *log, name);
  if (!found) return fail(found.error());
  return std::make_shared<const RunCalibration>(std::move(*found));
}

void calibrate_by(Setup& setup, std::shared_ptr<const RunCalibration> run) {
  if (!run) return;
  setup.calibrated = std::move(run);
  setup.assumed.push_back({"calibration", fmt::format("{:.4f}", setup.calibrated->calibration.pace),
                           calibration_words(setup)});
}

std::optional<PlanFile> plan_of_log(const std::string& text, const std::string& name) {
  const PlanFormat* const format = find_plan_format("megatron");
  const std::string_view arguments = arguments_of(text);
  if (format == nullptr || arguments.empty()) return std::nullopt;
  PlanFile file = read_plan_as(*format, std::string(arguments), name, refuse_file);
  if (has_errors(file.findings)) return std::nullopt;
  return file;
}

}  // namespace rankwright::cli
