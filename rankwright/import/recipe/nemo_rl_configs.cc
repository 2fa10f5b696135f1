#include "rankwright/import/recipe/nemo_rl_configs.h"

#include <algorithm>
#include <filesystem>
#include <span>

#include "rankwright/base/embedded.h"

namespace rankwright::importer {

extern const std::span<const EmbeddedFile> kNemoRlConfigFiles;

namespace {

constexpr std::string_view kFolder = "examples/configs/";

/// An example's program, and the config that it takes by default (examples/run_*.py).
constexpr std::pair<std::string_view, std::string_view> kUsual[] = {
    {"run_grpo_math.py", "grpo_math_1B.yaml"},
    {"run_grpo.py", "grpo_math_1B.yaml"},
    {"run_grpo_rm.py", "grpo_rm_1B.yaml"},
    {"run_grpo_sliding_puzzle.py", "grpo_sliding_puzzle.yaml"},
    {"run_vlm_grpo.py", "vlm_grpo_3B.yaml"},
    {"run_dpo.py", "dpo.yaml"},
    {"run_rm.py", "rm.yaml"},
    {"run_sft.py", "sft.yaml"},
    {"run_distillation_math.py", "distillation_math.yaml"},
    {"run_distillation.py", "distillation_math.yaml"},
};

/// Returns the settings of a config as JSON, from the newest version that has it; empty if none.
std::string_view find_config(std::string_view name, std::string_view& source) {
  for (auto file = kNemoRlConfigFiles.rbegin(); file != kNemoRlConfigFiles.rend(); ++file) {
    std::string_view text = file->text;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      const std::size_t blank = line.find(' ');
      if (blank == std::string_view::npos || line.substr(0, blank) != name) continue;
      std::string_view version = file->path.substr(file->path.rfind('/') + 1);
      version.remove_suffix(version.size() - version.rfind('.'));
      source = version;
      return line.substr(blank + 1);
    }
  }
  return {};
}

}  // namespace

std::string_view find_usual_config(std::string_view program) {
  const auto found = std::find_if(std::begin(kUsual), std::end(kUsual),
                                  [&](const auto& row) { return row.first == program; });
  return found == std::end(kUsual) ? std::string_view() : found->second;
}

FileReader with_nemo_rl_configs(const FileReader& files, std::string_view& source) {
  return [&files, &source](const std::string& path) -> Result<std::string> {
    Result<std::string> text = files(path);
    const std::string name = std::filesystem::path(path).lexically_normal().generic_string();
    const std::size_t folder = name.rfind(kFolder);
    if (text || folder == std::string::npos) return text;
    const std::string_view settings =
        find_config(std::string_view(name).substr(folder + kFolder.size()), source);
    return settings.empty() ? text : Result<std::string>(std::string(settings));
  };
}

}  // namespace rankwright::importer
