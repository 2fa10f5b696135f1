#include "rankwright/import/cluster/hardware_ids.h"

#include <algorithm>
#include <string>
#include <vector>

namespace rankwright::importer {
namespace {

struct Product {
  std::vector<std::string_view> words;  // all must occur in the name
  std::string_view device;              // empty: known, but not in the catalog
};

/// The first row that matches wins.
const std::vector<Product>& products() {
  static const std::vector<Product> rows = {
      {{"GB300"}, "gb300"},
      {{"GB200"}, "gb200"},
      {{"B300"}, "b300-sxm"},
      {{"B200"}, "b200-sxm"},
      {{"GH200"}, "gh200"},
      {{"H200", "NVL"}, ""},
      {{"H200"}, "h200-sxm"},
      {{"H100", "PCIE"}, "h100-pcie"},
      {{"H100", "NVL"}, ""},
      {{"H100", "96GB"}, "h100-96g"},
      {{"H100", "80GB", "HBM3"}, "h100-sxm"},
      {{"H100", "SXM5"}, "h100-sxm"},
      {{"H800", "PCIE"}, ""},
      {{"H800"}, "h800-sxm"},
      {{"H20"}, "h20"},
      {{"A100", "80GB"}, "a100-80g"},
      {{"A100", "40GB"}, "a100-40g"},
      {{"V100", "32GB"}, "v100-32g"},
      {{"L40S"}, "l40s"},
      {{"RTX", "4090"}, "rtx-4090"},
      {{"MI355X"}, "mi355x"},
      {{"MI325X"}, "mi325x"},
      {{"MI300X"}, "mi300x"},
      {{"MI250X"}, "mi250x"},
  };
  return rows;
}

struct PciDevice {
  i64 vendor, device;
  std::string_view name;
};

constexpr i64 kNvidia = 0x10de, kAmd = 0x1002, kMellanox = 0x15b3, kAmazon = 0x1d0f;

// pci-ids.ucw.cz. Boards with the same chip but other memory or power have their own ids.
constexpr PciDevice kDevices[] = {
    {kNvidia, 0x1db5, "v100-32g"},  // SXM2
    {kNvidia, 0x1db8, "v100-32g"},  // SXM3
    {kNvidia, 0x20b0, "a100-40g"},  {kNvidia, 0x20b2, "a100-80g"}, {kNvidia, 0x20b5, "a100-80g"},
    {kNvidia, 0x2324, "h800-sxm"},  {kNvidia, 0x2329, "h20"},      {kNvidia, 0x2330, "h100-sxm"},
    {kNvidia, 0x2331, "h100-pcie"}, {kNvidia, 0x2335, "h200-sxm"}, {kNvidia, 0x2342, "gh200"},
    {kNvidia, 0x2684, "rtx-4090"},  {kNvidia, 0x26b9, "l40s"},     {kNvidia, 0x2901, "b200-sxm"},
    {kNvidia, 0x2941, "gb200"},     {kNvidia, 0x3182, "b300-sxm"}, {kNvidia, 0x31c2, "gb300"},
    {kAmd, 0x7408, "mi250x"},       {kAmd, 0x74a1, "mi300x"},      {kAmd, 0x74a5, "mi325x"},
    {kAmd, 0x75a3, "mi355x"},
};

// The nominal rate of the model; a card may be a slower variant or sit in a slower slot.
constexpr NicKind kNics[] = {
    {kMellanox, 0x1013, 12.5_GBps, "infiniband"},   // ConnectX-4
    {kMellanox, 0x1017, 12.5_GBps, "infiniband"},   // ConnectX-5
    {kMellanox, 0x101b, 25.0_GBps, "infiniband"},   // ConnectX-6
    {kMellanox, 0x101d, 12.5_GBps, "ethernet"},     // ConnectX-6 Dx
    {kMellanox, 0x1021, 50.0_GBps, "infiniband"},   // ConnectX-7
    {kMellanox, 0x1023, 100.0_GBps, "infiniband"},  // ConnectX-8
    {kMellanox, 0xa2dc, 50.0_GBps, "infiniband"},   // BlueField-3
    {kAmazon, 0xefa0, 12.5_GBps, "efa"},           {kAmazon, 0xefa1, 12.5_GBps, "efa"},
    {kAmazon, 0xefa2, 25.0_GBps, "efa"},
};

constexpr NvlinkKind kNvlinks[] = {
    {"volta", 6, 25.0_GBps},
    {"ampere", 12, 25.0_GBps},
    {"hopper", 18, 25.0_GBps},
    {"blackwell", 18, 50.0_GBps},
};

std::vector<std::string> split_product_name(std::string_view product) {
  std::vector<std::string> words(1);
  for (const char c : product.substr(0, 200)) {
    if (c == ' ' || c == '-' || c == '_' || c == '/') {
      words.emplace_back();
    } else {
      words.back() += char(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    }
  }
  return words;
}

}  // namespace

std::string_view device_of_product(std::string_view product) {
  const std::vector<std::string> words = split_product_name(product);
  for (const Product& row : products())
    if (std::all_of(row.words.begin(), row.words.end(), [&](std::string_view word) {
          return std::find(words.begin(), words.end(), word) != words.end();
        }))
      return row.device;
  return {};
}

std::string_view device_of_pci(i64 vendor, i64 device) {
  for (const PciDevice& row : kDevices)
    if (row.vendor == vendor && row.device == device) return row.name;
  return {};
}

const NicKind* nic_of_pci(i64 vendor, i64 device) {
  for (const NicKind& row : kNics)
    if (row.vendor == vendor && row.device == device) return &row;
  return nullptr;
}

const NvlinkKind* nvlink_of(std::string_view generation) {
  for (const NvlinkKind& row : kNvlinks)
    if (row.generation == generation) return &row;
  return nullptr;
}

BytesPerSecond pcie_of(std::string_view generation) {
  if (generation == "volta") return pcie_rate(8, 16);
  if (generation == "ampere" || generation == "ada" || generation == "cdna2")
    return pcie_rate(16, 16);
  return pcie_rate(32, 16);
}

BytesPerSecond pcie_rate(double gigatransfers, i64 lanes) {
  const double coded = gigatransfers >= 8 ? 128.0 / 130 : 0.8;
  return {gigatransfers * 1e9 * coded / 8 * double(lanes)};
}

}  // namespace rankwright::importer
