// Field numbers of google/perfetto, protos/perfetto/trace/: trace.proto, trace_packet.proto, and
// track_event/{track_descriptor,process_descriptor,thread_descriptor,track_event}.proto. Only the
// fields of step traces, which report/timeline/trace.h writes and run_trace.h reads.
#pragma once

#include <cstdint>

namespace rankwright::importer::perfetto {

using Field = std::uint32_t;

constexpr Field kTracePacket = 1;
namespace packet {
constexpr Field kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kTrack = 60;
}
namespace track {
constexpr Field kUuid = 1, kProcess = 3, kThread = 4, kParent = 5;
}
namespace process {
constexpr Field kPid = 1, kName = 6;
}
namespace thread {
constexpr Field kPid = 1, kTid = 2, kSortIndex = 3, kName = 5;
}
namespace event {
constexpr Field kType = 9, kTrack = 11, kCategory = 22, kName = 23, kFlow = 47, kLastFlow = 48;
constexpr int kBegin = 1, kEnd = 2;  // values of kType
}  // namespace event

}  // namespace rankwright::importer::perfetto
