// Reads hwloc's XML of one host (`lstopo --of xml`, version 2 or 3). GPUs and NICs are PCI devices,
// identified by their ids and by NVML's product names; NVLinks are a matrix of bandwidths.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/import/cluster/cluster_format.h"
#include "rankwright/import/cluster/hardware_ids.h"
#include "rankwright/import/syntax/lines.h"
#include "rankwright/import/syntax/xml.h"

namespace rankwright::importer {
namespace {

constexpr i64 kNvidiaVendor = 0x10de, kAmdVendor = 0x1002;
constexpr std::size_t kMaxObjects = 1024;  // per matrix

std::optional<i64> parse_hex(std::string_view text) {
  i64 n = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), n, 16);
  if (error != std::errc{} || at != text.data() + text.size()) return std::nullopt;
  return n;
}

std::optional<double> parse_number(std::string_view text) {
  double n = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || at != text.data() + text.size()) return std::nullopt;
  return n;
}

/// An attribute such as pci_type="0302 [10de:2330] [10de:16c1] a1 00".
struct PciType {
  i64 kind = 0, vendor = 0, device = 0;
};

std::optional<PciType> parse_pci_type(std::string_view text) {
  if (text.size() < 16 || text[5] != '[' || text[10] != ':' || text[15] != ']') return std::nullopt;
  const std::optional<i64> kind = parse_hex(text.substr(0, 4));
  const std::optional<i64> vendor = parse_hex(text.substr(6, 4));
  const std::optional<i64> device = parse_hex(text.substr(11, 4));
  if (!kind || !vendor || !device) return std::nullopt;
  return PciType{*kind, *vendor, *device};
}

bool is_gpu(const PciType& type) {
  const bool display = (type.kind >> 8) == 0x03 || type.kind == 0x1200;
  return display && (type.vendor == kNvidiaVendor || type.vendor == kAmdVendor);
}

class HwlocReader {
 public:
  HwlocReader(std::string_view file, ClusterParts& parts, Diagnostics& findings)
      : file_(file), parts_(parts), findings_(findings) {}

  void read(const XmlNode& topology) {
    for (const XmlNode& child : topology.children)
      if (child.name == "object") walk(child, "");
    if (gpus_ == 0)
      return findings_.push_back(bad_topology("the file has no GPU", file_, topology.line, 1));
    for (const XmlNode& child : topology.children)
      if (child.name.starts_with("distances2") && child["name"] == "NVLinkBandwidth")
        take_bandwidths(child);
    state_all();
  }

 private:
  /// `memory` identifies the innermost enclosing object with a NUMA node.
  void walk(const XmlNode& object, std::string memory) {
    const bool has_memory =
        std::any_of(object.children.begin(), object.children.end(),
                    [](const XmlNode& child) { return child["type"] == "NUMANode"; });
    if (has_memory) memory = object["gp_index"];
    if (object["type"] == "PCIDev") take_pci(object, memory);
    for (const XmlNode& child : object.children)
      if (child.name == "object") walk(child, memory);
  }

  void take_pci(const XmlNode& object, const std::string& memory) {
    const std::optional<PciType> type = parse_pci_type(object["pci_type"]);
    if (!type) return;
    if (is_gpu(*type)) return take_gpu(object, *type, memory);
    if (type->vendor == kNvidiaVendor && object["subtype"] == "NVSwitch") ++switches_;
    const NicKind* const nic = nic_of_pci(type->vendor, type->device);
    if (nic == nullptr) return;
    ++nics_[nic];
  }

