#include "rankwright/validate/errors.h"

#include <algorithm>
#include <cmath>

namespace rankwright::validate {

ErrorStats compute_error_stats(std::vector<double> errors) {
  ErrorStats stats;
  stats.rows = i64(errors.size());
  if (errors.empty()) return stats;
  std::sort(errors.begin(), errors.end(),
            [](double a, double b) { return std::abs(a) < std::abs(b); });
  for (const double e : errors) {
    stats.mean_absolute += std::abs(e);
    stats.bias += e;
  }
  stats.mean_absolute /= double(errors.size());
  stats.bias /= double(errors.size());
  stats.p90 = std::abs(errors[(9 * errors.size() + 9) / 10 - 1]);
  stats.worst = errors.back();
  return stats;
}

ErrorStats compute_error_stats(std::string name, const std::vector<Error>& errors) {
  std::vector<double> values;
  const Error* worst = nullptr;
  for (const Error& e : errors) {
    values.push_back(e.value);
    if (worst == nullptr || std::abs(e.value) > std::abs(worst->value)) worst = &e;
  }
  ErrorStats stats = compute_error_stats(std::move(values));
  stats.name = std::move(name);
  if (worst != nullptr) stats.worst = worst->value, stats.worst_id = worst->id;
  return stats;
}

ErrorStats average_families(std::string name, const std::vector<ErrorStats>& families) {
  ErrorStats out{.rows = i64(families.size()), .name = std::move(name)};
  for (const ErrorStats& family : families) {
    out.mean_absolute += family.mean_absolute / double(families.size());
    out.bias += family.bias / double(families.size());
    out.p90 += family.p90 / double(families.size());
    if (family.mean_absolute > out.worst)
      out.worst = family.mean_absolute, out.worst_id = family.name;
  }
  return out;
}

}  // namespace rankwright::validate
