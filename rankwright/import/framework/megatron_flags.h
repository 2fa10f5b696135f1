// Reads Megatron-LM's flags into a flat map with locations, from a launch script or from the
// argument dump in a log. Their meaning is in megatron.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/import/syntax/yaml.h"

namespace rankwright::importer {

/// The flags of one run.
struct MegatronFlags {
  /// A flag whose value cannot be determined from the script.
  struct Unknown {
    std::string flag;
    std::string variable;
    YamlNode place;
  };

  /// Flags without "--", with dashes. The value of a switch is "true", that of a list its words
  /// separated by blanks. `nodes`, `gpus-per-node` and `world-size` come from the launcher.
  YamlNode map{};
  std::vector<Unknown> unknown{};
  std::vector<std::string> of_launcher{};  // flags of other programs than the training script
  std::vector<YamlNode> guesses{};  // conditions of unknown value whose first branch was taken
  bool cut = false;                 // the script exceeds the limits and was read in part
};

/// Reads the flags of a launch script, or of a log that contains an argument dump.
MegatronFlags read_megatron_flags(std::string_view text);

/// Returns whether the text contains a log's dump of Megatron-LM's arguments.
bool has_argument_dump(std::string_view text);

}  // namespace rankwright::importer
