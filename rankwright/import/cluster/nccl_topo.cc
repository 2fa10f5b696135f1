// Reads the topology that NCCL and RCCL detect and dump (NCCL_TOPO_DUMP_FILE, format of their
// src/graph/xml.cc): GPUs and NICs of a host in the PCI tree, NVLinks and xGMI links as children of
// a GPU. Files that vendors supply (NCCL_TOPO_FILE) have only the PCI tree.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "rankwright/base/format.h"
#include "rankwright/import/cluster/cluster_format.h"
#include "rankwright/import/cluster/hardware_ids.h"
#include "rankwright/import/syntax/xml.h"

namespace rankwright::importer {
namespace {

constexpr i64 kMaxTopoLinks = 1024;  // per GPU
constexpr i64 kMaxMegabits = 10'000'000;

/// Parses a whole number of an attribute, hexadecimal if it begins with 0x; nothing if it is
/// invalid.
std::optional<i64> parse_whole_number(std::string_view text) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  i64 n = 0;
  const auto [at, error] =
      std::from_chars(text.data(), text.data() + text.size(), n, hex ? 16 : 10);
  if (error != std::errc{} || at != text.data() + text.size() || n < 0) return std::nullopt;
  return n;
}

class NcclTopoReader {
 public:
  NcclTopoReader(std::string_view file, ClusterParts& parts, Diagnostics& findings)
      : file_(file), parts_(parts), findings_(findings) {}

  void read(const XmlNode& system) {
    for (const XmlNode& cpu : system.children) {
      if (cpu.name != "cpu") continue;
      hosts_.insert(std::string(cpu["host_hash"]));
      cpu_ = fmt::format("{} {}", cpu["host_hash"], cpu["numaid"]);
      walk(cpu, nullptr);
    }
    if (has_faults_) return;
    if (gpus_ == 0 && !take_classes(system))
      return fault("the file has no <gpu>, and no PCI device of class 0x0302 (GPU)", system.line);
    state_all(system);
  }

 private:
  void fault(std::string detail, int line) {
    has_faults_ = true;
    findings_.push_back(bad_topology(std::move(detail), file_, line, 1));
  }

  void walk(const XmlNode& node, const XmlNode* pci) {
    for (const XmlNode& child : node.children) {
      if (child.name == "gpu") take_gpu(child, pci);
      if (child.name == "net") take_net(child);
      walk(child, child.name == "pci" ? &child : pci);
    }
  }

  /// Counts the PCI devices that are GPUs by their class, for files without <gpu>. Returns whether
  /// there are any. NCCL finds their NVLinks when it runs: the links are those of the system.
  bool take_classes(const XmlNode& system) {
    for (const XmlNode& cpu : system.children)
      if (cpu.name == "cpu") take_class(cpu);
    links_unknown_ = true;
    return gpus_ > 0;
  }

  void take_class(const XmlNode& node) {
    constexpr std::string_view kGpu = "0x0302";
    for (const XmlNode& child : node.children) {
      if (child.name == "pci" && child["class"].starts_with(kGpu)) {
        ++gpus_;
        take_device(child);
        take_slot(child);
      }
      take_class(child);
    }
  }

  /// A virtual function has an id of its own; its subsystem is the card.
  void take_device(const XmlNode& pci) {
    const std::optional<i64> vendor = parse_whole_number(pci["vendor"]);
    for (const char* const id : {"device", "subsystem_device"}) {
      const std::optional<i64> device = parse_whole_number(pci[id]);
      if (!vendor || !device) continue;
      const std::string_view known = device_of_pci(*vendor, *device);
      if (known.empty()) continue;
      devices_.insert(std::string(known));
      return;
    }
    if (vendor && *vendor != 0) devices_.insert("");
  }

  void take_gpu(const XmlNode& gpu, const XmlNode* pci) {
    ++gpus_;
    ++gpus_of_cpu_[cpu_];
    i64 links = 0;
    for (const XmlNode& link : gpu.children) {
      if (link.name == "xgmi") links_unknown_ = true;
      if (link.name != "nvlink") continue;
      const std::optional<i64> many = parse_whole_number(link["count"]);
      if (!many || *many > kMaxTopoLinks)
        return fault(
            fmt::format("count=\"{}\" is not a number of links", make_excerpt(link["count"])),
            link.line);
      links += *many;
    }
    links_ = std::max(links_, links);
    if (pci == nullptr) return;
    take_device(*pci);
    take_slot(*pci);
  }

