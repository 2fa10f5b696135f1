#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/export/comment.h"
#include "rankwright/import/plan/hf_config.h"
#include "rankwright/import/plan/safetensors_index.h"
#include "rankwright/model/parameters.h"
#include "rankwright/planner/import.h"
#include "rankwright/planner/plan/source_files.h"

namespace rankwright::planner {
namespace {

constexpr std::string_view kIndex = "model.safetensors.index.json";

/// A model's config and index. At least one is an input; the other may be next to it.
struct ModelFiles {
  std::optional<SourceFile> config{}, index{};
};

/// Returns the input files by kind. The last file of each kind is used.
ModelFiles given_files(const ImportRequest& request) {
  ModelFiles given;
  for (const SourceFile& file : request.inputs)
    (importer::claims_safetensors_index(file.name, "") ? given.index : given.config) = file;
  return given;
}

Refusal refuse_unreadable(const Diagnostic& fault) {
  return {.kind = Refusal::Kind::unreadable, .findings = {fault}};
}

}  // namespace

// Imports a Hugging Face config.json and the safetensors index, given or next to it.
Outcome<ImportAnswer> import_model(const ImportRequest& request) {
  const ModelFiles given = given_files(request);
  const SourceFile config =
      given.config ? *given.config
                   : read_source(importer::beside(given.index->name, "config.json"), request.files);
  if (config.unreadable) return tl::unexpected(refuse_unreadable(*config.unreadable));
  Result<model::Model> model = importer::read_hf_config(config.text, config.name);
  if (!model) return tl::unexpected(refuse_unreadable(model.error()));

  ImportedModel answer{.model = std::move(*model)};
  answer.origins = {fmt::format("From {} (Hugging Face's config.json): {} parameters.",
                                exporter::safe_name(config.name),
                                count(count_parameters(answer.model).total()))};
  std::optional<SourceFile> index = given.index;
  if (index && index->unreadable) return tl::unexpected(refuse_unreadable(*index->unreadable));
  if (!index && config.name != "-")
    index = read_source(importer::beside(config.name, kIndex), request.files);
  if (!index || index->unreadable) return answer;
  const Result<Bytes> size = importer::read_safetensors_size(index->text, index->name);
  if (!size) return tl::unexpected(refuse_unreadable(size.error()));
  if (std::optional<Diagnostic> other =
          importer::check_size(answer.model, config.text, *size, index->name))
    answer.findings.push_back(std::move(*other));
  else
    answer.origins.push_back(
        fmt::format("{} has the same number of bytes.", exporter::safe_name(index->name)));
  return answer;
}

}  // namespace rankwright::planner
