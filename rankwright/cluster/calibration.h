// A Calibration is the set of constants of the cost model: fractions of data-sheet figures that
// software reaches, latencies, byte counts of kernels. It does not depend on a plan. The shipped
// one, with the origin of every constant, is catalog/calibration.csv; a fit produces another.
#pragma once

#include <array>
#include <cstddef>

#include "rankwright/base/units.h"

namespace rankwright::cluster {

/// Each is one row of calibration.csv, with this name and in this order.
enum class Constant : unsigned char {
  // Matmuls and attention: fractions of the dense peak.
  matmul_ampere,
  matmul_hopper,
  matmul_hopper_fp8,
  matmul_blackwell,
  matmul_blackwell_fp8,
  matmul_fp4,
  tile_start,
  grouped_fp8,
  grouped_fused,
  grouped_torch,
  matmul_measured,
  matmul_unknown,
  power,
  matmul_bytes,
  wave,
  backward,
  flash_ampere,
  flash2_hopper,
  flash3_hopper,
  flash_blackwell,
  flash_unknown,
  flash1,
  narrow_head,
  unfused_bytes,
  unfused_matmul,
  misaligned_head,
  // Memory-bound work.
  memory_share,
  memory_share_blackwell,
  elementwise,
  cast_share,
  loss_bytes,
  permute,
  permute_fused,
  step_bytes,
  adam_bytes,
  // Software.
  launch_floor,
  launch_sparse,
  launch_expert,
  launch_tp,
  launch_grace,
  launch_unsynced,
  launch_capacity,
  launch_partial,
  launch_graphs,
  launch_compiled,
  launch_blocking,
  untuned,
  imbalance_experts,
  jitter,
  // Links.
  link_share,
  nic_share,
  nic_training,
  nic_all_to_all,
  collective_floor,
  collective_ramp,
  in_network,
  dispatch_alltoall,
  dispatch_deepep,
  dispatch_hybridep,
  dispatch_uccl,
  copy_deepep,
  message_uccl,
  message_uccl_blackwell,
  tp_shown,
  pp_shown,
  ep_shown,
  dp_window,
  dp_shown,
  zero3_contention,
  // Memory.
  workspace,
  communicator,
  graph_pool,
  reserve,
};
inline constexpr std::size_t kConstants = std::size_t(Constant::reserve) + 1;

/// A value for every constant of the cost model.
struct Calibration {
  std::array<double, kConstants> values{};
  // Set from a measured run (validate/calibrate.h); the shipped calibration has the defaults.
  double pace = 1;  // fraction of the predicted compute rates that is reached
  Bytes held{};     // memory used beyond the workspaces of libraries; never negative

  double operator[](Constant c) const { return values[std::size_t(c)]; }
  double& operator[](Constant c) { return values[std::size_t(c)]; }

  friend bool operator==(const Calibration&, const Calibration&) = default;
};

}  // namespace rankwright::cluster
