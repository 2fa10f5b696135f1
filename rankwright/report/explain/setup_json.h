// A TrainingConfig as JSON, for every schema that has one: model, cluster, job, plan and what was
// assumed.
#pragma once

#include <nlohmann/json.hpp>

#include "rankwright/cost/estimate.h"

namespace rankwright::report {

nlohmann::ordered_json model_json(const plan::TrainingConfig& config);
nlohmann::ordered_json cluster_json(const plan::TrainingConfig& config);
nlohmann::ordered_json job_json(const plan::TrainingConfig& config);
nlohmann::ordered_json plan_json(const plan::TrainingConfig& config);
nlohmann::ordered_json assumed_json(const plan::TrainingConfig& config);
nlohmann::ordered_json band_json(const cost::ErrorBand& band);

/// As every verb prints it: indented, with what is no UTF-8 replaced.
std::string dumped(const nlohmann::ordered_json& document);

}  // namespace rankwright::report
