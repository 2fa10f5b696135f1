// A TrainingConfig as JSON, shared by all schemas that contain one: model, cluster, job, plan and
// assumptions.
#pragma once

#include <nlohmann/json.hpp>

#include "rankwright/cost/estimate.h"
#include "rankwright/rules/rule.h"

namespace rankwright::report {

nlohmann::ordered_json make_model_json(const plan::TrainingConfig& config);
nlohmann::ordered_json make_cluster_json(const plan::TrainingConfig& config);
nlohmann::ordered_json make_job_json(const plan::TrainingConfig& config);
nlohmann::ordered_json make_plan_json(const plan::TrainingConfig& config);
nlohmann::ordered_json make_assumed_json(const plan::TrainingConfig& config);
/// Returns the name of a target; null for `any`.
nlohmann::ordered_json make_target_json(rules::Target target);
nlohmann::ordered_json make_band_json(const cost::ErrorBand& band);

/// Serializes a document as every command prints it: indented, with invalid UTF-8 replaced.
std::string dump_json(const nlohmann::ordered_json& document);

}  // namespace rankwright::report
