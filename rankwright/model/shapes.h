// The way back from a Model to the Shapes that build() makes it from: what a file has to state.
#pragma once

#include <optional>

#include "rankwright/model/architecture.h"

namespace rankwright::model {

/// Shapes of which build() makes `model`, with no more in them than the model holds; nothing where
/// no shapes do. Of a family with experts whose layers are all dense, the experts are made up.
std::optional<Shapes> shapes_of(const Model& model);

}  // namespace rankwright::model
