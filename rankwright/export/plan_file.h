// Writes plan files, version 1: the file that reads back as a TrainingConfig. A file is what a
// person would write: keys in the order of import/plan_keys, and only those that say something.
// What each says is plan_keys.h; it prices nothing, so what was predicted comes in as comments.
#pragma once

#include <string>
#include <vector>

#include "rankwright/plan/plan.h"

namespace rankwright::exporter {

/// A remark behind a key: {"parallelism.tp_size", "inside the node"}.
struct KeyComment {
  std::string key;
  std::string text;
};

struct PlanComments {
  std::vector<std::string> head{};  // lines above the first key
  std::vector<KeyComment> beside{};
};

/// The plan file that reads back as `config`: model, cluster, job, software and plan, so that the
/// file stands alone. Same config, same bytes.
///
/// For configs as resolve() gives them, and others that a file can state: a model that build()
/// makes, a framework of the table with its kernels, names as labels are read. What means nothing
/// is not kept: etp of a dense model, recompute_layers without full recompute. A model that only
/// stands in (reference_model) is left out, so that it is not taken for one that was stated, and so
/// are a world and a batch above what a file may state: they follow from the degrees.
std::string plan_yaml(const plan::TrainingConfig& config, const PlanComments& comments = {});

}  // namespace rankwright::exporter
