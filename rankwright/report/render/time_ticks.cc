#include "rankwright/report/render/time_ticks.h"

#include <cmath>

namespace rankwright::report {

std::vector<Seconds> place_ticks(Seconds end, i64 max) {
  if (!(end.value > 0) || !std::isfinite(end.value) || max < 2) return {Seconds{}};
  double step = std::pow(10, std::floor(std::log10(end.value / double(max))));
  // The factor absorbs rounding errors at the last tick.
  const auto last = [&] { return i64(std::floor(end.value / step * (1 + 1e-9))); };
  for (const double factor : {2.0, 2.5, 2.0, 2.0})
    if (last() >= max) step *= factor;
  std::vector<Seconds> all;
  for (i64 i = 0; i <= last(); ++i) all.push_back(Seconds{double(i) * step});
  return all;
}

}  // namespace rankwright::report
