// The back ends: what writes a plan as the files that a framework or a launcher runs, one file and
// one row each. An exporter states what its target can say. What it cannot is found here for all of
// them, from the target's rules, from what the exporter itself finds it cannot say of this plan,
// and from every key that it never states: nothing is dropped in silence.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/export/comment.h"
#include "rankwright/plan/plan.h"
#include "rankwright/rules/rule.h"

namespace rankwright::exporter {

/// Something that the plan says and the target does not do: the key, and why.
struct Lost {
  std::string key;
  std::string why;

  friend bool operator==(const Lost&, const Lost&) = default;
};

/// What is not in the plan and a launcher can be told.
struct ExportOptions {
  std::vector<std::string> hosts{};  // names, by the cluster's numbers; empty: found at run time
};

struct ExportFile {
  std::string name;  // "torchtitan.toml": without a folder
  std::string text;
};

struct Exporter {
  rules::Target target;
  std::string_view summary;  // one line of `rankwright export --list`
  /// Plan keys that its files state, or that follow from what they state. A map's name stands for
  /// all keys in it.
  std::span<const std::string_view> (*states)();
  /// Of those, what this plan has and the files cannot say; null: nothing.
  std::vector<Lost> (*lost)(const plan::TrainingConfig&) = nullptr;
  /// The files, the main one first, for a config without violations. Each begins with `head`,
  /// as comments of its format.
  std::vector<ExportFile> (*write)(const plan::TrainingConfig&, const ExportOptions&,
                                   const std::vector<std::string>& head) = nullptr;
};

/// In the order of targets().
std::span<const Exporter> exporters();
const Exporter* find_exporter(std::string_view name);

/// Everything that the plan says and the target will not do, by key in the order of plan files.
std::vector<Lost> losses(const Exporter& exporter, const plan::TrainingConfig& config);

/// Returns what every file says first: what it is, for which version, and what it leaves out. Names
/// in it are safe in comments.
std::vector<std::string> head_lines(const Exporter& exporter, const plan::TrainingConfig& config);

/// The files with their heads.
std::vector<ExportFile> export_plan(const Exporter& exporter, const plan::TrainingConfig& config,
                                    const ExportOptions& options = {});

// The rows' functions, one file a target.
std::vector<Lost> lost_by_megatron(const plan::TrainingConfig&);
std::vector<ExportFile> write_megatron(const plan::TrainingConfig&, const ExportOptions&,
                                       const std::vector<std::string>& head);
std::span<const std::string_view> stated_by_megatron();
std::vector<Lost> lost_by_megatron_bridge(const plan::TrainingConfig&);
std::vector<ExportFile> write_megatron_bridge(const plan::TrainingConfig&, const ExportOptions&,
                                              const std::vector<std::string>& head);
std::vector<Lost> lost_by_nanotron(const plan::TrainingConfig&);
std::vector<ExportFile> write_nanotron(const plan::TrainingConfig&, const ExportOptions&,
                                       const std::vector<std::string>& head);
std::span<const std::string_view> stated_by_nanotron();
std::span<const std::string_view> stated_by_launchers();
std::vector<ExportFile> write_slurm(const plan::TrainingConfig&, const ExportOptions&,
                                    const std::vector<std::string>& head);
std::vector<ExportFile> write_torchrun(const plan::TrainingConfig&, const ExportOptions&,
                                       const std::vector<std::string>& head);
std::vector<ExportFile> write_openmpi(const plan::TrainingConfig&, const ExportOptions&,
                                      const std::vector<std::string>& head);
std::vector<Lost> lost_by_deepspeed(const plan::TrainingConfig&);
std::vector<ExportFile> write_deepspeed(const plan::TrainingConfig&, const ExportOptions&,
                                        const std::vector<std::string>& head);
std::span<const std::string_view> stated_by_deepspeed();
std::vector<Lost> lost_by_torchtitan_0_2(const plan::TrainingConfig&);
std::vector<ExportFile> write_torchtitan_0_2(const plan::TrainingConfig&, const ExportOptions&,
                                             const std::vector<std::string>& head);
std::span<const std::string_view> stated_by_torchtitan_0_2();
std::vector<Lost> lost_by_accelerate(const plan::TrainingConfig&);
std::vector<ExportFile> write_accelerate(const plan::TrainingConfig&, const ExportOptions&,
                                         const std::vector<std::string>& head);
std::span<const std::string_view> stated_by_accelerate();
std::vector<Lost> lost_by_torchtitan(const plan::TrainingConfig&);
std::vector<ExportFile> write_torchtitan(const plan::TrainingConfig&, const ExportOptions&,
                                         const std::vector<std::string>& head);
std::span<const std::string_view> stated_by_torchtitan();
std::vector<ExportFile> write_rankwright(const plan::TrainingConfig&, const ExportOptions&,
                                         const std::vector<std::string>& head);
std::span<const std::string_view> stated_by_rankwright();

}  // namespace rankwright::exporter
