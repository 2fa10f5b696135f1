#include "rankwright/import/cluster/hardware_ids.h"

#include <gtest/gtest.h>

#include "rankwright/catalog/catalog.h"

namespace rankwright::importer {
namespace hardware_ids_test {

TEST(HardwareIds, ProductNamesMapToCatalogDevices) {
  const std::pair<std::string_view, std::string_view> names[] = {
      {"NVIDIA H100 80GB HBM3", "h100-sxm"},
      {"NVIDIA H100 PCIe", "h100-pcie"},
      {"NVIDIA H200", "h200-sxm"},
      {"NVIDIA H20", "h20"},
      {"NVIDIA H800", "h800-sxm"},
      {"NVIDIA A100-SXM4-80GB", "a100-80g"},
      {"NVIDIA A100-SXM4-40GB", "a100-40g"},
      {"Tesla V100-SXM2-32GB", "v100-32g"},
      {"NVIDIA B200", "b200-sxm"},
      {"NVIDIA GB200", "gb200"},
      {"NVIDIA GeForce RTX 4090", "rtx-4090"},
      {"NVIDIA L40S", "l40s"},
      {"AMD Instinct MI300X", "mi300x"},
      {"NVIDIA H100", ""},
      {"Tesla V100-SXM2-16GB", ""},
      {"NVIDIA H100 NVL", ""},
      {"", ""}};
  for (const auto& [product, device] : names) {
    EXPECT_EQ(device_of_product(product), device) << product;
    EXPECT_TRUE(device.empty() || catalog::find_device(device)) << device;
  }
}

TEST(HardwareIds, PciIdsMapToCatalogDevices) {
  EXPECT_EQ(device_of_pci(0x10de, 0x2330), "h100-sxm");
  EXPECT_EQ(device_of_pci(0x10de, 0x1ac2), "");  // an NVSwitch
  for (i64 vendor : {0x10de, 0x1002})
    for (i64 id = 0; id < 0x10000; ++id) {
      const std::string_view device = device_of_pci(vendor, id);
      EXPECT_TRUE(device.empty() || catalog::find_device(device)) << device;
    }
}

// 16 lanes of 32 GT/s: 32e9 x 16 / 8 x 128/130 = 63.02e9. At 5 GT/s: 5e9 x 16 / 8 x 8/10 = 8e9.
TEST(HardwareIds, PcieRate_MatchesTheWorkedExample) {
  EXPECT_NEAR(pcie_rate(32, 16).value, 63.02e9, 0.01e9);
  EXPECT_NEAR(pcie_rate(5, 16).value, 8e9, 1);
}

}  // namespace hardware_ids_test
}  // namespace rankwright::importer
