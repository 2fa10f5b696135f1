// Writes a model as the map of shapes that stands under `model` in a plan file;
// import/plan/model_file.h reads it back equal.
#pragma once

#include <string>
#include <vector>

#include "rankwright/model/model.h"

namespace rankwright::exporter {

/// The lines of a map at `column`, each with a line break before it. For models that build() makes.
std::string model_map(const model::Model& model, std::size_t column);

/// A plan file that states the model alone, with `head` as comments above it.
std::string model_yaml(const model::Model& model, const std::vector<std::string>& head = {});

}  // namespace rankwright::exporter
