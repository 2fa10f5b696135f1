// Rank arithmetic. A Mesh numbers ranks by their coordinates on the parallelism axes, without
// knowledge of hardware. Expert parallelism is a second mesh over the same ranks (MeshPair).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/integer.h"

namespace rankwright::mesh {

/// The axes of parallelism.
enum class Axis : std::uint8_t { tp, cp, ep, dp, pp };
inline constexpr std::size_t kAxes = 5;
inline constexpr std::array<Axis, kAxes> kAllAxes{Axis::tp, Axis::cp, Axis::ep, Axis::dp, Axis::pp};

std::string_view name(Axis);  // "tp"

/// The order of the axes, innermost (fastest varying) first, as in Megatron's "tp-cp-ep-dp-pp".
using Order = std::array<Axis, kAxes>;
inline constexpr Order kDefaultOrder{Axis::tp, Axis::cp, Axis::ep, Axis::dp, Axis::pp};

/// Formats an order: "tp-cp-ep-dp-pp".
std::string show(const Order&);

/// Parses axes separated by '-', ',' or blanks. An omitted axis goes right after the last axis that
/// precedes it in the default order: "tp-pp-dp" is "tp-cp-ep-pp-dp", "dp-tp" is "dp-tp-cp-ep-pp".
/// Returns nothing for an unknown or repeated axis, or if no axis is named.
std::optional<Order> parse_order(std::string_view);

/// The degrees of the five axes and their order. A degree of 1 means "not split". Requires: degrees
/// are at least 1 and their product fits in 64 bits (checked where they are read).
struct Mesh {
  i64 tp = 1, cp = 1, ep = 1, dp = 1, pp = 1;
  Order order = kDefaultOrder;

  constexpr i64 size() const { return tp * cp * ep * dp * pp; }
  constexpr i64 degree(Axis axis) const {
    const i64 degrees[kAxes] = {tp, cp, ep, dp, pp};
    return degrees[std::size_t(axis)];
  }

  /// Returns the distance in rank numbers between two neighbors on `axis`.
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

/// The mesh of the dense layers (ep = 1) and the mesh of the expert layers over the same ranks. In
/// the latter, tp is the expert tensor degree, cp is 1 and dp is the expert data degree. A valid
/// pair has the same pp groups in both: same_pipeline(), which is false if the meshes differ in
/// size.
struct MeshPair {
  Mesh dense;
  Mesh expert;

  bool same_pipeline() const;

  friend bool operator==(const MeshPair&, const MeshPair&) = default;
};

}  // namespace rankwright::mesh
