// Reads a model as people give it: a catalog name, a Hugging Face config.json, or shapes in a plan
// file (`model: {architecture: llama, hidden: 4096, ...}`).
#pragma once

#include <optional>
#include <string>

#include "rankwright/import/syntax/fields.h"
#include "rankwright/import/syntax/file.h"
#include "rankwright/model/model.h"

namespace rankwright::importer {

/// A file that ends in .json is a config.json, anything else a name in the catalog, or a folder
/// that holds a config.json.
Result<model::Model> read_model_argument(const std::string& argument, const FileReader& files);

/// The value of a plan file's `model`, in any of the three forms.
std::optional<model::Model> read_model(FieldReader& reader, const YamlNode& node,
                                       const FileReader& files);

}  // namespace rankwright::importer
