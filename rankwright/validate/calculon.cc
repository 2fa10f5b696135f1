#include "rankwright/validate/calculon.h"

#include <map>
#include <string>

#include "rankwright/catalog/table.h"

namespace rankwright::validate {

extern const std::string_view kCalculonCsv;

std::optional<double> find_calculon_error(std::string_view id) {
  static const std::map<std::string, double, std::less<>> errors = [] {
    std::map<std::string, double, std::less<>> all;
    const Csv table = catalog::parse_shipped_table(kCalculonCsv, "calculon.csv");
    for (const Csv::Row& row : table.rows) {
      const catalog::Cells cells(table, row);
      all[cells.text("id")] = cells.number("error_percent") / 100;
    }
    return all;
  }();
  const auto found = errors.find(id);
  if (found == errors.end()) return std::nullopt;
  return found->second;
}

}  // namespace rankwright::validate
