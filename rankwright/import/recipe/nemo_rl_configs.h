// The configs of NeMo-RL's own examples, as far as they decide the layout (nemo_rl_configs/*.txt,
// made by scripts/list_recipe_defaults). Scripts override them without having them beside.
#pragma once

#include <string>
#include <string_view>

#include "rankwright/import/syntax/file.h"

namespace rankwright::importer {

/// Returns the config that an example takes if the command names none: "grpo_math_1B.yaml" for
/// "run_grpo_math.py"; empty if it is not one of them.
std::string_view find_usual_config(std::string_view program);

/// Returns a reader that has NeMo-RL's own configs where `files` has none. It notes in `source` the
/// version of the last one. Requires: `source` outlives the reader.
FileReader with_nemo_rl_configs(const FileReader& files, std::string_view& source);

}  // namespace rankwright::importer
