#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/fit/link_fit.h"
#include "rankwright/import/cluster/cluster_parts.h"
#include "rankwright/import/cluster/hardware_ids.h"

namespace rankwright::importer {
namespace {

/// Bandwidth between the sockets of a host, shared by the GPUs of one socket: NCCL's value for
/// Sapphire Rapids (SRP_QPI_BW in its topo.h). No file states it.
constexpr BytesPerSecond kSocketRate = 22.0_GBps;

/// Names of the levels above the first switches; the innermost level has the name of the network.
constexpr std::string_view kOuter[] = {"spine", "core", "tier-4", "tier-5", "tier-6", "tier-7"};

class ClusterResolver {
 public:
  ClusterResolver(const ClusterParts& parts, Diagnostics& findings)
      : parts_(parts), findings_(findings) {}

  std::optional<cluster::Cluster> resolve() {
    if (!find_device()) return std::nullopt;
    system_ = &nearest_system();
    cluster_.host_devices =
        parts_.host_devices ? parts_.host_devices->value : assume_host_devices();
    if (!add_inner_levels() || !count_hosts() || !add_outer_levels()) return std::nullopt;
    cluster_.name = fmt::format("{}-{}x{}", cluster_.device.name, hosts_, cluster_.host_devices);
    for (const fit::MeasuredSeries& series : parts_.series)
      if (!calibrate_links(cluster_, series, findings_)) return std::nullopt;
    rate_outer_levels();
    return std::move(cluster_);
  }

 private:
  void assume(std::string detail) {
    findings_.push_back({.code = "RW0623",
                         .severity = Severity::note,
                         .message = "assumed: no file gives this value",
                         .detail = std::move(detail)});
  }

  bool refuse(std::string_view code, std::string_view message, std::string detail,
              std::string hint = {}) {
    findings_.push_back({.code = code,
                         .severity = Severity::error,
                         .message = std::string(message),
                         .detail = std::move(detail),
                         .hint = std::move(hint)});
    return false;
  }

  /// Returns the devices of catalog systems whose NVLink bandwidth matches the counted links.
  std::vector<std::string> find_candidates(bool same_size) const {
    std::vector<std::string> names;
    for (const catalog::System& system : catalog::systems()) {
      const cluster::Device& device = system.unit.device;
      const NvlinkKind* const kind = nvlink_of(device.generation);
      if (kind == nullptr || !parts_.nvlinks) continue;
      const BytesPerSecond rate = double(links(*kind)) * kind->rate;
      const bool same_host = !same_size || !parts_.host_devices ||
                             parts_.host_devices->value == system.unit.host_devices;
      if (rate == system.unit.levels[0].bandwidth && same_host &&
          std::find(names.begin(), names.end(), device.name) == names.end())
        names.push_back(device.name);
    }
    return names;
  }

  i64 links(const NvlinkKind& kind) const {
    const NvLinks& counted = parts_.nvlinks->value;
    return counted.all <= kind.links ? counted.all : counted.pair;
  }

  bool find_device() {
    std::string name;
    if (parts_.device) {
      name = parts_.device->value;
    } else {
      std::vector<std::string> all = find_candidates(true);
      if (all.empty()) all = find_candidates(false);
      if (all.empty())
        return refuse("RW0912", "missing value", "no file gives the GPU type",
                      "rankwright import FILE --device h100-sxm -o cluster.yaml");
      name = all.front();
      const i64 number = links(*nvlink_of(catalog::find_device(name)->generation));
      std::string others;
      for (std::size_t i = 1; i < all.size(); ++i) others += (i == 1 ? "" : ", ") + all[i];
      assume(others.empty()
                 ? fmt::format("GPU type {}: the only one of the catalog with {} NVLinks", name,
                               number)
                 : fmt::format("GPU type {}: the first of the catalog with {} NVLinks; {} {} as "
                               "many (--device)",
                               name, number, others, all.size() == 2 ? "has" : "have"));
    }
    const Result<cluster::Device> device = catalog::find_device(name);
    if (!device) {
      findings_.push_back(device.error());
      return false;
    }
    cluster_.device = *device;
    return true;
  }

