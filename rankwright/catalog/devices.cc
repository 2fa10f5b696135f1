#include "rankwright/catalog/catalog.h"
#include "rankwright/catalog/table.h"

namespace rankwright::catalog {
namespace {

std::vector<cluster::Device> read_devices() {
  const Csv table = parse_shipped_table(kDevicesCsv, "devices.csv");
  std::vector<cluster::Device> devices;
  for (const Csv::Row& row : table.rows) {
    const Cells cells(table, row);
    devices.push_back({.name = cells.text("name"),
                       .vendor = cells.text("vendor"),
                       .memory = cells.bytes("memory"),
                       .memory_bandwidth = cells.bandwidth("memory_bandwidth"),
                       .fp16 = cells.flops("fp16"),
                       .bf16 = cells.flops("bf16"),
                       .fp8 = cells.flops("fp8"),
                       .fp4 = cells.flops("fp4"),
                       .generation = cells.text("generation"),
                       .multiprocessors = cells.count("multiprocessors"),
                       .watts = double(cells.count("watts")),
                       .best_matmul = cells.flops("best_matmul"),
                       .source = cells.text("source"),
                       .verified = cells.text("verified")});
  }
  return devices;
}

}  // namespace

std::span<const cluster::Device> devices() {
  static const std::vector<cluster::Device> all = read_devices();
  return all;
}

Result<cluster::Device> find_device(std::string_view name) {
  const std::string wanted = lower(name);
  std::vector<std::string> known;
  for (const cluster::Device& device : devices()) {
    if (device.name == wanted) return device;
    known.push_back(device.name);
  }
  return fail(unknown_name("device", name, known));
}

}  // namespace rankwright::catalog
