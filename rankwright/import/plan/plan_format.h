// The formats that a plan is read from, one file and one row each: our own, and those of the
// frameworks. A reader fills a PlanFile: what the file says as a Draft, where each plan key stands
// in it, and what is wrong. So `check` lints a framework's file with its own lines and columns. To
// add a format, write its file and add its row.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rankwright/import/plan/plan_file.h"
#include "rankwright/rules/rule.h"

namespace rankwright::importer {

struct PlanFormat {
  std::string_view name;     // what --from takes; that of the target where there is one
  std::string_view summary;  // one line of `rankwright import --list`
  rules::Target target;      // whose rules hold unless others are asked for
  /// Whether a file of this name with this text is one. The first row that says so is taken.
  bool (*claims)(std::string_view file, std::string_view text);
  /// Fills all but name and text, which are given.
  void (*read)(PlanFile& plan, const FileReader& files);
  /// An edit of a plan as this format states it; empty where it cannot. Null: as plan files do.
  std::string (*spell)(const Edit& edit) = nullptr;
  /// What shows only when all that was left open is filled in: RW0604.
  Diagnostics (*against)(const PlanFile& plan, const plan::TrainingConfig& config) = nullptr;
};

/// Our own is the last, and claims everything.
std::span<const PlanFormat> plan_formats();
const PlanFormat* find_plan_format(std::string_view name);

/// Reads a file of this format, or of the one that claims it.
PlanFile read_plan_as(const PlanFormat& format, std::string text, std::string name,
                      const FileReader& files);
PlanFile read_any_plan(std::string text, std::string name, const FileReader& files);

/// A framework's file mostly leaves the world to its launcher. Where nothing says it, whole nodes
/// are assumed that the stated degrees divide, or what the batch takes of them, with a finding.
void assume_world(PlanFile& plan);

/// What to type into the file to make these edits: "--tensor-model-parallel-size 8". What its
/// format cannot say is put as in a plan file.
std::string spelt(const PlanFormat& format, const std::vector<Edit>& edits);

// The rows' functions, one file a format.
bool claims_nanotron(std::string_view file, std::string_view text);
void read_nanotron(PlanFile& plan, const FileReader& files);
std::string spell_nanotron(const Edit& edit);
bool claims_deepspeed(std::string_view file, std::string_view text);
void read_deepspeed(PlanFile& plan, const FileReader& files);
std::string spell_deepspeed(const Edit& edit);
Diagnostics deepspeed_against(const PlanFile& plan, const plan::TrainingConfig& config);
bool claims_torchtitan(std::string_view file, std::string_view text);
void read_torchtitan(PlanFile& plan, const FileReader& files);
std::string spell_torchtitan(const Edit& edit);
Diagnostics torchtitan_against(const PlanFile& plan, const plan::TrainingConfig& config);
bool claims_accelerate(std::string_view file, std::string_view text);
void read_accelerate(PlanFile& plan, const FileReader& files);
std::string spell_accelerate(const Edit& edit);
Diagnostics accelerate_against(const PlanFile& plan, const plan::TrainingConfig& config);
bool claims_megatron(std::string_view file, std::string_view text);
void read_megatron(PlanFile& plan, const FileReader& files);
std::string spell_megatron(const Edit& edit);

}  // namespace rankwright::importer
