// Maps the names of hardware in machine files to catalog names: GPUs by product name and PCI id,
// NICs by PCI id, NVLink by generation. Rows are facts of the vendors; to add one, add a row.
#pragma once

#include <optional>
#include <string_view>

#include "rankwright/base/integer.h"
#include "rankwright/base/units.h"

namespace rankwright::importer {

/// Returns the catalog name of a product; empty if it is unknown or ambiguous ("NVIDIA H100").
std::string_view device_of_product(std::string_view product);

/// Returns the catalog name by PCI vendor and device: 0x10de, 0x2330 is h100-sxm. Empty if it is
/// not in the catalog.
std::string_view device_of_pci(i64 vendor, i64 device);

struct NicKind {
  i64 vendor, device;
  BytesPerSecond rate;  // of the card, all ports together
  std::string_view network;
};

/// Returns nullptr if the id is not a known NIC.
const NicKind* nic_of_pci(i64 vendor, i64 device);

struct NvlinkKind {
  std::string_view generation;  // as in devices.csv
  i64 links;                    // maximum per GPU
  BytesPerSecond rate;          // per link and direction
};

/// Returns nullptr if GPUs of that generation have no NVLink.
const NvlinkKind* nvlink_of(std::string_view generation);

/// Returns the bandwidth of PCIe x16 of that GPU generation, per direction.
BytesPerSecond pcie_of(std::string_view generation);

/// Returns the bandwidth of PCIe per direction: 128 of 130 bits are data from 8 GT/s on, 8 of 10
/// below.
BytesPerSecond pcie_rate(double gigatransfers, i64 lanes);

}  // namespace rankwright::importer
