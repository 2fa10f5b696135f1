// Rank arithmetic. A Mesh numbers the ranks by coordinates on axes; nothing here knows hardware.
// Expert parallelism is a second mesh over the same ranks (MeshPair).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/integer.h"

namespace rankwright::mesh {

enum class Axis : std::uint8_t { tp, cp, ep, dp, pp };
inline constexpr std::size_t kAxes = 5;
inline constexpr std::array<Axis, kAxes> kAllAxes{Axis::tp, Axis::cp, Axis::ep, Axis::dp, Axis::pp};

std::string_view name(Axis);  // "tp"

/// Which axis varies fastest: innermost first, as in Megatron's "tp-cp-ep-dp-pp".
using Order = std::array<Axis, kAxes>;
inline constexpr Order kDefaultOrder{Axis::tp, Axis::cp, Axis::ep, Axis::dp, Axis::pp};

/// "tp-cp-ep-dp-pp".
std::string show(const Order&);

/// Axes between '-', ',' or blanks. An axis that is left out goes right behind the last of those
/// that the default order has before it: "tp-pp-dp" is "tp-cp-ep-pp-dp", "dp-tp" is
/// "dp-tp-cp-ep-pp". Nothing for an unknown or repeated axis, or where none is named.
std::optional<Order> parse_order(std::string_view);

/// Degrees on the five axes and their order. A degree of 1 means "not split". Degrees are at least
/// 1 and their product fits in 64 bits: whoever reads them from outside has checked that.
struct Mesh {
  i64 tp = 1, cp = 1, ep = 1, dp = 1, pp = 1;
  Order order = kDefaultOrder;

  constexpr i64 size() const { return tp * cp * ep * dp * pp; }
  constexpr i64 degree(Axis axis) const {
    const i64 degrees[kAxes] = {tp, cp, ep, dp, pp};
    return degrees[std::size_t(axis)];
  }

  /// Distance in rank numbers between two neighbours on `axis`.
  constexpr i64 stride(Axis axis) const {
    i64 s = 1;
    for (const Axis a : order) {
      if (a == axis) break;
      s *= degree(a);
    }
    return s;
  }

  constexpr i64 coordinate(i64 rank, Axis axis) const { return rank / stride(axis) % degree(axis); }

  friend constexpr bool operator==(const Mesh&, const Mesh&) = default;
};

/// The same ranks seen twice: by the dense layers (ep = 1), and by the expert layers, where tp is
/// the expert tensor degree, cp is 1 and dp the expert data degree. Their pp groups must be equal:
/// same_pipeline() says whether they are; not so where the meshes differ in size.
struct MeshPair {
  Mesh dense;
  Mesh expert;

  bool same_pipeline() const;

  friend bool operator==(const MeshPair&, const MeshPair&) = default;
};

}  // namespace rankwright::mesh
