#include "rankwright/validate/collective_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/links.h"
#include "rankwright/cost/traffic_cost.h"
#include "rankwright/plan/plan.h"

namespace rankwright::validate {
namespace {

// A fit evaluates every row several hundred times, and there is one fit per system.
constexpr std::size_t kMaxCollectiveRows = 5000;
constexpr std::size_t kMaxSystems = 64;
constexpr i64 kMaxRanks = 1 << 16;
constexpr i64 kMaxTokens = 1 << 24;  // also limits their width and their experts

constexpr std::string_view kNeeded[] = {"system", "collective", "nranks", "bytes", "cluster"};

struct CallName {
  std::string_view name;
  plan::Op op;
  CallKind kind = CallKind::collective;
};
constexpr CallName kCalls[] = {{"all_reduce", plan::Op::all_reduce},
                               {"all_gather", plan::Op::all_gather},
                               {"reduce_scatter", plan::Op::reduce_scatter},
                               {"all_to_all", plan::Op::all_to_all},
                               {"send_recv", plan::Op::send_recv},
                               {"dispatch", plan::Op::all_to_all, CallKind::dispatch},
                               {"combine", plan::Op::all_to_all, CallKind::combine}};

const CallName* find_call(std::string_view name) {
  for (const CallName& row : kCalls)
    if (row.name == name) return &row;
  return nullptr;
}

/// Bytes of one element: fp8 has a scale of 4 bytes for 128 elements. 0: another format.
double count_element_bytes(std::string_view dtype) {
  return dtype == "bf16" ? 2 : dtype == "fp8" ? 1 + 4.0 / 128 : 0;
}

/// Returns the bytes that a source counted for its rate: each token once per rank or once per node.
Bytes count_rated_bytes(const CollectiveSetting& setting, Bytes size, bool per_node) {
  const DispatchSetting& d = *setting.dispatch;
  const double ranks = double(setting.ranks);
  const double reached =
      per_node ? cost::count_reached_places(ranks / double(std::max<i64>(1, setting.span.min[0])),
                                            d.copies, d.groups, d.active_groups)
               : cost::count_reached_places(ranks, d.copies);
  return reached / double(d.copies) * size;
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
    const CallName* call = find_call(cell(row, "collective"));
    if (call == nullptr) return "unknown collective";
    const auto lacks = [&](std::string_view column) { return cell(row, column).empty(); };
    const bool tokens = call->kind != CallKind::collective;
    if (tokens ? lacks("tokens") || lacks("hidden") || lacks("topk") : lacks("bytes"))
      return "no size";
    if (tokens && count_element_bytes(cell(row, "dtype")) == 0) return "unknown format";
    if (tokens && !find_dispatcher(row)) return "unknown dispatcher";
    if (lacks("nranks")) return "no number of ranks";
    if (lacks("time_us") &&
        (tokens ? lacks("rank_GBps") && lacks("node_GBps") : lacks("busbw_GBps")))
      return "no time";
    if (lacks("cluster")) return "system not in the catalog";
    return {};
  }

  std::optional<plan::Dispatcher> find_dispatcher(const Csv::Row& row) const {
    const std::span<const std::string_view> names = plan::dispatcher_names();
    const auto found = std::find(names.begin(), names.end(), cell(row, "dispatcher"));
    if (found == names.end()) return {};
    return plan::Dispatcher(found - names.begin());
  }