  void take_gpu(const XmlNode& object, const PciType& type, const std::string& memory) {
    ++gpus_;
    ++gpus_of_memory_[memory];
    std::string_view device = device_of_pci(type.vendor, type.device);
    indexes_.insert(std::string(object["gp_index"]));
    for (const XmlNode& software : object.children) {
      if (software.name != "object") continue;
      indexes_.insert(std::string(software["gp_index"]));
      for (const XmlNode& info : software.children)
        if (info.name == "info" && info["name"] == "GPUModel" && device.empty())
          device = device_of_product(info["value"]);
    }
    devices_.insert(std::string(device));
    // GB/s; the maximum over GPUs, because an idle link runs below its rate.
    const std::optional<double> rate = parse_number(object["pci_link_speed"]);
    if (rate && *rate > 0 && *rate < 10'000) slot_ = std::max(slot_, *rate * 1.0_GBps);
  }

  /// Reads bandwidths in MB/s between GPUs, or between GPUs and switches: a GPU's is the sum of its
  /// row.
  void take_bandwidths(const XmlNode& matrix) {
    std::vector<std::string_view> objects;
    std::vector<double> values;
    for (const XmlNode& list : matrix.children)
      for (const TextWord& word : split_words(list.text)) {
        if (list.name == "indexes") objects.push_back(word.text.substr(word.text.find(':') + 1));
        if (list.name == "u64values") values.push_back(parse_number(word.text).value_or(-1));
        if (objects.size() > kMaxObjects) return bad_matrix(matrix);
      }
    const std::size_t n = objects.size();
    if (values.size() != n * n) return bad_matrix(matrix);
    for (std::size_t row = 0; row < n; ++row) {
      if (!indexes_.contains(std::string(objects[row]))) continue;
      double sum = 0;
      for (std::size_t column = 0; column < n; ++column) {
        const double value = values[row * n + column];
        if (!(value >= 0 && value < 1e9)) return bad_matrix(matrix);
        if (row != column) sum += value;
      }
      nvlink_ = std::max(nvlink_, BytesPerSecond{sum * 1e6});
    }
  }

  void bad_matrix(const XmlNode& matrix) {
    findings_.push_back(bad_topology("invalid matrix of NVLink bandwidths", file_, matrix.line, 1));
  }

  void state_all() {
    state(parts_.host_devices, gpus_, "GPUs per host", file_, findings_);
    if (devices_.size() == 1 && !devices_.begin()->empty())
      state(parts_.device, *devices_.begin(), "the GPU", file_, findings_);
    if (nvlink_ > BytesPerSecond{}) state(parts_.nvlink, nvlink_, "NVLink", file_, findings_);
    if (nvlink_ > BytesPerSecond{} || switches_ > 0)
      state(parts_.inside, std::vector<Tier>{{Tier::Kind::nvlink, gpus_}}, "links between GPUs",
            file_, findings_);
    else if (slot_ > BytesPerSecond{})
      state_pcie();
    if (nics_.empty()) return;
    const auto usual =
        std::max_element(nics_.begin(), nics_.end(), [](const auto& a, const auto& b) {
          return std::pair(a.second, a.first->rate.value) <
                 std::pair(b.second, b.first->rate.value);
        });
    state(parts_.nics, usual->second, "NICs per host", file_, findings_);
    state(parts_.nic_rate, usual->first->rate, "rate per NIC", file_, findings_);
    state(parts_.network, std::string(usual->first->network), "the network", file_, findings_);
  }

  /// Sets PCIe tiers if there is no NVLink. GPUs that are sold with NVLink are left to the catalog,
  /// because the file may just not show it.
  void state_pcie() {
    const Result<cluster::Device> device =
        devices_.size() == 1 ? catalog::find_device(*devices_.begin()) : fail(Diagnostic{});
    const bool sold_with =
        device && nvlink_of(device->generation) != nullptr && !device->name.ends_with("pcie");
    if (sold_with) return;
    state(parts_.pcie, slot_, "PCIe per GPU", file_, findings_);
    const i64 first = gpus_of_memory_.begin()->second;
    const bool even = std::all_of(gpus_of_memory_.begin(), gpus_of_memory_.end(),
                                  [&](const auto& one) { return one.second == first; });
    std::vector<Tier> tiers{{Tier::Kind::pcie, gpus_}};
    if (even && first > 1 && first < gpus_)
      tiers = {{Tier::Kind::pcie, first}, {Tier::Kind::socket, gpus_ / first}};
    state(parts_.inside, tiers, "links between GPUs", file_, findings_);
  }

  std::string_view file_;
  ClusterParts& parts_;
  Diagnostics& findings_;
  i64 gpus_ = 0, switches_ = 0;
  std::map<std::string, i64> gpus_of_memory_{};
  std::set<std::string> devices_{};
  std::set<std::string> indexes_{};  // of GPUs, as the matrix refers to them
  std::map<const NicKind*, i64> nics_{};
  BytesPerSecond slot_{}, nvlink_{};
};

}  // namespace

bool claims_hwloc_xml(std::string_view, std::string_view text) {
  const std::string_view head = text.substr(0, 4096);
  return head.find("<topology") != std::string_view::npos &&
         head.find("<object") != std::string_view::npos;
}

void read_hwloc_xml(std::string_view text, std::string_view file, ClusterParts& parts,
                    Diagnostics& findings) {
  const Result<XmlNode> root = read_xml(text, file);
  if (!root) return findings.push_back(root.error());
  if (root->name != "topology")
    return findings.push_back(
        bad_topology(fmt::format("expected <topology>, not <{}>", make_excerpt(root->name)), file,
                     root->line, 1));
  HwlocReader(file, parts, findings).read(*root);
}

}  // namespace rankwright::importer
