#include "rankwright/catalog/catalog.h"
#include "rankwright/catalog/table.h"

namespace rankwright::catalog {
namespace {

constexpr std::string_view kFound[] = {"fitted", "measured", "counted", "assumed"};

constexpr std::string_view kData[] = {"",       "steps",       "expert_steps",
                                      "memory", "collectives", "dispatches"};

FitData read_data(const std::string& text) {
  for (std::size_t k = 0; k < std::size(kData); ++k)
    if (text == kData[k]) return FitData(k);
  abort_broken_invariant("what a constant was fitted on", __FILE__, __LINE__);
}

Found read_found(const std::string& text) {
  for (std::size_t k = 0; k < std::size(kFound); ++k)
    if (text == kFound[k]) return Found(k);
  abort_broken_invariant("how a constant was found", __FILE__, __LINE__);
}

std::vector<ConstantRow> read_constants() {
  const Csv table = parse_shipped_table(kCalibrationCsv, "calibration.csv");
  RW_CHECK(table.rows.size() == cluster::kConstants);
  std::vector<ConstantRow> all;
  for (const Csv::Row& row : table.rows) {
    const Cells cells(table, row);
    all.push_back({.constant = cluster::Constant(all.size()),
                   .name = cells.text("constant"),
                   .value = cells.number("value"),
                   .unit = cells.text("unit"),
                   .low = cells.number("low"),
                   .high = cells.number("high"),
                   .prior = cells.number("prior"),
                   .spread = cells.number("spread"),
                   .found = read_found(cells.text("how")),
                   .data = read_data(cells.text("data")),
                   .meaning = cells.text("meaning"),
                   .origin = cells.text("origin")});
  }
  return all;
}

cluster::Constant constant_named(std::string_view name) {
  for (const ConstantRow& row : constants())
    if (row.name == name) return row.constant;
  abort_broken_invariant("a constant of this name", __FILE__, __LINE__);
}

std::vector<ProbedConstant> read_probed() {
  const Csv table = parse_shipped_table(kProbedCsv, "probed.csv");
  std::vector<ProbedConstant> all;
  for (const Csv::Row& row : table.rows) {
    const Cells cells(table, row);
    all.push_back({.constant = constant_named(cells.text("constant")),
                   .value = cells.number("value"),
                   .why = cells.text("why")});
  }
  return all;
}

cluster::Calibration probed() {
  cluster::Calibration values = get_calibration();
  for (const ProbedConstant& row : probed_constants()) values[row.constant] = row.value;
  return values;
}

cluster::Calibration shipped() {
  cluster::Calibration values;
  for (const ConstantRow& row : constants()) values[row.constant] = row.value;
  return values;
}

}  // namespace

std::string_view name(Found found) { return kFound[std::size_t(found)]; }

std::span<const ConstantRow> constants() {
  static const std::vector<ConstantRow> all = read_constants();
  return all;
}

const cluster::Calibration& get_calibration() {
  static const cluster::Calibration values = shipped();
  return values;
}

std::span<const ProbedConstant> probed_constants() {
  static const std::vector<ProbedConstant> all = read_probed();
  return all;
}

const cluster::Calibration& probed_calibration() {
  static const cluster::Calibration values = probed();
  return values;
}

}  // namespace rankwright::catalog
