#include <algorithm>
#include <array>

#include "rankwright/import/syntax/shell_evaluator.h"

namespace rankwright::importer::shell {

void set_slurm_variables(std::string_view text, Expander& words) {
  struct Setting {
    std::string_view option;
    std::array<std::string_view, 2> variables;
  };
  constexpr Setting kSettings[] = {
      {"--nodes", {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}},
      {"-N", {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}},
      {"--ntasks-per-node", {"SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE"}},
      {"--gpus-per-node", {"SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE"}},
      {"--gres", {"SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE"}},
      {"--gpus", {"SLURM_GPUS", "SLURM_JOB_GPUS"}},
      {"-G", {"SLURM_GPUS", "SLURM_JOB_GPUS"}},
      {"--ntasks", {"SLURM_NTASKS", "SLURM_NPROCS"}},
      {"-n", {"SLURM_NTASKS", "SLURM_NPROCS"}}};
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::size_t next = end + 1;
    constexpr std::string_view kMark = "#SBATCH";
    const std::size_t option = line.find_first_not_of(" \t", std::min(kMark.size(), line.size()));
    // A line may have several options.
    for (std::size_t at = line.starts_with(kMark) ? option : std::string_view::npos;
         at < line.size() && line[at] == '-'; at = line.find_first_not_of(" \t", at)) {
      const std::string_view rest = line.substr(at);
      const std::size_t name = std::min(rest.find_first_of(" =\t"), rest.size());
      std::size_t value = rest.find_first_not_of(" =\t", name);
      // --gres=nvme:100,gpu:h100:8: of the resources, the GPUs
      if (value != std::string_view::npos && rest.substr(0, name) == "--gres") {
        const std::size_t ends = std::min(rest.find_first_of(" \t#", value), rest.size());
        const std::size_t gpus = rest.substr(0, ends).find("gpu", value);
        value = gpus == std::string_view::npos ? ends : std::min(rest.find(',', gpus), ends) - 1;
      } else if (value != std::string_view::npos && rest.substr(value).starts_with("gpu")) {
        value = std::min(rest.find_first_of(" \t#", value), rest.size()) - 1;
      }
      for (const Setting& setting : kSettings) {
        if (rest.substr(0, name) != setting.option || value == std::string_view::npos) continue;
        Text text_of;
        for (std::size_t i = value; i < rest.size() && rest[i] >= '0' && rest[i] <= '9'; ++i)
          text_of.add(rest[i], begin + at + i);
        if (text_of.chars.empty()) continue;
        for (const std::string_view variable : setting.variables)
          words.set(std::string(variable), {{text_of}});
      }
      const std::size_t end_of = std::min(rest.find_first_of(" \t", value), rest.size());
      at += value != std::string_view::npos && rest[value] == '-' ? value : end_of;
    }
    begin = next;
  }
  // The GPUs of a node, if the lines state only those of the job.
  const auto find = [&](const char* name) -> const Text* {
    const auto found = words.variables().find(name);
    return found == words.variables().end() ? nullptr : &found->second.items[0];
  };
  const auto number = [&](const char* name) -> i64 {
    const Text* const digits = find(name);
    return digits == nullptr || digits->chars.size() > 9 ? 0 : std::stoll(digits->chars);
  };
  const Text* const all = find("SLURM_GPUS");
  const i64 gpus = number("SLURM_GPUS"), nodes = number("SLURM_NNODES");
  if (all == nullptr || find("SLURM_GPUS_ON_NODE") != nullptr || nodes < 1 || gpus % nodes != 0)
    return;
  Text each;
  for (const char c : std::to_string(gpus / nodes)) each.add(c, all->begin);
  for (const char* const name : {"SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE"})
    words.set(name, {{each}});
}

}  // namespace rankwright::importer::shell
