#include <gtest/gtest.h>

#include <set>

#include "rankwright/catalog/catalog.h"
#include "rankwright/catalog/table.h"

namespace rankwright::catalog {
namespace devices_test {

TEST(Devices, HaveUniqueNamesPositiveNumbersAndASource) {
  std::set<std::string> names;
  for (const cluster::Device& d : devices()) {
    EXPECT_TRUE(names.insert(d.name).second) << d.name << " appears twice";
    EXPECT_EQ(d.name, lower(d.name));
    EXPECT_FALSE(d.vendor.empty()) << d.name;
    EXPECT_FALSE(d.source.empty()) << d.name << " has no source";
    EXPECT_GE(d.memory, 8.0_GB) << d.name;
    EXPECT_LE(d.memory, 400.0_GB) << d.name;
    EXPECT_GE(d.memory_bandwidth, 100.0_GBps) << d.name;
    EXPECT_GT(std::max(d.fp16, d.bf16), 50.0_TFLOPS) << d.name;
  }
  EXPECT_FALSE(names.empty());
}

TEST(Devices, AreNeverSlowerAtFewerBits) {
  ASSERT_FALSE(devices().empty());
  for (const cluster::Device& d : devices()) {
    EXPECT_TRUE(d.fp8.value == 0 || d.fp8 >= d.bf16) << d.name;
    EXPECT_TRUE(d.fp4.value == 0 || d.fp4 >= d.fp8) << d.name;
  }
}

TEST(Devices, StateWhetherTheyAreVerified) {
  const Csv table = parse_shipped_table(kDevicesCsv, "devices.csv");
  ASSERT_FALSE(table.rows.empty());
  for (const Csv::Row& row : table.rows) {
    const Cells cells(table, row);
    const std::string name = cells.text("name"), verified = find_device(name)->verified;
    EXPECT_TRUE(verified == "yes" || verified == "partly" || verified == "no") << name;
    EXPECT_TRUE(verified == "yes" || cells.text("notes") != "") << name << " does not say what";
  }
}

// PyTorch prints GiB, nvidia-smi MiB, and labels are in GB.
TEST(Devices, MemoryUnit_MatchesItsSource) {
  const Csv table = parse_shipped_table(kDevicesCsv, "devices.csv");
  ASSERT_FALSE(table.rows.empty());
  for (const Csv::Row& row : table.rows) {
    const Cells cells(table, row);
    const std::string source = cells.text("memory_source"), memory = cells.text("memory");
    const std::string unit = source == "label"                    ? " GB"
                             : source.starts_with("nvidia-smi: ") ? " MiB"
                             : source.starts_with("runtime: ")    ? " GiB"
                                                                  : "?";
    EXPECT_TRUE(memory.ends_with(unit)) << cells.text("name") << ": " << source;
  }
}

TEST(FindDevice, ReturnsTheRowWithUnits) {
  const Result<cluster::Device> d = find_device("H100-SXM");
  ASSERT_TRUE(d);
  EXPECT_EQ(d->name, "h100-sxm");
  EXPECT_EQ(d->memory, 79.11_GiB);
  EXPECT_EQ(d->memory_bandwidth, 3350.0_GBps);
  EXPECT_EQ(d->bf16, 989.0_TFLOPS);
  EXPECT_EQ(d->fp8, 1979.0_TFLOPS);
  EXPECT_EQ(d->fp4, FlopsPerSecond{0});
}

TEST(FindDevice, MisspelledName_GetsASuggestion) {
  const Result<cluster::Device> d = find_device("h100-sxn");
  ASSERT_FALSE(d);
  EXPECT_EQ(d.error().code, "RW0908");
  EXPECT_EQ(d.error().detail, "no device is named 'h100-sxn'");
  EXPECT_EQ(d.error().hint, "did you mean h100-sxm? (rankwright catalog devices)");
  EXPECT_EQ(find_device("").error().hint, "`rankwright catalog devices` lists the known names");
}

}  // namespace devices_test
}  // namespace rankwright::catalog
