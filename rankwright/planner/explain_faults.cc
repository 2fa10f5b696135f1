#include "rankwright/planner/explain_faults.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/base/suggest.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/catalog/failures.h"

namespace rankwright::planner {
namespace {

constexpr std::size_t kMaxFaults = 64;  // per kind
constexpr Seconds kMaxTime{86400.0 * 365 * 1000};

/// Returns the error of an option: what is wrong, and what to type.
Diagnostic usage_error(std::string what, std::string hint) {
  return {.code = "", .message = std::move(what), .hint = std::move(hint)};
}

struct NamedValue {
  std::string_view name, value;
};

/// Splits "17:1.3x" at its last colon, because level names may contain colons.
std::optional<NamedValue> split(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size())
    return std::nullopt;
  return NamedValue{text.substr(0, colon), text.substr(colon + 1)};
}

/// Parses a factor: "1.3x", "1.3" and "130%" are equal.
std::optional<double> parse_factor(std::string_view text) {
  double scale = 1;
  if (text.ends_with('%')) scale = 0.01;
  if (text.ends_with('%') || text.ends_with('x') || text.ends_with('X')) text.remove_suffix(1);
  const Result<double> number = parse_real(text);
  if (!number) return std::nullopt;
  return scale * *number;
}

Diagnostic rank_error(const plan::TrainingConfig& config, std::string_view flag,
                      std::string_view rank, std::string_view rest) {
  return usage_error(
      fmt::format("no rank {}: the plan has ranks 0 to {}", make_excerpt(rank), config.world - 1),
      fmt::format("--{} {}{}", flag, config.world - 1, rest));
}

Result<cost::SlowRank> read_slow(const plan::TrainingConfig& config, const std::string& text) {
  const std::optional<NamedValue> pair = split(text);
  if (!pair)
    return fail(
        usage_error(fmt::format("--slow '{}' is not a rank and a factor", make_excerpt(text)),
                    "--slow 17:1.3x makes rank 17 compute 1.3 times as slowly"));
  const Result<i64> rank = parse_count(pair->name, 0);
  if (!rank || *rank >= config.world)
    return fail(rank_error(config, "slow", pair->name, ":" + make_excerpt(pair->value)));
  const std::optional<double> times = parse_factor(pair->value);
  if (!times || *times < cost::kMinFactor || *times > cost::kMaxFactor)
    return fail(
        usage_error(fmt::format("--slow {}: '{}' is not a factor from {} to {}", *rank,
                                make_excerpt(pair->value), cost::kMinFactor, cost::kMaxFactor),
                    fmt::format("--slow {}:1.3x makes it compute 1.3 times as slowly", *rank)));
  return cost::SlowRank{*rank, *times};
}

Result<int> read_level(const cluster::Cluster& cluster, std::string_view name) {
  std::vector<std::string> known;
  for (std::size_t k = 0; k < cluster.levels.size(); ++k) {
    known.push_back(cluster.levels[k].name);
    if (known.back() == name) return int(k);
  }
  const std::optional<std::string> near = nearest(name, known);
  return fail(usage_error(fmt::format("the cluster has no level '{}'", make_excerpt(name)),
                          near ? fmt::format("did you mean {}?", *near)
                               : fmt::format("levels: {}", fmt::join(known, ", "))));
}

Result<cost::SlowLink> read_link(const plan::TrainingConfig& config, const std::string& text) {
  const std::string& first = config.cluster.levels.back().name;
  const std::optional<NamedValue> pair = split(text);
  if (!pair)
    return fail(
        usage_error(fmt::format("--slow-link '{}' is not a level and a factor", make_excerpt(text)),
                    fmt::format("--slow-link {}:0.5x halves its bandwidth", first)));
  const Result<int> level = read_level(config.cluster, pair->name);
  if (!level) return fail(level.error());
  const BytesPerSecond now = config.cluster.levels[std::size_t(*level)].bandwidth;
  const Result<BytesPerSecond> stated = parse_bandwidth(pair->value);
  const double times = stated ? *stated / now : parse_factor(pair->value).value_or(-1);
  if (!(times >= cost::kMinBandwidth && times <= cost::kMaxBandwidth))
    return fail(usage_error(
        fmt::format("--slow-link {}: '{}' is neither a factor from {} to {} nor a bandwidth",
                    pair->name, make_excerpt(pair->value), cost::kMinBandwidth,
                    cost::kMaxBandwidth),
        fmt::format("{0}:0.5x, {0}:50% or {0}:{1}", pair->name, show(0.5 * now))));
  return cost::SlowLink{*level, times * now};
}

/// Reads all values of a flag. Fails if there are too many, or if two have the same key.
template <class T, class Key>
Result<std::vector<T>> read_each(const plan::TrainingConfig& config,
                                 const std::vector<std::string>& texts, std::string_view flag,
                                 Result<T> (*read)(const plan::TrainingConfig&, const std::string&),
                                 Key key) {
  if (texts.size() > kMaxFaults)
    return fail(usage_error(fmt::format("--{} is given {} times", flag, texts.size()),
                            fmt::format("pass at most {}", kMaxFaults)));
  std::vector<T> all;
  for (const std::string& text : texts) {
    Result<T> one = read(config, text);
    if (!one) return fail(one.error());
    for (const T& other : all)
      if (key(other) == key(*one))
        return fail(usage_error(fmt::format("--{} {} is given twice", flag,
                                            make_excerpt(text.substr(0, text.rfind(':')))),
                                "pass it once"));
    all.push_back(*one);
  }
  return all;
}

/// Reads the duration of a flag; empty if the flag is not given. It must be above 0, or at least 0
/// if `zero` is allowed.
Result<std::optional<Seconds>> read_time(const std::string& text, std::string_view flag,
                                         std::string_view example, bool zero) {
  if (text.empty()) return std::optional<Seconds>{};
  const Result<Seconds> time = parse_duration(text);
  const std::string type = fmt::format("--{} \"{}\"", flag, example);
  if (!time) return fail(usage_error(fmt::format("--{} {}", flag, time.error().detail), type));
  if (*time > kMaxTime)
    return fail(usage_error(
        fmt::format("--{} '{}' exceeds {}", flag, make_excerpt(text), show(kMaxTime)), type));
  if (time->value == 0 && !zero)
    return fail(
        usage_error(fmt::format("--{} '{}' is not above 0", flag, make_excerpt(text)), type));
  return std::optional<Seconds>(*time);
}

/// Returns a published figure with its source.
std::string cite_row(const catalog::FailureRow& row) {
  return fmt::format("{}, {}: {}{}", row.name, row.system, row.source,
                     row.verified == "yes" ? "" : " (not verified)");
}

/// Returns which published restart times apply to this number of GPUs.
std::string describe_restart(i64 gpus) {
  std::vector<i64> known;
  for (const catalog::FailureRow& row : catalog::list_failure_rows())
    if (row.kind == catalog::FailureRow::Kind::restart) known.push_back(row.gpus);
  const auto above = std::lower_bound(known.begin(), known.end(), gpus);
  std::string text = "published for ";
  if (above == known.end())
    text += fmt::format("{} GPUs, the largest job: a lower bound", count(known.back()));
  else if (*above == gpus || above == known.begin())
    text += fmt::format("{} GPUs{}", count(*above), *above == gpus ? "" : ", the smallest job");
  else
    text += fmt::format("{} and {} GPUs, interpolated", count(*(above - 1)), count(*above));
  return text + "; assumes a spare node";
}

/// Reads failure rate, restart time and checkpoint time as stated, else as published.
Result<cost::FailureTask> read_failure(const plan::TrainingConfig& config,
                                       const FaultOptions& options, FailureSources& from) {
  using Kind = catalog::FailureRow::Kind;
  const Result<std::optional<Seconds>> mtbf = read_time(options.mtbf, "mtbf", "3 h", false);
  const Result<std::optional<Seconds>> restart =
      read_time(options.restart_time, "restart-time", "5 min", true);
  const Result<std::optional<Seconds>> checkpoint =
      read_time(options.checkpoint_time, "checkpoint-time", "40 s", true);
  const Result<std::optional<Seconds>> interval =
      read_time(options.checkpoint_interval, "checkpoint-interval", "30 min", false);
  for (const Result<std::optional<Seconds>>* one : {&mtbf, &restart, &checkpoint, &interval})
    if (!*one) return fail(one->error());
  if (*mtbf && !options.failures.empty())
    return fail(usage_error("--mtbf and --failures both set the failure rate", "use one of them"));
  const Result<catalog::FailureRow> rate = options.failures.empty()
                                               ? Result<catalog::FailureRow>(usual(Kind::rate))
                                               : catalog::find_failure_rate(options.failures);
  if (!rate) return fail(usage_error(rate.error().detail, rate.error().hint));

  const catalog::FailureRow& storage = usual(Kind::storage);
  const catalog::FailureRow& hang = usual(Kind::hang);
  const Bytes size = cost::count_checkpoint_bytes(config);
  const i64 nodes = cost::count_checkpoint_nodes(config);
  cost::FailureTask task{.interval = *interval, .hang = Seconds{hang.value}};
  task.model.between = mtbf->value_or(compute_time_between_failures(*rate, config.world));
  task.model.restart = restart->value_or(catalog::estimate_restart_time(config.world));
  task.model.checkpoint =
      checkpoint->value_or(size / (double(nodes) * BytesPerSecond{storage.value * 1e9}));
  const auto say = [&](bool stated, std::string& where, std::string text, std::string cite) {
    where = stated ? "as given" : std::move(text);
    if (!stated) from.cites.push_back(std::move(cite));
  };
  say(mtbf->has_value(), from.between,
      fmt::format("{} per 1,000 node-days, {}", rate->value, rate->name), cite_row(*rate));
  say(restart->has_value(), from.restart, describe_restart(config.world),
      cite_row(catalog::find_nearest_restart(config.world)));
  say(checkpoint->has_value(), from.checkpoint,
      fmt::format("{} at {}: {} GB/s per node, published for {} nodes, assumed for {}", show(size),
                  show(double(nodes) * BytesPerSecond{storage.value * 1e9}), storage.value,
                  count(storage.gpus / catalog::kNodeGpus), count(nodes)),
      cite_row(storage));
  from.hang = hang.system;
  from.cites.push_back(cite_row(hang));
  return task;
}

/// Estimates what the faults cost, and sets `slowed`. Fails if an option is invalid. Requires: a
/// config without constraint violations.
Result<Faults> estimate_faults(const plan::TrainingConfig& config, const FaultOptions& options,
                               plan::TrainingConfig& slowed) {
  if (options.about_failures() && !options.fail)
    return fail(usage_error("failure rates, checkpoints and restarts need --fail", "add --fail 0"));
  const Result<std::vector<cost::SlowRank>> slow = read_each<cost::SlowRank>(
      config, options.slow, "slow", read_slow, [](const cost::SlowRank& s) { return s.rank; });
  if (!slow) return fail(slow.error());
  const Result<std::vector<cost::SlowLink>> links =
      read_each<cost::SlowLink>(config, options.slow_link, "slow-link", read_link,
                                [](const cost::SlowLink& s) { return s.level; });
  if (!links) return fail(links.error());
  if (options.fail && (*options.fail < 0 || *options.fail >= config.world))
    return fail(rank_error(config, "fail", std::to_string(*options.fail), ""));

  Faults faults;
  slowed.cluster = with_links(config.cluster, *links);
  if (!links->empty())
    faults.links = estimate_link_loss(config, select_calibration(config), *links);
  if (!slow->empty()) {
    faults.slow = estimate_straggler(slowed, select_calibration(config), *slow);
    faults.mitigation = mitigate_straggler(slowed, select_calibration(config), *faults.slow);
  }
  if (options.fail) {
    const Result<cost::FailureTask> task = read_failure(slowed, options, faults.from);
    if (!task) return fail(task.error());
    faults.dead = options.fail;
    faults.failure = estimate_failure(slowed, select_calibration(config), *options.fail, *task);
  }
  return faults;
}

}  // namespace

Outcome<FaultsAnswer> explain_faults(const FaultsRequest& request) {
  Outcome<ValidPlan> plan = read_valid_plan(request.plan);
  if (!plan) return tl::unexpected(std::move(plan.error()));
  plan::TrainingConfig slowed = plan->config();
  Result<Faults> faults = estimate_faults(plan->config(), request.faults, slowed);
  if (!faults) return refuse_usage(faults.error().message, faults.error().hint);
  return FaultsAnswer{std::move(*plan), std::move(slowed), std::move(*faults)};
}

}  // namespace rankwright::planner
