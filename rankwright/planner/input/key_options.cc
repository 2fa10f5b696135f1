#include "rankwright/planner/input/key_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/check.h"

namespace rankwright::planner {
namespace {

constexpr KeyOption kKeyOptions[] = {
    {"global-batch", "job.global_batch"},
    {"seq", "job.sequence"},
    {"doc-length", "job.doc_length"},
    {"loss-tokens", "job.loss_tokens"},
    {"images", "job.images"},
    {"clips", "job.clips"},
    {"image-tokens", "job.image_tokens"},
    {"method", "job.method"},
    {"ref-model", "job.ref_model"},
    {"param-dtype", "job.param_dtype"},
    {"grad-dtype", "job.grad_dtype"},
    {"matmul", "job.matmul"},
    {"fp8-swiglu-input", "job.fp8_swiglu_input"},
    {"optimizer", "job.optimizer"},
    {"moment-dtype", "job.moment_dtype"},
    {"master-dtype", "job.master_dtype"},
    {"lora", "job.lora_rank"},
    {"lora-modules", "job.lora_modules"},
    {"base-dtype", "job.base_dtype"},
    {"frozen", "job.frozen"},
    {"offload-optimizer", "parallelism.offload.optimizer"},
    {"offload-parameters", "parallelism.offload.parameters"},
    {"offload-activations", "parallelism.offload.activations"},
    {"offload-nvme", "parallelism.offload.nvme"},
    {"offload-nvme-path", "parallelism.offload.nvme_path"},
    {"framework", "software.framework"},
    {"framework-release", "software.release"},
    {"attention", "software.attention"},
    {"launch", "software.launch"},
    {"loss", "software.loss"},
    {"tuned", "software.tuned"},
    {"overlap-grad-reduce", "parallelism.overlap.grad_reduce"},
    {"overlap-param-gather", "parallelism.overlap.param_gather"},
    {"overlap-tp", "parallelism.overlap.tp"},
    {"overlap-pp", "parallelism.overlap.pp"},
    {"overlap-ep", "parallelism.overlap.ep"},
    {"overlap-wgrad", "parallelism.overlap.wgrad"},
    {"dispatcher", "parallelism.dispatcher"},
};

}  // namespace

std::span<const KeyOption> key_options() { return kKeyOptions; }

const importer::KeyRow& find_key_row(std::string_view path) {
  const std::span<const importer::KeyRow> rows = importer::key_rows();
  const auto found = std::find_if(
      rows.begin(), rows.end(), [&](const importer::KeyRow& row) { return row.key.path == path; });
  RW_CHECK(found != rows.end());
  return *found;
}

std::optional<Diagnostic> read_key_option(std::string_view name, std::string_view key,
                                          const std::string& value, importer::Draft& draft) {
  const std::string flag = fmt::format("--{}", name);
  Diagnostics findings;
  importer::FieldReader fields(flag, findings);
  importer::Reading reading{fields, draft, importer::refuse_file};
  importer::YamlNode node;
  node.kind = importer::YamlNode::Kind::scalar;
  node.scalar = value;
  find_key_row(key).read(reading, node);
  if (findings.empty()) return std::nullopt;
  Diagnostic first = std::move(findings.front());
  if (first.hint.empty())
    first.hint = fmt::format("{} accepts {}", flag, find_key_row(key).key.values);
  return first;
}

std::optional<Diagnostic> apply_key_options(const OptionTexts& texts, importer::Draft& draft) {
  for (const KeyOption& row : kKeyOptions) {
    const auto given = texts.find(std::string(row.name));
    if (given == texts.end() || given->second.empty()) continue;
    if (std::optional<Diagnostic> fault = read_key_option(row.name, row.key, given->second, draft))
      return fault;
  }
  return std::nullopt;
}

}  // namespace rankwright::planner
