#pragma once

namespace rankwright {

// Whether this build watches every access to memory: ten times slower, so that a test over many
// cases takes a part of them.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace rankwright
