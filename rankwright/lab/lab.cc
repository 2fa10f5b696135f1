#include "rankwright/lab/lab.h"

#include <algorithm>
#include <string>

#include "rankwright/base/check.h"
#include "rankwright/base/embedded.h"
#include "rankwright/import/plan/plan_file.h"

namespace rankwright::lab {

extern const std::span<const EmbeddedFile> kLabFiles;

std::span<const Lab> labs() {
  static const Lab kLabs[] = {
      {1, "01-data-parallelism.md", data_parallelism_questions()},
      {2, "02-tensor-parallelism.md", tensor_parallelism_questions()},
      {3, "03-pipelines.md", pipeline_questions()},
      {4, "04-zero.md", zero_questions()},
      {5, "05-sixteen-bytes.md", sizing_questions()},
      {6, "06-placement.md", placement_questions()},
      {7, "07-worksheet.md", worksheet_questions()},
      {8, "08-experts.md", expert_questions()},
      {9, "09-sequences.md", sequence_questions()},
      {10, "10-intuition.md", intuition_questions()},
      {11, "11-collectives.md", collective_questions()},
      {12, "12-edge-stages.md", edge_stage_questions()},
      {13, "13-equal-losses.md", equal_loss_questions()},
      {14, "14-failures.md", failure_questions()},
  };
  return kLabs;
}

const Lab* find_lab(i64 number) {
  const std::span<const Lab> all = labs();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Lab& lab) { return lab.number == number; });
  return found == all.end() ? nullptr : &*found;
}

std::string_view find_lab_file(std::string_view path) {
  const auto found = std::find_if(kLabFiles.begin(), kLabFiles.end(),
                                  [&](const EmbeddedFile& file) { return file.path == path; });
  return found == kLabFiles.end() ? std::string_view() : found->text;
}

plan::TrainingConfig load_example_config(std::string_view file) {
  const std::string path = "examples/" + std::string(file);
  const importer::PlanFile plan =
      importer::read_plan(std::string(find_lab_file(path)), path, importer::refuse_file);
  RW_CHECK(!has_errors(plan.findings));
  return resolve(plan.draft);
}

}  // namespace rankwright::lab
