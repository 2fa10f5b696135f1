// Reads the settings of DeepSpeed from a tree, for files of other tools that contain or name them.
#pragma once

#include "rankwright/import/framework/foreign.h"

namespace rankwright::importer {

/// Fills the draft from a DeepSpeed config, and records locations in `plan`. Values that the draft
/// already has are kept where the config says "auto".
void read_deepspeed_tree(ForeignReading& reading, PlanFile& plan);

/// Reads the DeepSpeed config that `named`, a value of another tool's file, names. If it cannot be
/// read, its name may state the stage and the offloading ("zero3_offload.json"), which is reported
/// unless the tool has configs of such names itself. Returns false, and changes nothing but the
/// stage if it is not set, if neither is known.
bool follow_deepspeed_config(ForeignReading& reading, const YamlNode& named, PlanFile& plan);

}  // namespace rankwright::importer
