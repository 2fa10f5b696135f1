// Writes a model as the map of shapes under `model` in a plan file. import/plan/model_file.h reads
// it back to an equal model.
#pragma once

#include <string>
#include <vector>

#include "rankwright/model/model.h"

namespace rankwright::exporter {

/// Returns the lines of the model's YAML map, indented to `column`, each preceded by a line break.
/// Requires: a model that build() can make.
std::string write_model_map(const model::Model& model, std::size_t column);

/// Returns a plan file that states only the model, with `head` as comments at the top.
std::string write_model_yaml(const model::Model& model, const std::vector<std::string>& head = {});

}  // namespace rankwright::exporter
