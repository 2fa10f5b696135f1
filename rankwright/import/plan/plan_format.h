// The plan formats that can be read, one file and one row each: our own and those of the
// frameworks. A reader fills a PlanFile: the values as a Draft, the location of each plan key, and
// what is wrong, so that `check` reports on a framework's file with its own lines and columns. To
// add a format, write its file and add its row.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rankwright/import/plan/plan_file.h"
#include "rankwright/rules/rule.h"

namespace rankwright::importer {

struct PlanFormat {
  std::string_view name;     // value of --from; the name of the target if there is one
  std::string_view summary;  // one line of `rankwright import --list`
  rules::Target target;      // whose rules apply by default
  /// Returns whether a file with this name and text has this format. The first row that matches
  /// wins.
  bool (*claims)(std::string_view file, std::string_view text);
  /// Fills everything but name and text, which are already set.
  void (*read)(PlanFile& plan, const FileReader& files);
  /// Returns an edit in the syntax of this format; empty if it cannot express it. Null: as in plan
  /// files.
  std::string (*spell)(const Edit& edit) = nullptr;
  /// Returns contradictions that show only after defaults are filled in (RW0604).
  Diagnostics (*against)(const PlanFile& plan, const plan::TrainingConfig& config) = nullptr;
  bool strict_names = false;  // the framework stops at a setting that it does not have
  bool scripts = false;       // files may be scripts, whose variables --set gives
};

/// Returns all formats. Our own is last and claims everything.
std::span<const PlanFormat> plan_formats();
const PlanFormat* find_plan_format(std::string_view name);

/// Reads a file in the given format, or in the one that claims it.
PlanFile read_plan_as(const PlanFormat& format, std::string text, std::string name,
                      const FileReader& files, const ShellInput& variables = {});
PlanFile read_any_plan(std::string text, std::string name, const FileReader& files,
                       const ShellInput& variables = {});

/// Adds a world size if neither the file nor the user states one, as frameworks mostly leave it to
/// their launcher: whole nodes that the stated degrees divide, limited by the batch. Reports the
/// assumption.
void assume_world(PlanFile& plan);

/// Returns the text to type into the file for these edits: "--tensor-model-parallel-size 8". Edits
/// that the format cannot express are written as in a plan file. `dialect` spells them if the file
/// has one.
std::string spell_edits(const PlanFormat& format, const std::vector<Edit>& edits,
                        std::string (*dialect)(const Edit&) = nullptr);

// The functions of the rows, one file per format.
bool claims_nanotron(std::string_view file, std::string_view text);
void read_nanotron(PlanFile& plan, const FileReader& files);
std::string spell_nanotron(const Edit& edit);
bool claims_deepspeed(std::string_view file, std::string_view text);
void read_deepspeed(PlanFile& plan, const FileReader& files);
std::string spell_deepspeed(const Edit& edit);
Diagnostics check_resolved_deepspeed(const PlanFile& plan, const plan::TrainingConfig& config);
bool claims_torchtitan(std::string_view file, std::string_view text);
void read_torchtitan(PlanFile& plan, const FileReader& files);
bool claims_torchtitan_script(std::string_view file, std::string_view text);
void read_torchtitan_script(PlanFile& plan, const FileReader& files);
std::string spell_torchtitan(const Edit& edit);
Diagnostics check_resolved_torchtitan(const PlanFile& plan, const plan::TrainingConfig& config);
bool claims_accelerate(std::string_view file, std::string_view text);
void read_accelerate(PlanFile& plan, const FileReader& files);
std::string spell_accelerate(const Edit& edit);
Diagnostics check_resolved_accelerate(const PlanFile& plan, const plan::TrainingConfig& config);
bool claims_fine_tuning(std::string_view file, std::string_view text);
void read_fine_tuning(PlanFile& plan, const FileReader& files);
bool claims_verl(std::string_view file, std::string_view text);
void read_verl(PlanFile& plan, const FileReader& files);
bool claims_openrlhf(std::string_view file, std::string_view text);
void read_openrlhf(PlanFile& plan, const FileReader& files);
bool claims_nemo_rl(std::string_view file, std::string_view text);
void read_nemo_rl(PlanFile& plan, const FileReader& files);
bool claims_automodel(std::string_view file, std::string_view text);
void read_automodel(PlanFile& plan, const FileReader& files);
bool claims_gpt_neox(std::string_view file, std::string_view text);
void read_gpt_neox(PlanFile& plan, const FileReader& files);
bool claims_llm_foundry(std::string_view file, std::string_view text);
void read_llm_foundry(PlanFile& plan, const FileReader& files);
bool claims_maxtext(std::string_view file, std::string_view text);
void read_maxtext(PlanFile& plan, const FileReader& files);
bool claims_torchtitan_python(std::string_view file, std::string_view text);
void read_torchtitan_python(PlanFile& plan, const FileReader& files);
bool claims_megatron(std::string_view file, std::string_view text);
void read_megatron(PlanFile& plan, const FileReader& files);
std::string spell_megatron(const Edit& edit);
/// Returns whether a script has the flags of Megatron-LM in the files that it sources.
bool sources_megatron(std::string_view text, const std::string& name, const FileReader& files,
                      ShellInput variables);
/// Returns whether a script starts a program with a YAML file of the Trainer's settings.
bool runs_trainer_config(std::string_view text, const std::string& name, const FileReader& files,
                         ShellInput variables);
/// Returns whether a script runs a program beside it that constructs the Trainer's arguments.
bool runs_trainer_program(std::string_view text, const std::string& name, const FileReader& files,
                          ShellInput variables);
/// Returns whether a script runs a program of Megatron-Bridge or NeMo that can be read.
bool runs_bridge_program(std::string_view text, const std::string& name, const FileReader& files,
                         ShellInput variables);

}  // namespace rankwright::importer
