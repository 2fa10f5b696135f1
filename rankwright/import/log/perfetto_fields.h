// Field numbers of google/perfetto, protos/perfetto/trace/: trace.proto, trace_packet.proto, and
// track_event/{track_descriptor,process_descriptor,thread_descriptor,counter_descriptor,
// debug_annotation,track_event}.proto. Only the
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
constexpr Field kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8;
}
namespace process {
constexpr Field kPid = 1, kName = 6;
}
namespace thread {
constexpr Field kPid = 1, kTid = 2, kSortIndex = 3, kName = 5;
}
namespace event {
constexpr Field kAnnotation = 4, kType = 9, kTrack = 11, kCategory = 22, kName = 23,
                kCounterValue = 30, kFlow = 47, kLastFlow = 48;
constexpr int kBegin = 1, kEnd = 2, kCount = 4;  // values of kType
}  // namespace event
namespace annotation {
constexpr Field kInteger = 4, kText = 6, kName = 10;
}

}  // namespace rankwright::importer::perfetto
