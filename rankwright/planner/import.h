// `import` as a library call: somebody else's file as a plan, a cluster or a model of ours.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "rankwright/cluster/cluster.h"
#include "rankwright/model/model.h"
#include "rankwright/planner/input/plan_input.h"

namespace rankwright::planner {

struct ImportRequest {
  std::vector<SourceFile> inputs{};  // one, or several about one cluster or model
  std::string from{};                // a format; empty: what names and texts claim
  std::string model{}, cluster{};    // override those of a plan; a cluster is measured upon
  std::optional<i64> world{};        // ranks of a plan
  std::string device{};              // of a cluster: its GPU, where no file says
  std::optional<i64> hosts{};        // of a cluster
  std::string collective{};          // of nccl-tests' output: what it measured
  importer::FileReader files =
      importer::refuse_file;  // reads the files that others name, or that belong beside them

  /// Returns whether an option is stated that only clusters have.
  bool about_clusters() const { return !device.empty() || hosts || !collective.empty(); }
};

/// A framework's file as a plan.
struct ImportedPlan {
  PlanInput input;    // it has a config
  bool valid = true;  // it has no violations
  Diagnostics findings{};
};

struct ImportedCluster {
  cluster::Cluster cluster;
  std::vector<std::string> origins{};  // where its figures come from, a line each
  Diagnostics findings{};
  std::vector<SourceFile> sources{};  // that the findings point into
};

struct ImportedModel {
  model::Model model;
  std::vector<std::string> origins{};
  Diagnostics findings{};
};

using ImportAnswer = std::variant<ImportedPlan, ImportedCluster, ImportedModel>;

/// Decides by the first file what is made, unless a format is stated. Requires: at least one file.
Outcome<ImportAnswer> import_file(const ImportRequest& request);

// The three kinds, each in its file.
Outcome<ImportAnswer> import_framework(const ImportRequest& request);
Outcome<ImportAnswer> import_cluster(const ImportRequest& request);
Outcome<ImportAnswer> import_model(const ImportRequest& request);

}  // namespace rankwright::planner
