// Reads PyTorch's out-of-memory errors in the wording of its versions: up to 2.0 all in brackets,
// 2.1 with "capacty", since then with "capacity". The functions of the traceback before the error
// tell which phase of the step failed.
#include <algorithm>

#include "rankwright/import/log/run_log.h"

namespace rankwright::importer {
namespace {

struct Frame {
  std::string_view word;
  RunPhase phase;
};
// The first row that matches a traceback frame decides; frames are listed innermost last.
constexpr Frame kFrames[] = {
    {"cross_entropy", RunPhase::loss},
    {"param_and_grad_buffer", RunPhase::building},
    {"in get_model", RunPhase::building},
    {"in setup_model_and_optimizer", RunPhase::building},
    {"in _apply", RunPhase::building},  // a model is moved to the device
    {"in to_empty", RunPhase::building},
    {"in backward", RunPhase::backward},
    {"in _engine_run_backward", RunPhase::backward},
    {"optim/", RunPhase::optimizer},
    {"optimizer", RunPhase::optimizer},
    {"in forward", RunPhase::forward},
};

/// Reads `File "/.../layers.py", line 88, in forward`. An inner frame overrides an outer one,
/// except that a forward frame inside backward is recomputation and counts as backward.
void read_frame(std::string_view text, RunLog& log) {
  if (text.find("Traceback (most recent call last)") != std::string_view::npos) {
    log.doing = RunPhase::unknown;
    return;
  }
  if (text.find("File \"") == std::string_view::npos) return;
  for (const Frame& frame : kFrames) {
    if (text.find(frame.word) == std::string_view::npos) continue;
    const bool inside = frame.phase == RunPhase::forward &&
                        (log.doing == RunPhase::backward || log.doing == RunPhase::optimizer);
    if (!inside) log.doing = frame.phase;
    return;
  }
}

Bytes or_zero(const std::optional<Bytes>& bytes) { return bytes.value_or(Bytes{}); }

}  // namespace

void read_pytorch_line(const LogLine& line, RunLog& log) {
  read_frame(line.text, log);
  const std::string_view text = line.text;
  const std::size_t at = text.find("out of memory. Tried to allocate ");
  if (at == std::string_view::npos || log.oom) return;
  const std::optional<Bytes> wanted = find_memory_after(text, "Tried to allocate ");
  if (!wanted || *wanted <= Bytes{}) return;
  OutOfMemory oom{.wanted = *wanted,
                  .rank = line.rank,
                  .steps = log.steps.empty() ? 0 : log.steps.back().iteration,
                  .phase = log.doing,
                  .line = line.number};
  if (const std::optional<Bytes> total = find_memory_before(text, "total capacity")) {
    oom.capacity = *total;
    oom.free = or_zero(find_memory_before(text, "free;"));
    oom.allocated = or_zero(find_memory_before(text, "already allocated"));
    const Bytes reserved = or_zero(find_memory_before(text, "reserved in total"));
    oom.unallocated = std::max(Bytes{}, reserved - oom.allocated);
  } else {
    oom.capacity = or_zero(find_memory_after(text, "has a total capacity of "));
    if (oom.capacity <= Bytes{})
      oom.capacity = or_zero(find_memory_after(text, "has a total capacty of "));
    oom.free = or_zero(find_memory_after(text, "of which "));
    oom.allocated = or_zero(find_memory_after(text, "Of the allocated memory "));
    oom.unallocated = or_zero(find_memory_before(text, "is reserved by PyTorch but unallocated"));
  }
  log.oom = oom;
}

}  // namespace rankwright::importer
