#include <fmt/format.h>

#include <ostream>

#include "cli/call.h"
#include "cli/import.h"
#include "cli/plan_input.h"
#include "rankwright/base/format.h"
#include "rankwright/export/model_file.h"
#include "rankwright/import/hf_config.h"
#include "rankwright/import/safetensors_index.h"
#include "rankwright/model/parameters.h"

namespace rankwright::cli {
namespace {

constexpr std::string_view kIndex = "model.safetensors.index.json";

/// The config and the index among the files; one that is not given stands beside the other.
struct Names {
  std::string config, index;
  bool index_given = false;
};

Names names_of(const std::vector<std::string>& files) {
  Names names;
  for (const std::string& file : files) {
    const bool index = claims_safetensors_index(file, "");
    (index ? names.index : names.config) = file;
    names.index_given = names.index_given || index;
  }
  if (names.config.empty()) names.config = beside(names.index, "config.json");
  if (names.index.empty() && names.config != "-") names.index = beside(names.config, kIndex);
  return names;
}

int refuse(const Diagnostic& fault, const Io& io) {
  tell({fault}, "", "", io);
  return kUnreadable;
}

}  // namespace

int import_model(const ImportFlags& flags, const Options& options, const Io& io) {
  const Names names = names_of(flags.files);
  const Result<std::string> config = read_argument(names.config, io);
  if (!config) return refuse(config.error(), io);
  const Result<Model> model = read_hf_config(*config, names.config);
  if (!model) return refuse(model.error(), io);

  Diagnostics findings;
  const Result<std::string> index =
      names.index.empty() ? fail(Diagnostic{}) : read_file(names.index);
  if (!index && names.index_given) return refuse(index.error(), io);
  std::vector<std::string> head{fmt::format("From {} (Hugging Face's config.json): {} parameters.",
                                            names.config, count(parameters(*model).total()))};
  if (index) {
    const Result<Bytes> size = read_safetensors_size(*index, names.index);
    if (!size) return refuse(size.error(), io);
    if (std::optional<Diagnostic> other = check_size(*model, *config, *size, names.index))
      findings.push_back(std::move(*other));
    else
      head.push_back(fmt::format("{} has as many bytes as they make.", names.index));
  }
  if (const int failed = options.write(model_yaml(*model, head), io)) return failed;
  if (!options.quiet()) tell(findings, "", "", io);
  return kOk;
}

}  // namespace rankwright::cli