  /// Returns the most similar system: same device, else same generation, else the first; same GPUs
  /// per host if possible.
  const catalog::System& nearest_system() const {
    const auto similarity = [&](const catalog::System& system) {
      const cluster::Cluster& unit = system.unit;
      int points = 0;
      if (unit.device.name == cluster_.device.name) points += 4;
      if (unit.device.generation == cluster_.device.generation) points += 2;
      if (parts_.host_devices && unit.host_devices == parts_.host_devices->value) points += 1;
      return points;
    };
    return *std::max_element(catalog::systems().begin(), catalog::systems().end(),
                             [&](const catalog::System& a, const catalog::System& b) {
                               return similarity(a) < similarity(b);
                             });
  }

  i64 assume_host_devices() {
    i64 devices = 0;
    for (const fit::MeasuredSeries& series : parts_.series)
      devices = std::max(devices, series.ranks / series.hosts);
    if (devices > 0) {
      assume(fmt::format("{} GPUs per host, the number of measured ranks", devices));
      return devices;
    }
    devices = system_->unit.host_devices;
    assume(fmt::format("{} GPUs per host, as in {}", devices, system_->name));
    return devices;
  }

  /// Returns a level with the bandwidth of the nearest system.
  cluster::Level level_of_system(std::size_t index, i64 arity) const {
    cluster::Level level = system_->unit.levels[index];
    level.arity = arity;
    level.origin = cluster::Origin::assumed;
    return level;
  }

  bool add_inner_levels() {
    if (cluster_.host_devices == 1 || !parts_.inside) return add_inner_level_of_system();
    i64 devices = 1;
    const std::vector<Tier>& tiers = parts_.inside->value;
    bool switched = false;
    for (const Tier& tier : tiers) {
      devices *= tier.arity;
      cluster_.levels.push_back(level_of(tier, switched));
      switched = switched || tier.kind == Tier::Kind::pcie_switch;
    }
    if (devices == cluster_.host_devices) return true;
    findings_.push_back(
        {.code = "RW0622",
         .severity = Severity::warning,
         .message = "two files disagree",
         .detail = fmt::format("{} connects {} GPUs, but a host has {}: using one level",
                               parts_.inside->file, devices, cluster_.host_devices)});
    cluster::Level level = cluster_.levels.front();
    level.arity = cluster_.host_devices;
    cluster_.levels = {level};
    return true;
  }

  bool add_inner_level_of_system() {
    const bool same = system_->unit.device.name == cluster_.device.name;
    cluster::Level level = level_of_system(0, cluster_.host_devices);
    if (parts_.nvlinks || parts_.nvlink) {
      level = level_of({Tier::Kind::nvlink, cluster_.host_devices}, false);
    } else if (!same || parts_.pcie) {
      level = level_of({Tier::Kind::pcie, cluster_.host_devices}, false);
    } else if (cluster_.host_devices > 1) {
      assume(fmt::format("inside a host: {}, {} per GPU, as in {}", level.name,
                         show(level.bandwidth), system_->name));
    }
    cluster_.levels.push_back(level);
    return true;
  }

  cluster::Level level_of(const Tier& tier, bool switched) {
    cluster::Level level{.name = std::string(name(tier.kind)), .arity = tier.arity};
    const bool nvlink = tier.kind == Tier::Kind::nvlink;
    level.latency = nvlink ? 1.2_us : 5.0_us;  // as in systems.csv
    if (nvlink) {
      nvlink_rate(level);
    } else if (tier.kind == Tier::Kind::socket) {
      level.bandwidth = kSocketRate;
      level.per = cluster::Level::Per::domain;
      level.origin = cluster::Origin::assumed;
      assume(fmt::format("between sockets: {}", show(kSocketRate)));
    } else {
      pcie_rate(level);
      if (tier.kind == Tier::Kind::pcie && switched)
        level.per = cluster::Level::Per::domain;  // shared uplink of the switch
    }
    return level;
  }

