// The list of exporters. Each row is defined in the file that writes for its target; to add an
// exporter, declare its row and add it to the table. Internal to export/: others call exporters()
// and find_exporter().
#pragma once

#include "rankwright/export/exporter.h"

namespace rankwright::exporter {

extern const Exporter kMegatronExporter;
extern const Exporter kMegatronBridgeExporter;
extern const Exporter kTorchtitan02Exporter;
extern const Exporter kTorchtitanExporter;
extern const Exporter kDeepspeedExporter;
extern const Exporter kNanotronExporter;
extern const Exporter kAccelerateExporter;
extern const Exporter kRankwrightExporter;
extern const Exporter kSlurmExporter;
extern const Exporter kTorchrunExporter;
extern const Exporter kOpenmpiExporter;

/// In the order of the targets.
inline constexpr const Exporter* kExporters[] = {
    &kMegatronExporter,  &kMegatronBridgeExporter, &kTorchtitan02Exporter, &kTorchtitanExporter,
    &kDeepspeedExporter, &kNanotronExporter,       &kAccelerateExporter,   &kRankwrightExporter,
    &kSlurmExporter,     &kTorchrunExporter,       &kOpenmpiExporter,
};
static_assert(std::size(kExporters) == std::size(rules::kTargets));

}  // namespace rankwright::exporter