  /// Reads link_speed="32.0 GT/s PCIe" link_width="16", which virtual machines may hide.
  void take_slot(const XmlNode& pci) {
    const std::string_view speed = pci["link_speed"];
    double transfers = 0;
    std::from_chars(speed.data(), speed.data() + speed.size(), transfers);
    const std::optional<i64> lanes = parse_whole_number(pci["link_width"]);
    if (transfers >= 2 && transfers <= 1000 && lanes && *lanes >= 1 && *lanes <= 64)
      slot_ = std::max(slot_, pcie_rate(transfers, *lanes));
  }

  void take_net(const XmlNode& net) {
    const std::optional<i64> megabits = parse_whole_number(net["speed"]);
    if (!megabits || *megabits > kMaxMegabits)
      return fault(fmt::format("speed=\"{}\" is not a rate in Mb/s", make_excerpt(net["speed"])),
                   net.line);
    const std::string_view name = net["name"];
    if (*megabits > 0 && nets_.insert(std::string(name)).second) ++nets_of_rate_[*megabits];
    if (name.starts_with("rdmap") || name.starts_with("efa")) network_ = "efa";
  }

  void state_all(const XmlNode& system) {
    const i64 hosts = i64(hosts_.size());
    if (!divides(hosts, gpus_))
      return fault(fmt::format("{} GPUs do not divide evenly over {} hosts", gpus_, hosts),
                   system.line);
    if (hosts > 1) state(parts_.hosts, hosts, "hosts", file_, findings_);
    state(parts_.host_devices, gpus_ / hosts, "GPUs per host", file_, findings_);
    if (devices_.size() == 1 && !devices_.begin()->empty())
      state(parts_.device, *devices_.begin(), "the GPU", file_, findings_);
    if (slot_ > BytesPerSecond{} && !links_unknown_)
      state(parts_.pcie, slot_, "PCIe per GPU", file_, findings_);
    if (!links_unknown_)
      state(parts_.inside, find_tiers(gpus_ / hosts), "links between GPUs", file_, findings_);
    if (links_ > 0)
      state(parts_.nvlinks, NvLinks{links_, links_}, "NVLinks per GPU", file_, findings_);
    state_nets(hosts);
  }

  std::vector<Tier> find_tiers(i64 gpus) const {
    if (links_ > 0 || gpus == 1) return {{Tier::Kind::nvlink, gpus}};
    const i64 first = gpus_of_cpu_.begin()->second;
    const bool even = std::all_of(gpus_of_cpu_.begin(), gpus_of_cpu_.end(),
                                  [&](const auto& one) { return one.second == first; });
    if (!even || !divides(first, gpus) || first == gpus) return {{Tier::Kind::pcie, gpus}};
    if (first == 1) return {{Tier::Kind::socket, gpus}};
    return {{Tier::Kind::pcie, first}, {Tier::Kind::socket, gpus / first}};
  }

  /// Uses the most common rate: NICs with other rates serve storage and logins.
  void state_nets(i64 hosts) {
    if (nets_of_rate_.empty()) return;
    const auto usual = std::max_element(
        nets_of_rate_.begin(), nets_of_rate_.end(), [](const auto& a, const auto& b) {
          return std::pair(a.second, a.first) < std::pair(b.second, b.first);
        });
    state(parts_.nics, std::max<i64>(1, usual->second / hosts), "NICs per host", file_, findings_);
    state(parts_.nic_rate, BytesPerSecond{double(usual->first) * 1e6 / 8}, "rate per NIC", file_,
          findings_);
    if (!network_.empty()) state(parts_.network, network_, "the network", file_, findings_);
  }

  std::string_view file_;
  ClusterParts& parts_;
  Diagnostics& findings_;
  bool has_faults_ = false;
  std::set<std::string> hosts_{};
  std::string cpu_{};
  i64 gpus_ = 0;
  std::map<std::string, i64> gpus_of_cpu_{};
  i64 links_ = 0;               // maximum over GPUs
  bool links_unknown_ = false;  // links whose rate only the system has
  BytesPerSecond slot_{};
  std::set<std::string> devices_{};
  std::set<std::string> nets_{};
  std::map<i64, i64> nets_of_rate_{};
  std::string network_{};
};

}  // namespace

bool claims_nccl_topo(std::string_view, std::string_view text) {
  const std::string_view head = text.substr(0, 4096);
  return head.find("<system") != std::string_view::npos &&
         head.find("<cpu") != std::string_view::npos;
}

void read_nccl_topo(std::string_view text, std::string_view file, ClusterParts& parts,
                    Diagnostics& findings) {
  const Result<XmlNode> root = read_xml(text, file);
  if (!root) return findings.push_back(root.error());
  if (root->name != "system")
    return findings.push_back(bad_topology(
        fmt::format("expected <system>, not <{}>", make_excerpt(root->name)), file, root->line, 1));
  NcclTopoReader(file, parts, findings).read(*root);
}

}  // namespace rankwright::importer
