#include "rankwright/validate/collective_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/traffic_cost.h"

namespace rankwright::validate {
namespace {

// A fit evaluates every row several hundred times, and there is one fit per system.
constexpr std::size_t kMaxCollectiveRows = 5000;
constexpr std::size_t kMaxSystems = 64;
constexpr i64 kMaxRanks = 1 << 16;

constexpr std::string_view kNeeded[] = {"system", "collective", "nranks", "bytes", "cluster"};

struct OpName {
  std::string_view name;
  plan::Op op;
};
constexpr OpName kOps[] = {{"all_reduce", plan::Op::all_reduce},
                           {"all_gather", plan::Op::all_gather},
                           {"reduce_scatter", plan::Op::reduce_scatter},
                           {"all_to_all", plan::Op::all_to_all},
                           {"send_recv", plan::Op::send_recv}};

std::optional<plan::Op> find_op(std::string_view name) {
  for (const OpName& row : kOps)
    if (row.name == name) return row.op;
  return {};
}

/// Reads a table of measured collectives.
class CollectiveReader {
 public:
  CollectiveReader(const Csv& table, std::string_view file) : table_(table), file_(file) {}

  Result<MeasuredCollectives> read() {
    if (table_.rows.size() > kMaxCollectiveRows)
      return fail(at(
          0, {.code = "RW0906",
              .message = "too many rows",
              .detail = fmt::format("{} rows, and the limit is {}", count(i64(table_.rows.size())),
                                    count(i64(kMaxCollectiveRows)))}));
    for (const Csv::Row& row : table_.rows)
      if (std::optional<Diagnostic> fault = take(row)) return fail(at(row.line, *fault));
    if (found_.systems.size() > kMaxSystems)
      return fail(at(0, {.code = "RW0906",
                         .message = "too many systems",
                         .detail = fmt::format("{} systems, and at most {} can be held out in turn",
                                               found_.systems.size(), kMaxSystems)}));
    return std::move(found_);
  }

 private:
  std::string_view cell(const Csv::Row& row, std::string_view column) const {
    return table_.cell(row, column);
  }

  Diagnostic at(int line, Diagnostic fault) const {
    fault.where = {.file = std::string(file_), .line = line, .column = line > 0 ? 1 : 0};
    return fault;
  }

  static Diagnostic out_of_range(std::string_view column, std::string_view text) {
    return {.code = "RW0904",
            .message = "number out of range",
            .detail = fmt::format("{} is '{}'", column, make_excerpt(text))};
  }

  void leave_out(std::string_view reason, std::string_view system) {
    std::vector<Unscored>& all = found_.unscored;
    auto same = std::find_if(all.begin(), all.end(),
                             [&](const Unscored& one) { return one.reason == reason; });
    if (same == all.end()) same = all.insert(all.end(), {std::string(reason), 0, {}});
    ++same->rows;
    if (std::find(same->systems.begin(), same->systems.end(), system) == same->systems.end())
      same->systems.emplace_back(system);
  }

  /// Returns why a row cannot be scored; empty if it can.
  std::string_view find_lack(const Csv::Row& row) const {
    if (!cell(row, "skip").empty()) return cell(row, "skip");
    if (!find_op(cell(row, "collective"))) return "unknown collective";
    if (cell(row, "bytes").empty()) return "no size";
    if (cell(row, "nranks").empty()) return "no number of ranks";
    if (cell(row, "time_us").empty() && cell(row, "busbw_GBps").empty()) return "no time";
    if (cell(row, "cluster").empty()) return "system not in the catalog";
    return {};
  }

  /// Reads a plausible positive number; leaves `into` unchanged if the cell is empty.
  std::optional<Diagnostic> read_positive(const Csv::Row& row, std::string_view column,
                                          double& into) {
    const std::string_view text = cell(row, column);
    if (text.empty()) return {};
    const Result<double> value = parse_real(text);
    if (!value || !(*value > 0 && *value <= 1e15)) return out_of_range(column, text);
    into = *value;
    return {};
  }

  std::optional<Diagnostic> take(const Csv::Row& row) {
    const std::string_view system = cell(row, "system");
    if (const std::string_view reason = find_lack(row); !reason.empty()) {
      leave_out(reason, system);
      return {};
    }
    const Result<i64> ranks = parse_count(cell(row, "nranks"), 2);
    if (!ranks || *ranks > kMaxRanks) return out_of_range("nranks", cell(row, "nranks"));
    double size = 0, time = 0, rate = 0, harness = 0;
    if (std::optional<Diagnostic> fault = read_positive(row, "bytes", size)) return fault;
    if (std::optional<Diagnostic> fault = read_positive(row, "time_us", time)) return fault;
    if (std::optional<Diagnostic> fault = read_positive(row, "busbw_GBps", rate)) return fault;
    if (std::optional<Diagnostic> fault = read_positive(row, "harness_us", harness)) return fault;
    const plan::Op op = *find_op(cell(row, "collective"));
    const Seconds measured =
        time > 0 ? time * 1.0_us
                 : cost::count_wire_bytes(op, Bytes{size}, *ranks) / (rate * 1.0_GBps);
    const bool plain = cell(row, "algo").starts_with("Ring");
    const Result<std::size_t> where = find_setting(cell(row, "cluster"), *ranks, plain);
    if (!where) return where.error();
    found_.rows.push_back({.line = row.line,
                           .system = std::string(system),
                           .setting = *where,
                           .op = op,
                           .size = Bytes{size},
                           .time = measured,
                           .harness = harness * 1.0_us});
    std::vector<std::string>& systems = found_.systems;
    if (std::find(systems.begin(), systems.end(), system) == systems.end())
      systems.emplace_back(system);
    return {};
  }

  /// Returns the index of a setting, adding it if it is new.
  Result<std::size_t> find_setting(std::string_view name, i64 ranks, bool plain) {
    std::vector<CollectiveSetting>& all = found_.settings;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].cluster_name == name && all[i].ranks == ranks && all[i].plain == plain) return i;
    Result<cluster::Cluster> cluster = catalog::find_cluster(name);
    if (!cluster) return fail(cluster.error());
    if (cluster->devices() < ranks)
      return fail(
          {.code = "RW0904",
           .message = "number out of range",
           .detail = fmt::format("{} has {}, but nranks is {}", cluster->name,
                                 plural(cluster->devices(), "device", "devices"), count(ranks))});
    if (plain) cluster->device.generation.clear();
    const plan::Plan plan{.dp = ranks};
    const mesh::GroupShape shape =
        make_group_shape(plan.meshes(), mesh::GroupKind::dp, plan.shards());
    all.push_back({.cluster_name = std::string(name),
                   .plain = plain,
                   .ranks = ranks,
                   .cluster = *cluster,
                   .span = span(shape, ranks, {}, *cluster)});
    return all.size() - 1;
  }

  const Csv& table_;
  std::string_view file_;
  MeasuredCollectives found_;
};

}  // namespace

bool holds_collectives(const Csv& table) {
  return std::all_of(std::begin(kNeeded), std::end(kNeeded), [&](std::string_view column) {
    return std::find(table.header.begin(), table.header.end(), column) != table.header.end();
  });
}

Result<MeasuredCollectives> read_collectives(const Csv& table, std::string_view file) {
  return CollectiveReader(table, file).read();
}

}  // namespace rankwright::validate
