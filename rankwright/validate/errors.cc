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

}  // namespace rankwright::validate
