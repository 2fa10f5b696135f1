// A constant of PyTorch's allocator, for the memory estimate and its lower bounds.
#pragma once

namespace rankwright::cost {

/// The fraction of the device up to which the allocator reserves memory; beyond, it frees its cache
/// and tries again (M22).
inline constexpr double kAllocatorLimit = 0.97;

}  // namespace rankwright::cost
