#include "rankwright/fit/link_fit.h"

#include <fmt/format.h>

#include <cmath>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/collective.h"
#include "rankwright/fit/level_fit.h"
#include "rankwright/plan/plan.h"

namespace rankwright::fit {
namespace {

// Large messages determine the bandwidth, small ones the latency; between them the protocols
// change.
constexpr Bytes kLarge{16.0 * 1024 * 1024};
constexpr Bytes kStillLarge{1024.0 * 1024};  // used if no larger messages were measured
constexpr Bytes kSmall{64.0 * 1024};
constexpr std::size_t kMaxCallsOfKind = 64;  // of large and of small calls each
constexpr int kFitRounds = 40, kHalvings = 60;

constexpr double kMinLinkRate = 1e6, kMaxLinkRate = 1e14;         // bytes per second
constexpr double kMinLinkLatency = 1e-9, kMaxLinkLatency = 1e-1;  // seconds

void report_unusable(const MeasuredSeries& series, std::string detail, Severity severity,
                     Diagnostics& findings) {
  findings.push_back({.code = "RW0625",
                      .severity = severity,
                      .message = "the measurement does not match this cluster",
                      .detail = std::move(detail),
                      .where = {.file = series.file}});
}

/// Returns the span of all ranks as one group, placed on the first GPUs of the first hosts.
mesh::Span find_span(const MeasuredSeries& series, const cluster::Cluster& cluster) {
  const plan::Plan plan{.dp = series.ranks};
  const mesh::GroupShape shape =
      make_group_shape(plan.meshes(), mesh::GroupKind::dp, plan.shards());
  const i64 each = series.ranks / series.hosts;
  mesh::Placement placement;
  if (series.hosts > 1 && each != cluster.host_devices) {
    placement.kind = mesh::Placement::Kind::listed;
    for (i64 rank = 0; rank < series.ranks; ++rank)
      placement.devices.push_back(rank / each * cluster.host_devices + rank % each);
  }
  return span(shape, series.ranks, placement, cluster);
}

class LinkFit {
 public:
  LinkFit(cluster::Cluster& cluster, const MeasuredSeries& series, const mesh::Span& span)
      : cluster_(cluster),
        level_(cluster.levels[std::size_t(span.level)]),
        op_(series.op),
        span_(span) {
    Bytes max{};
    for (const MeasuredCall& call : series.calls) max = std::max(max, call.size);
    const Bytes large = max >= kLarge ? kLarge : kStillLarge;
    for (const MeasuredCall& call : series.calls) {
      if (call.size >= large) large_.push_back(call);
      if (call.size <= kSmall) small_.push_back(call);
    }
    // Files list sizes in ascending order: keep the largest large ones and the smallest small ones.
    if (large_.size() > kMaxCallsOfKind)
      large_.erase(large_.begin(), large_.end() - kMaxCallsOfKind);
    if (small_.size() > kMaxCallsOfKind) small_.resize(kMaxCallsOfKind);
  }

  void run() {
    const cluster::Level before = level_;
    for (int round = 0; round < kFitRounds; ++round) {
      const cluster::Level last = level_;
      rated_ = !large_.empty() && find(level_.bandwidth.value, kMinLinkRate, kMaxLinkRate, large_);
      timed_ =
          !small_.empty() && find(level_.latency.value, kMinLinkLatency, kMaxLinkLatency, small_);
      if (level_ == last) break;
    }
    if (!rated_) level_.bandwidth = before.bandwidth;
    if (!timed_) level_.latency = before.latency;
    if (rated_) {
      level_.bandwidth.value = round_to_four_digits(level_.bandwidth.value);
      level_.origin = cluster::Origin::measured;
    }
    if (timed_) {
      level_.latency.value = round_to_four_digits(level_.latency.value);
      level_.latency_origin = cluster::Origin::measured;
    }
  }

  bool rated() const { return rated_; }
  bool has_large() const { return !large_.empty(); }
  bool has_small() const { return !small_.empty(); }
  bool timed() const { return timed_; }
  const cluster::Level& level() const { return level_; }

 private:
  /// Returns the mean of ln(model / measured).
  double error(const std::vector<MeasuredCall>& calls) const {
    double sum = 0;
    for (const MeasuredCall& call : calls)
      sum += std::log(cost::estimate_collective_time(op_, call.size, span_, cluster_,
                                                     catalog::get_calibration()) /
                      call.time);
    return sum / double(calls.size());
  }

  /// Sets `value` to where the error is 0, by bisection: the error is monotonic between `low` and
  /// `high`. Returns false and leaves `value` unchanged if the error has the same sign at both
  /// ends.
  bool find(double& value, double low, double high, const std::vector<MeasuredCall>& calls) {
    const double before = value;
    value = low;
    const bool low_above = error(calls) > 0;
    value = high;
    if ((error(calls) > 0) == low_above) {
      value = before;
      return false;
    }
    for (int i = 0; i < kHalvings; ++i) {
      value = std::sqrt(low * high);
      ((error(calls) > 0) == low_above ? low : high) = value;
    }
    return true;
  }

  cluster::Cluster& cluster_;
  cluster::Level& level_;  // a level of cluster_
  plan::Op op_;
  mesh::Span span_;
  std::vector<MeasuredCall> large_{}, small_{};
  bool rated_ = false, timed_ = false;
};

}  // namespace

bool calibrate_links(cluster::Cluster& cluster, const MeasuredSeries& series,
                     Diagnostics& findings) {
  const bool whole = series.hosts >= 1 && divides(series.hosts, series.ranks);
  const i64 hosts = cluster.devices() / std::max<i64>(1, cluster.host_devices);
  if (series.ranks < 2 || !whole || series.hosts > hosts ||
      series.ranks / series.hosts > cluster.host_devices) {
    report_unusable(
        series,
        fmt::format("{} ranks on {} do not fit on {} of {}", count(series.ranks),
                    plural(series.hosts, "host", "hosts"), plural(hosts, "host", "hosts"),
                    plural(cluster.host_devices, "GPU", "GPUs")),
        Severity::error, findings);
    return false;
  }
  const mesh::Span span = find_span(series, cluster);
  LinkFit fit(cluster, series, span);
  fit.run();
  const std::string_view level = fit.level().name;
  if (fit.has_large() && !fit.rated())
    report_unusable(
        series,
        fmt::format(
            "no bandwidth of {} explains the times of large messages: something else limits them",
            level),
        Severity::warning, findings);
  if (fit.has_small() && !fit.timed())
    report_unusable(series,
                    fmt::format("no latency of {} explains the times of small messages", level),
                    Severity::warning, findings);
  if (!fit.has_large() && !fit.has_small())
    report_unusable(series, "it has neither messages up to 64 kB nor from 1 MB on",
                    Severity::warning, findings);
  return true;
}

}  // namespace rankwright::fit
