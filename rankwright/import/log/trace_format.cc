#include "rankwright/import/log/trace_format.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "rankwright/program/cells.h"

namespace rankwright::importer {
namespace {

constexpr std::string_view kPrefix = "pp rank ", kSuffix = ", overlapped";
constexpr std::string_view kOldSuffix = ", beside";  // of traces that older versions wrote

/// The name of a cell, and its letter in program::show().
struct CellKind {
  std::string_view name;
  char letter;
};
constexpr CellKind kCellKinds[] = {
    {"forward", 'F'}, {"backward", 'B'}, {"input gradient", 'I'}, {"weight gradient", 'W'}};
constexpr std::string_view kMicrobatch = ", micro-batch ", kStage = ", stage ";

}  // namespace

std::string track_name(const TraceTrack& track) {
  return fmt::format("{}{}{}", kPrefix, track.pp_rank, track.beside ? kSuffix : "");
}

std::optional<TraceTrack> parse_track_name(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  TraceTrack track;
  for (const std::string_view suffix : {kSuffix, kOldSuffix}) {
    if (!name.ends_with(suffix)) continue;
    track.beside = true;
    name.remove_suffix(suffix.size());
    break;
  }
  if (name.empty() || name.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  if (name.size() > 1 && name.front() == '0')
    return std::nullopt;  // the writer never pads with zeros
  const std::from_chars_result end =
      std::from_chars(name.data(), name.data() + name.size(), track.pp_rank);
  if (end.ec != std::errc{}) track.pp_rank = std::numeric_limits<i64>::max();
  return track;
}

std::string cell_name(const pipeline::Action& cell) {
  return fmt::format("{}{}{}{}{}", kCellKinds[std::size_t(cell.kind)].name, kMicrobatch,
                     cell.microbatch, kStage, cell.stage);
}

std::optional<pipeline::Action> parse_cell_name(std::string_view name) {
  for (const CellKind& kind : kCellKinds) {
    if (!name.starts_with(kind.name)) continue;
    const std::string_view rest = name.substr(kind.name.size());
    const std::size_t stage = rest.find(kStage);
    if (!rest.starts_with(kMicrobatch) || stage == std::string_view::npos) continue;
    const std::string_view number = rest.substr(kMicrobatch.size(), stage - kMicrobatch.size());
    return program::parse_cell(
        fmt::format("{}{}{}", rest.substr(stage + kStage.size()), kind.letter, number));
  }
  return program::parse_cell(name);
}

}  // namespace rankwright::importer
