#include "rankwright/import/log/trace_format.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

namespace rankwright::importer {
namespace {

constexpr std::string_view kPrefix = "pp rank ", kSuffix = ", beside";

}  // namespace

std::string track_name(const TraceTrack& track) {
  return fmt::format("{}{}{}", kPrefix, track.pp_rank, track.beside ? kSuffix : "");
}

std::optional<TraceTrack> parse_track_name(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  TraceTrack track{.beside = name.ends_with(kSuffix)};
  if (track.beside) name.remove_suffix(kSuffix.size());
  if (name.empty() || name.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  if (name.size() > 1 && name.front() == '0')
    return std::nullopt;  // the writer never pads with zeros
  const std::from_chars_result end =
      std::from_chars(name.data(), name.data() + name.size(), track.pp_rank);
  if (end.ec != std::errc{}) track.pp_rank = std::numeric_limits<i64>::max();
  return track;
}

}  // namespace rankwright::importer
