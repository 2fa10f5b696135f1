#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "rankwright/base/format.h"
#include "rankwright/base/trim.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/catalog/table.h"

namespace rankwright::catalog {
namespace {

cluster::Origin read_origin(const std::string& text) {
  for (const cluster::Origin origin : {cluster::Origin::data_sheet, cluster::Origin::calibrated,
                                       cluster::Origin::measured, cluster::Origin::assumed})
    if (text == name(origin)) return origin;
  abort_broken_invariant("an origin", __FILE__, __LINE__);
}

cluster::Level read_level(const Cells& cells) {
  const std::string per = cells.text("per");
  RW_CHECK(per == "device" || per == "domain");
  return {.name = cells.text("level"),
          .arity = cells.count("arity"),
          .bandwidth = cells.bandwidth("bandwidth"),
          .latency = cells.duration("latency"),
          .oversubscription = double(cells.count("oversubscription")),
          .per = per == "device" ? cluster::Level::Per::device : cluster::Level::Per::domain,
          .origin = read_origin(cells.text("bandwidth_origin")),
          .latency_origin = read_origin(cells.text("latency_origin"))};
}

/// Reads systems.csv: one row per level, with the rows of a system next to each other.
std::vector<System> read_systems() {
  const Csv table = parse_shipped_table(kSystemsCsv, "systems.csv");
  std::vector<System> systems;
  for (const Csv::Row& row : table.rows) {
    const Cells cells(table, row);
    const std::string name = cells.text("system");
    if (systems.empty() || systems.back().name != name) {
      const Result<cluster::Device> device = find_device(cells.text("device"));
      RW_CHECK(device);
      systems.push_back({.name = name,
                         .aliases = split_list(cells.text("aliases")),
                         .summary = cells.text("summary"),
                         .unit = {.name = name,
                                  .device = *device,
                                  .levels = {},
                                  .host_devices = cells.count("host_devices")},
                         .source = cells.text("source")});
    }
    systems.back().unit.levels.push_back(read_level(cells));
  }
  return systems;
}

bool looks_like_a_count(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789,_-+.") == std::string_view::npos;
}

struct Request {
  std::string_view system;
  std::optional<std::string_view> units;
};

/// Splits "A x N", "A xN", "A*N" or "N x A" into system and units. An 'x' inside a name, as in
/// mi300x-8, does not separate.
Request split_request(std::string_view text) {
  text = trim(text);
  for (std::size_t at = text.size(); at-- > 0;) {
    const char c = text[at];
    if (c != '*' && c != 'x' && c != 'X') continue;
    const std::string_view left = trim(text.substr(0, at));
    const std::string_view right = trim(text.substr(at + 1));
    if (looks_like_a_count(left)) return {.system = right, .units = left};
    const bool apart = c == '*' || (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t'));
    const bool alone = at + 1 == text.size() || text[at + 1] == ' ';
    if (!left.empty() && apart && (alone || c == '*' || looks_like_a_count(right)))
      return {.system = left, .units = right};
  }
  return {.system = text, .units = {}};
}

/// Returns whether `wanted` names the device itself or its family: "h100" matches h100-sxm.
bool names_device(std::string_view wanted, std::string_view device) {
  return device == wanted || (!wanted.empty() && device.starts_with(std::string(wanted) + "-"));
}

/// Returns the system of a name or alias; null if there is none.
const System* find_system(std::string_view name) {
  const std::string wanted = lower(name);
  for (const System& system : systems())
    if (system.name == wanted ||
        std::find(system.aliases.begin(), system.aliases.end(), wanted) != system.aliases.end())
      return &system;
  return nullptr;
}

/// Returns "dgx-h100 x 8" for "dgx-h100x8"; nothing if it is not a known system with a count.
std::optional<std::string> insert_spaces(std::string_view wanted) {
  const std::size_t at = wanted.find_last_of("xX");
  if (at == std::string_view::npos || !looks_like_a_count(wanted.substr(at + 1)))
    return std::nullopt;
  const System* const system = find_system(wanted.substr(0, at));
  if (system == nullptr) return std::nullopt;
  return fmt::format("{} x {}", system->name, wanted.substr(at + 1));
}

/// Cards that people put into one machine, by the beginning of their names, and what a transfer
/// between two of them reaches. GeForce cards have no peer-to-peer access: data passes through host
/// memory (NVIDIA/nccl-tests#74).
struct CardRow {
  std::string_view prefix;
  BytesPerSecond bandwidth;
};
constexpr CardRow kCards[] = {
    {"rtx-a6000", {25e9}}, {"rtx-6000", {25e9}},  {"rtx-", {10e9}},      {"l4", {25e9}},
    {"a10g", {12e9}},      {"h100-pcie", {50e9}}, {"a100-pcie", {25e9}},
};
constexpr i64 kMaxCards = 16;  // in one machine

/// Returns a machine with that many cards on PCIe: "rtx-4090 x 2". Nothing if the name is not that
/// of a card.
std::optional<Result<cluster::Cluster>> find_cards(const Request& request) {
  const Result<cluster::Device> device = find_device(request.system);
  if (!device) return std::nullopt;
  const auto card = std::find_if(std::begin(kCards), std::end(kCards), [&](const CardRow& row) {
    return device->name.starts_with(row.prefix);
  });
  if (card == std::end(kCards)) return std::nullopt;
  const Result<i64> cards = request.units ? parse_count(*request.units) : Result<i64>(1);
  if (!cards) return fail(cards.error());
  if (*cards < 1 || *cards > kMaxCards)
    return fail({.code = "RW0904",
                 .message = "number out of range",
                 .detail = fmt::format("{} x {}: a machine has 1 to {} cards", device->name,
                                       count(*cards), kMaxCards),
                 .hint = "a cluster file describes several machines"});
  return cluster::Cluster{
      .name = *cards == 1 ? device->name : fmt::format("{} x {}", device->name, *cards),
      .device = *device,
      .levels = {{.name = "pcie",
                  .arity = *cards,
                  .bandwidth = card->bandwidth,
                  .latency = 10.0_us,
                  .origin = cluster::Origin::assumed}},
      .host_devices = *cards};
}

Diagnostic unknown_system(std::string_view wanted) {
  std::vector<std::string> known;
  std::string with_device;
  for (const System& system : systems()) {
    known.push_back(system.name);
    known.insert(known.end(), system.aliases.begin(), system.aliases.end());
    if (names_device(lower(wanted), system.unit.device.name))
      with_device += (with_device.empty() ? "" : ", ") + system.name;
  }
  Diagnostic unknown = unknown_name("system", wanted, known);
  if (!with_device.empty())
    unknown.hint = fmt::format("{} is a device; systems with it: {}", lower(wanted), with_device);
  return unknown;
}

}  // namespace

std::string_view System::verified() const {
  const auto assumed = std::count_if(
      unit.levels.begin(), unit.levels.end(),
      [](const cluster::Level& level) { return level.origin == cluster::Origin::assumed; });
  if (assumed == 0) return "yes";
  return std::size_t(assumed) < unit.levels.size() ? "partly" : "no";
}

std::span<const System> systems() {
  static const std::vector<System> all = read_systems();
  return all;
}

Result<cluster::Cluster> find_cluster(std::string_view text) {
  Request request = split_request(text);
  const std::optional<std::string> spaced =
      request.units ? std::nullopt : insert_spaces(request.system);
  if (spaced) request = split_request(*spaced);
  const System* const found = find_system(request.system);
  if (found == nullptr) {
    if (std::optional<Result<cluster::Cluster>> cards = find_cards(request)) return *cards;
    return fail(unknown_system(request.system));
  }
  const Result<i64> units = request.units ? parse_count(*request.units) : Result<i64>(1);
  if (!units) return fail(units.error());

  cluster::Cluster cluster = found->unit;
  const std::optional<i64> devices = product({cluster.devices(), *units});
  if (!devices || *devices > cluster::kMaxDevices)
    return fail({.code = "RW0904",
                 .message = "number out of range",
                 .detail = fmt::format("{} units of {} exceed {} devices", count(*units),
                                       found->name, count(cluster::kMaxDevices))});
  cluster.levels.back().arity = *units;
  cluster.name = *units == 1 ? found->name : fmt::format("{} x {}", found->name, *units);
  return cluster;
}

}  // namespace rankwright::catalog
