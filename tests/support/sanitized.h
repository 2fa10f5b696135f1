#pragma once

namespace rankwright {

// Whether this build uses AddressSanitizer. It is ten times slower, so tests over many cases run
// only some of them.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace rankwright
