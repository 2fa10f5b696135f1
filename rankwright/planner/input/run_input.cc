#include "rankwright/planner/input/run_input.h"

#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/import/plan/plan_format.h"

namespace rankwright::planner {

Result<std::shared_ptr<const plan::RunCalibration>> read_calibration(
    const std::string& text, const std::string& name, const plan::TrainingConfig& ran) {
  const Result<importer::RunLog> log = importer::read_run_log(text, name);
  if (!log) return fail(log.error());
  Result<plan::RunCalibration> found =
      validate::calibrate(ran, catalog::get_calibration(), *log, name);
  if (!found) return fail(found.error());
  return std::make_shared<const plan::RunCalibration>(std::move(*found));
}

void calibrate_by(plan::TrainingConfig& config, std::shared_ptr<const plan::RunCalibration> run) {
  if (!run) return;
  config.calibrated = std::move(run);
  config.assumed.push_back({"calibration",
                            fmt::format("{:.4f}", config.calibrated->calibration.pace),
                            describe_calibration(config)});
}

std::string describe_calibration(const plan::TrainingConfig& s) {
  if (!s.calibrated) return {};
  const plan::RunCalibration& run = *s.calibrated;
  std::string text = fmt::format(
      "calibrated with {} of {}: compute runs at {:.2f} of its usual rates",
      plural(run.steps, "line", "lines"), make_excerpt(run.log, 80), run.calibration.pace);
  if (run.calibration.held > Bytes{})
    text += fmt::format(", {} above the memory estimate", show_memory(run.calibration.held));
  if (run.model != s.model || run.device != s.cluster.device)
    text += "; another model or device, so the error band stays as wide";
  return text;
}

std::optional<importer::PlanFile> read_plan_of_log(const std::string& text,
                                                   const std::string& name) {
  const importer::PlanFormat* const format = importer::find_plan_format("megatron");
  const std::string_view arguments = find_arguments(text);
  if (format == nullptr || arguments.empty()) return std::nullopt;
  importer::PlanFile file =
      read_plan_as(*format, std::string(arguments), name, importer::refuse_file);
  if (has_errors(file.findings)) return std::nullopt;
  return file;
}

std::string_view find_arguments(std::string_view log) {
  constexpr std::string_view kBegin = " arguments ---", kEnd = "end of arguments";
  const std::size_t begin = log.find(kBegin);
  if (begin == std::string_view::npos) return {};
  const std::size_t first = log.find('\n', begin);
  const std::size_t end = log.find(kEnd, begin);
  if (first == std::string_view::npos || end == std::string_view::npos || end < first) return {};
  const std::size_t last = log.rfind('\n', end);
  return log.substr(first + 1, last - first);
}

}  // namespace rankwright::planner
