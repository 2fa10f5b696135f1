#include "rankwright/catalog/bands.h"

#include <vector>

#include "rankwright/base/check.h"
#include "rankwright/catalog/table.h"

namespace rankwright::catalog {
namespace {

Bands read_bands() {
  const Csv table = parse_shipped_table(kBandsCsv, "bands.csv");
  const auto find = [&](std::string_view kind) {
    for (const Csv::Row& row : table.rows) {
      const Cells cells(table, row);
      if (cells.text("kind") == kind)
        return BandRow{cells.number("within"), i64(cells.number("rows"))};
    }
    abort_broken_invariant("a band of this kind", __FILE__, __LINE__);
  };
  return {.dense = find("dense"),
          .dense_far = find("dense_far"),
          .sparse = find("sparse"),
          .sparse_far = find("sparse_far"),
          .memory = find("memory"),
          .memory_sparse = find("memory_sparse"),
          .fine_tuning = find("fine_tuning"),
          .memory_fine_tuning = find("memory_fine_tuning"),
          .unmeasured = find("unmeasured"),
          .pair = find("pair"),
          .pair_sparse = find("pair_sparse"),
          .pair_max = find("pair_most"),
          .pair_max_sparse = find("pair_most_sparse")};
}

std::vector<ValidatedLayout> read_layouts() {
  const Csv table = parse_shipped_table(kValidatedCsv, "validated.csv");
  std::vector<ValidatedLayout> all;
  for (const Csv::Row& row : table.rows) {
    const Cells cells(table, row);
    const auto whole = [&](std::string_view column) { return i64(cells.number(column)); };
    all.push_back({.sparse = cells.text("kind") == "sparse",
                   .generation = cells.text("generation"),
                   .tp = whole("tp"),
                   .cp = whole("cp"),
                   .pp = whole("pp"),
                   .ep = whole("ep"),
                   .fsdp = whole("fsdp") == 1,
                   .sequence = whole("sequence"),
                   .billions = cells.number("billions")});
  }
  return all;
}

}  // namespace

const Bands& get_bands() {
  static const Bands all = read_bands();
  return all;
}

std::span<const ValidatedLayout> list_validated_layouts() {
  static const std::vector<ValidatedLayout> all = read_layouts();
  return all;
}

}  // namespace rankwright::catalog