  void nvlink_rate(cluster::Level& level) {
    const NvlinkKind* const kind = nvlink_of(cluster_.device.generation);
    if (parts_.nvlink) {
      level.bandwidth = parts_.nvlink->value;
    } else if (parts_.nvlinks && kind != nullptr) {
      level.bandwidth = double(links(*kind)) * kind->rate;
    } else {
      level.bandwidth = system_->unit.levels[0].bandwidth;
      level.origin = cluster::Origin::assumed;
      assume(fmt::format("NVLink: {} per GPU, as in {}", show(level.bandwidth), system_->name));
    }
  }

  void pcie_rate(cluster::Level& level) {
    if (parts_.pcie) {
      level.bandwidth = parts_.pcie->value;
      return;
    }
    level.bandwidth = pcie_of(cluster_.device.generation);
    level.origin = cluster::Origin::assumed;
    if (std::exchange(pcie_reported_, true)) return;
    assume(fmt::format("PCIe: {} per GPU, 16 lanes of the PCIe generation of {}",
                       show(level.bandwidth), cluster_.device.name));
  }

  /// Sets `hosts_` and `tree_` for the requested hosts.
  bool count_hosts() {
    if (parts_.tree) tree_ = parts_.tree->value;
    const i64 in_tree = std::accumulate(tree_.begin(), tree_.end(), i64{1}, std::multiplies<>());
    hosts_ = parts_.hosts ? parts_.hosts->value : in_tree;
    if (!parts_.hosts && !parts_.tree && parts_.host_names)
      hosts_ = i64(parts_.host_names->value.size());
    if (!parts_.hosts && !parts_.tree && !parts_.host_names) {
      for (const fit::MeasuredSeries& series : parts_.series)
        hosts_ = std::max(hosts_, series.hosts);
      assume(hosts_ == 1 ? "one host" : fmt::format("{} hosts, as measured", hosts_));
    }
    const std::optional<i64> devices = product({hosts_, cluster_.host_devices});
    if (!devices || *devices > cluster::kMaxDevices)
      return refuse("RW0904", "number out of range",
                    fmt::format("{} hosts of {} GPUs exceed {} devices", count(hosts_),
                                cluster_.host_devices, count(cluster::kMaxDevices)));
    if (tree_.empty()) tree_ = {hosts_};
    return hosts_ == in_tree || !parts_.tree || cut_tree(in_tree);
  }

  /// Reduces a larger tree to its first hosts.
  bool cut_tree(i64 in_tree) {
    if (hosts_ > in_tree)
      return refuse("RW0622", "two files disagree",
                    fmt::format("{} names {} hosts, but --hosts asks for {}", parts_.tree->file,
                                count(in_tree), count(hosts_)));
    std::vector<i64> cut;
    i64 left = hosts_;
    for (const i64 arity : tree_) {
      if (left > arity && left % arity != 0) {
        report_uneven(fmt::format("{} hosts do not fill switches of {}: using one level",
                                  count(left), arity));
        cut.push_back(left);
        left = 1;
      } else {
        cut.push_back(std::min(left, arity));
        left = left > arity ? left / arity : 1;
      }
      if (left == 1) break;
    }
    assume(fmt::format("the job uses {} adjacent hosts of the {} of {}", count(hosts_),
                       count(in_tree), parts_.tree->file));
    tree_ = std::move(cut);
    return true;
  }

  void report_uneven(std::string detail) {
    findings_.push_back({.code = "RW0624",
                         .severity = Severity::warning,
                         .message = "the topology is uneven; averages are used",
                         .detail = std::move(detail)});
  }

  /// If the system's racks are NVLink domains, merges the hosts of a rack, from the innermost level
  /// of the tree.
  void join_racks() {
    const cluster::Cluster& unit = system_->unit;
    const i64 rack = unit.levels[0].arity / unit.host_devices;
    const bool whole = unit.device.name == cluster_.device.name && rack > 1 &&
                       cluster_.host_devices == unit.host_devices && cluster_.levels.size() == 1;
    if (!whole || hosts_ == 1) return;
    i64 joined = std::gcd(hosts_, rack);
    if (parts_.blocks || hosts_ <= rack) joined = tree_[0];
    if (joined <= 1 || joined > rack || tree_[0] % joined != 0) return;
    cluster_.levels[0].arity *= joined;
    tree_[0] /= joined;
    if (tree_[0] == 1 && tree_.size() > 1) tree_.erase(tree_.begin());
    assume(fmt::format("{} hosts share one NVLink domain, as in {}", joined, system_->name));
  }