  /// Reads a plausible count; leaves `into` unchanged if the cell is empty.
  std::optional<Diagnostic> read_count(const Csv::Row& row, std::string_view column, i64& into) {
    const std::string_view text = cell(row, column);
    if (text.empty()) return {};
    const Result<i64> value = parse_count(text, 1);
    if (!value || *value > kMaxTokens) return out_of_range(column, text);
    into = *value;
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
    const CallName& call = *find_call(cell(row, "collective"));
    if (call.kind != CallKind::collective) return take_dispatch(row, call, *ranks);
    double size = 0, time = 0, rate = 0, harness = 0;
    if (std::optional<Diagnostic> fault = read_positive(row, "bytes", size)) return fault;
    if (std::optional<Diagnostic> fault = read_positive(row, "time_us", time)) return fault;
    if (std::optional<Diagnostic> fault = read_positive(row, "busbw_GBps", rate)) return fault;
    if (std::optional<Diagnostic> fault = read_positive(row, "harness_us", harness)) return fault;
    const Seconds measured =
        time > 0 ? time * 1.0_us
                 : cost::count_wire_bytes(call.op, Bytes{size}, *ranks) / (rate * 1.0_GBps);
    const bool plain = cell(row, "algo").starts_with("Ring");
    std::optional<DispatchSetting> dispatch;
    if (const std::optional<plan::Dispatcher> dispatcher = find_dispatcher(row))
      dispatch = {.dispatcher = *dispatcher, .hidden = 1, .copies = 1};
    const Result<std::size_t> where = find_setting(cell(row, "cluster"), *ranks, plain, dispatch);
    if (!where) return where.error();
    add({.line = row.line,
         .system = std::string(system),
         .setting = *where,
         .op = call.op,
         .size = Bytes{size},
         .time = measured,
         .harness = harness * 1.0_us});
    return {};
  }

  std::optional<Diagnostic> take_dispatch(const Csv::Row& row, const CallName& call, i64 ranks) {
    DispatchSetting dispatch{.dispatcher = *find_dispatcher(row)};
    i64 tokens = 0;
    for (const auto& [column, into] : {std::pair<std::string_view, i64*>{"tokens", &tokens},
                                       {"hidden", &dispatch.hidden},
                                       {"topk", &dispatch.copies},
                                       {"groups", &dispatch.groups},
                                       {"active_groups", &dispatch.active_groups},
                                       {"sms", &dispatch.processors}})
      if (std::optional<Diagnostic> fault = read_count(row, column, *into)) return fault;
    double time = 0, per_rank = 0, per_node = 0;
    if (std::optional<Diagnostic> fault = read_positive(row, "time_us", time)) return fault;
    if (std::optional<Diagnostic> fault = read_positive(row, "rank_GBps", per_rank)) return fault;
    if (std::optional<Diagnostic> fault = read_positive(row, "node_GBps", per_node)) return fault;
    const double element = count_element_bytes(cell(row, "dtype"));
    const Bytes size{double(tokens) * double(dispatch.copies) * double(dispatch.hidden) * element};
    const Result<std::size_t> where = find_setting(cell(row, "cluster"), ranks, false, dispatch);
    if (!where) return where.error();
    const CollectiveSetting& setting = found_.settings[*where];
    const Seconds measured = time > 0 ? time * 1.0_us
                             : per_rank > 0
                                 ? count_rated_bytes(setting, size, false) / (per_rank * 1.0_GBps)
                                 : count_rated_bytes(setting, size, true) / (per_node * 1.0_GBps);
    constexpr double kReadAndWrite = 2;
    const BytesPerSecond memory = catalog::get_calibration()[cluster::Constant::memory_share] *
                                  setting.cluster.device.memory_bandwidth;
    const Seconds copy = cell(row, "copied").empty()
                             ? Seconds{}
                             : kReadAndWrite * count_rated_bytes(setting, size, false) / memory;
    found_.dispatches = true;
    add({.line = row.line,
         .system = std::string(cell(row, "system")),
         .setting = *where,
         .kind = call.kind,
         .op = call.op,
         .size = size,
         .time = measured,
         .harness = copy});
    return {};
  }

  void add(MeasuredCollective row) {
    std::vector<std::string>& systems = found_.systems;
    if (std::find(systems.begin(), systems.end(), row.system) == systems.end())
      systems.push_back(row.system);
    found_.rows.push_back(std::move(row));
  }

  /// Returns the index of a setting, adding it if it is new.
  Result<std::size_t> find_setting(std::string_view name, i64 ranks, bool plain,
                                   const std::optional<DispatchSetting>& dispatch) {
    std::vector<CollectiveSetting>& all = found_.settings;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].cluster_name == name && all[i].ranks == ranks && all[i].plain == plain &&
          all[i].dispatch == dispatch)
        return i;
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
                   .span = span(shape, ranks, {}, *cluster),
                   .dispatch = dispatch});
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
