// Implements `import` as a library call: reads another tool's file as a plan, a cluster or a model.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "rankwright/cluster/cluster.h"
#include "rankwright/model/model.h"
#include "rankwright/planner/input/plan_input.h"

namespace rankwright::planner {

/// The files to import and how to read them.
struct ImportRequest {
  std::vector<SourceFile> inputs{};  // one, or several that describe one cluster or model
  std::string from{};                // a format; empty: detected from file names and contents
  std::string model{}, cluster{};  // override those of a plan; measurements calibrate this cluster
  std::optional<i64> world{};      // ranks of a plan
  std::string device{};            // GPU of a cluster, if no file states it
  std::optional<i64> hosts{};      // of a cluster
  std::string collective{};        // the collective that nccl-tests' output measured
  importer::FileReader files =
      importer::refuse_file;  // reads the files that the input names or that belong next to it
  importer::ShellInput variables{};  // of a launch script

  /// Returns whether an option is set that only applies to clusters.
  bool about_clusters() const { return !device.empty() || hosts || !collective.empty(); }
};

/// A framework's file as a plan.
struct ImportedPlan {
  PlanInput input;    // its config is set
  bool valid = true;  // it has no constraint violations
  Diagnostics findings{};
};

/// A cluster, made from one or more files.
struct ImportedCluster {
  cluster::Cluster cluster;
  std::vector<std::string> origins{};  // where its figures come from, one line each
  Diagnostics findings{};
  std::vector<SourceFile> sources{};  // files that the findings point into
};

/// A model, made from a Hugging Face config.
struct ImportedModel {
  model::Model model;
  std::vector<std::string> origins{};
  Diagnostics findings{};
};

using ImportAnswer = std::variant<ImportedPlan, ImportedCluster, ImportedModel>;

/// Imports the files. Unless a format is stated, the first file decides what they are. Requires: at
/// least one file.
Outcome<ImportAnswer> import_file(const ImportRequest& request);

// Import of each kind, one source file each.
Outcome<ImportAnswer> import_framework(const ImportRequest& request);
Outcome<ImportAnswer> import_cluster(const ImportRequest& request);
Outcome<ImportAnswer> import_model(const ImportRequest& request);

}  // namespace rankwright::planner
