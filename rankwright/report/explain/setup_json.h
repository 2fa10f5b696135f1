// A TrainingConfig as JSON, shared by all schemas that contain one: model, cluster, job, plan and
// assumptions.
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

/// Serializes a document as every command prints it: indented, with invalid UTF-8 replaced.
std::string dumped(const nlohmann::ordered_json& document);

}  // namespace rankwright::report
