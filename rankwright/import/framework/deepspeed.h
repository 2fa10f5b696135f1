// Reads the settings of DeepSpeed from a tree, for files of other tools that contain or name them.
#pragma once

#include "rankwright/import/framework/foreign.h"

namespace rankwright::importer {

/// Fills the draft from a DeepSpeed config, and records locations in `plan`. Values that the draft
/// already has are kept where the config says "auto".
void read_deepspeed_tree(ForeignReading& reading, PlanFile& plan);

}  // namespace rankwright::importer
