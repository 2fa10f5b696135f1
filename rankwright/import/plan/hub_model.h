// Finds the shapes that the name of a model on a hub, of a folder or of a file stands for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rankwright/model/model.h"

namespace rankwright::importer {

/// Returns the model that a name stands for: "meta-llama/Llama-3.1-8B-Instruct" has the shapes of
/// llama-3.1-8b. In a path, the folders of a hub's cache and of a trainer's checkpoints are no
/// names. Returns nothing if the catalog does not have the model.
std::optional<model::Model> find_hub_model(std::string_view name);

/// Returns the language model behind the encoder of a model with a vision or audio part.
std::optional<model::Model> find_language_model(std::string_view name);

/// Returns the dense model of the catalog that is nearest to the size that a name states:
/// "my-model-4b" is near qwen3-4b. Returns nothing if it states none, or none is near.
std::string find_model_of_size(std::string_view name);

}  // namespace rankwright::importer
