#include "rankwright/mesh/mesh.h"

#include <algorithm>

#include "rankwright/base/check.h"

namespace rankwright::mesh {
namespace {

constexpr std::array<std::string_view, kAxes> kAxisNames{"tp", "cp", "ep", "dp", "pp"};

std::optional<Axis> find_axis(std::string_view word) {
  for (const Axis axis : kAllAxes)
    if (name(axis) == word) return axis;
  return std::nullopt;
}

/// Inserts each omitted axis right after the last axis that precedes it in the default order.
void complete(std::vector<Axis>& order) {
  for (std::size_t i = 0; i < kAxes; ++i) {
    const Axis* const end = kDefaultOrder.begin() + i;
    if (std::find(order.begin(), order.end(), *end) != order.end()) continue;
    auto place = order.begin();
    for (auto it = order.begin(); it != order.end(); ++it)
      if (std::find(kDefaultOrder.begin(), end, *it) != end) place = it + 1;
    order.insert(place, *end);
  }
}

}  // namespace

std::string_view name(Axis axis) { return kAxisNames[std::size_t(axis)]; }

std::string show(const Order& order) {
  std::string text;
  for (const Axis axis : order) text.append(text.empty() ? "" : "-").append(name(axis));
  return text;
}

std::optional<Order> parse_order(std::string_view text) {
  constexpr std::string_view kSeparators = "-, \t";
  std::vector<Axis> axes;
  std::size_t at = text.find_first_not_of(kSeparators);
  while (at != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(kSeparators, at), text.size());
    const std::optional<Axis> axis = find_axis(text.substr(at, end - at));
    if (!axis || std::find(axes.begin(), axes.end(), *axis) != axes.end()) return std::nullopt;
    axes.push_back(*axis);
    at = text.find_first_not_of(kSeparators, end);
  }
  if (axes.empty()) return std::nullopt;
  complete(axes);
  Order order;
  RW_CHECK(axes.size() == order.size());
  std::copy(axes.begin(), axes.end(), order.begin());
  return order;
}

bool MeshPair::same_pipeline() const {
  if (dense.size() != expert.size() || dense.pp != expert.pp) return false;
  return dense.pp == 1 || dense.stride(Axis::pp) == expert.stride(Axis::pp);
}

}  // namespace rankwright::mesh
