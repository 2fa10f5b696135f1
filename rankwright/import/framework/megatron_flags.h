// Megatron-LM's flags as a flat map with places, from a launch script or from the arguments that a
// log prints. What the flags mean is megatron.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/import/syntax/yaml.h"

namespace rankwright::importer {

struct MegatronFlags {
  /// A flag whose value no reading of the script gives.
  struct Unknown {
    std::string flag;
    std::string variable;
    YamlNode place;
  };

  /// Flags without "--", with dashes: of switches the value is "true", of lists the words between
  /// blanks. `nodes`, `gpus-per-node` and `world-size` are what the launcher is told.
  YamlNode map{};
  std::vector<Unknown> unknown{};
  std::vector<YamlNode> guesses{};  // conditions that were taken without being known
  bool cut = false;                 // there was more than is read
};

MegatronFlags read_megatron_flags(std::string_view text);

/// Whether a log's dump of Megatron-LM's arguments is in the text.
bool has_argument_dump(std::string_view text);

}  // namespace rankwright::importer
