// Reads a model in any form that users give it: a catalog name, a Hugging Face config.json, or
// shapes in a plan file (`model: {architecture: llama, hidden: 4096, ...}`).
#pragma once

#include <optional>
#include <string>

#include "rankwright/import/syntax/fields.h"
#include "rankwright/import/syntax/file.h"
#include "rankwright/model/model.h"

namespace rankwright::importer {

/// Reads a model from a command-line argument: a config if it ends in .json, otherwise a catalog
/// name or a folder that contains a config.json.
Result<model::Model> read_model_argument(const std::string& argument, const FileReader& files);

/// Reads the value of `model` in a plan file, in any of the three forms.
std::optional<model::Model> read_model(FieldReader& reader, const YamlNode& node,
                                       const FileReader& files);

}  // namespace rankwright::importer
