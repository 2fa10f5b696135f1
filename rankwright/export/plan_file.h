// Writes plan files, version 1, which read back as a TrainingConfig. A file looks hand-written:
// keys in the order of import/plan_keys, and only those that differ from what their absence means.
// plan_keys.h defines the text of each key. Predictions are passed in as comments.
#pragma once

#include <string>
#include <vector>

#include "rankwright/plan/plan.h"

namespace rankwright::exporter {

/// A comment after one key: {"parallelism.tp_size", "inside the node"}.
struct KeyComment {
  std::string key;
  std::string text;
};

/// The comments of a plan file.
struct PlanComments {
  std::vector<std::string> head{};   // lines above the first key
  std::vector<KeyComment> beside{};  // comments after keys, on the same line
};

/// Returns the plan file that reads back as `config`: model, cluster, job, software and plan, so
/// that the file is self-contained. Equal configs give equal bytes.
///
/// Requires: a config that resolve() returns, or another one that a file can state: a model that
/// build() can make, a framework of the table with its kernels, and names that are valid labels.
/// Settings without effect are not kept: etp of a dense model, recompute_layers without full
/// recompute, modules without selective recompute. A placeholder model (reference_model) is left
/// out, so that it is not mistaken for a stated one. A world size and a batch above the limits of a
/// plan file are left out too: they follow from the degrees.
std::string write_plan_yaml(const plan::TrainingConfig& config, const PlanComments& comments = {});

}  // namespace rankwright::exporter
