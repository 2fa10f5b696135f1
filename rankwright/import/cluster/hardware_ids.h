// What files about machines call things, and what the catalog calls them: GPUs by product name and
// by PCI id, NICs by PCI id, NVLink by generation. Rows are facts of vendors; to add one, add a
// row.
#pragma once

#include <optional>
#include <string_view>

#include "rankwright/base/integer.h"
#include "rankwright/base/units.h"

namespace rankwright::importer {

/// The catalog's device; empty where the name is of none, or of several ("NVIDIA H100").
std::string_view device_of_product(std::string_view product);

/// By PCI vendor and device: 0x10de, 0x2330 is h100-sxm. Empty where the catalog has none.
std::string_view device_of_pci(i64 vendor, i64 device);

struct NicKind {
  i64 vendor, device;
  BytesPerSecond rate;  // of the card, all its ports together
  std::string_view network;
};

/// Nothing where the id is of no NIC that is known.
const NicKind* nic_of_pci(i64 vendor, i64 device);

struct NvlinkKind {
  std::string_view generation;  // of devices.csv
  i64 links;                    // the most that a GPU has
  BytesPerSecond rate;          // of one link, per direction
};

/// Nothing where GPUs of that generation have no NVLink.
const NvlinkKind* nvlink_of(std::string_view generation);

/// PCIe with 16 lanes, of that generation of GPUs, per direction.
BytesPerSecond pcie_of(std::string_view generation);

/// PCIe of so many GT/s and lanes: 128 of 130 bits are data from 8 GT/s on, 8 of 10 before.
BytesPerSecond pcie_rate(double gigatransfers, i64 lanes);

}  // namespace rankwright::importer