  bool add_outer_levels() {
    join_racks();
    if (cluster_.levels.size() + tree_.size() > cluster::kMaxLevels)
      return refuse("RW0904", "number out of range",
                    fmt::format("{} inside a host and {} above it: at most {} levels are supported",
                                cluster_.levels.size(), tree_.size(), cluster::kMaxLevels));
    cluster::Level level = network_level();
    network_ = cluster_.levels.size();
    for (std::size_t i = 0; i < tree_.size(); ++i) {
      if (i > 0) {
        level.name = kOuter[std::min(i - 1, std::size(kOuter) - 1)];
        level.origin = cluster::Origin::assumed;
        level.per = cluster::Level::Per::device;
      }
      level.arity = tree_[i];
      cluster_.levels.push_back(level);
    }
    return true;
  }

  /// No file states the bandwidth between switches: assumes as much as between hosts, measured or
  /// not.
  void rate_outer_levels() {
    const cluster::Level& hosts = cluster_.levels[network_];
    const bool shared = hosts.per == cluster::Level::Per::domain;
    const i64 sharers = cluster_.domain(int(network_) - 1);
    const BytesPerSecond each = hosts.bandwidth / (shared ? double(sharers) : 1.0);
    bool reported = false;
    for (std::size_t k = network_ + 1; k < cluster_.levels.size(); ++k) {
      if (cluster_.levels[k].origin != cluster::Origin::assumed) continue;
      cluster_.levels[k].bandwidth = each;
      if (std::exchange(reported, true)) continue;
      assume(fmt::format("no oversubscription above the first switches: {} per GPU", show(each)));
    }
  }

  /// Returns the level that connects a host, or each of its GPUs, to the first switch.
  cluster::Level network_level() {
    const cluster::Level& known = system_->unit.levels.back();
    cluster::Level level = level_of_system(system_->unit.levels.size() - 1, 1);
    if (parts_.network) level.name = parts_.network->value;
    const i64 gpus = cluster_.host_devices;
    const i64 nics = parts_.nics ? parts_.nics->value : 0;
    if (!parts_.nic_rate && nics == 0) {
      assume(fmt::format("between hosts: {}, {} per {}, as in {}", level.name,
                         show(level.bandwidth),
                         level.per == cluster::Level::Per::device ? "GPU" : "host", system_->name));
      return level;
    }
    BytesPerSecond rate = known.bandwidth;
    if (parts_.nic_rate) {
      rate = parts_.nic_rate->value;
      level.origin = cluster::Origin::data_sheet;
    } else {
      assume(fmt::format("per NIC: {}, as in {}", show(rate), system_->name));
    }
    i64 cards = nics;
    if (cards == 0) {
      cards = known.per == cluster::Level::Per::device ? gpus : 1;
      assume(fmt::format("{} per host", plural(cards, "NIC", "NICs")));
    }
    const bool each = divides(gpus, cards);
    level.per = each ? cluster::Level::Per::device : cluster::Level::Per::domain;
    level.bandwidth = double(each ? cards / gpus : cards) * rate;
    return level;
  }

  const ClusterParts& parts_;
  Diagnostics& findings_;
  cluster::Cluster cluster_{};
  const catalog::System* system_ = nullptr;
  i64 hosts_ = 1;
  std::vector<i64> tree_{};
  std::size_t network_ = 0;  // index of the level of the hosts' NICs
  bool pcie_reported_ = false;
};

}  // namespace

std::optional<cluster::Cluster> resolve_cluster(const ClusterParts& parts, Diagnostics& findings) {
  return ClusterResolver(parts, findings).resolve();
}

}  // namespace rankwright::importer
