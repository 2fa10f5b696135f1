// Derives from a Model the Shapes that build() makes it from, so that a file can state them.
#pragma once

#include <optional>

#include "rankwright/model/architecture.h"

namespace rankwright::model {

/// Returns the shapes from which build() makes `model`, stating only what differs from the
/// defaults; nothing if no shapes produce it. If all layers of a family with experts are dense, the
/// numbers of experts are placeholders.
std::optional<Shapes> derive_shapes(const Model& model);

}  // namespace rankwright::model
