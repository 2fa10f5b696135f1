#include "rankwright/base/utf8.h"

namespace rankwright {
namespace {

/// The bit pattern of the first byte of a sequence of `bytes` bytes, and the smallest code that
/// needs it.
struct Lead {
  unsigned mask, mark;
  std::size_t bytes;
  char32_t min;
};
constexpr Lead kLeads[] = {
    {0x80, 0x00, 1, 0}, {0xE0, 0xC0, 2, 0x80}, {0xF0, 0xE0, 3, 0x800}, {0xF8, 0xF0, 4, 0x10000}};

}  // namespace

Character decode_character(std::string_view text) {
  const auto byte = [&](std::size_t at) { return unsigned{static_cast<unsigned char>(text[at])}; };
  for (const Lead& lead : kLeads) {
    if (text.size() < lead.bytes || (byte(0) & lead.mask) != lead.mark) continue;
    char32_t code = byte(0) & ~lead.mask & 0xFFu;
    for (std::size_t at = 1; at < lead.bytes; ++at) {
      if ((byte(at) & 0xC0u) != 0x80u) return {};
      code = code << 6 | (byte(at) & 0x3Fu);
    }
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (code < lead.min || surrogate || code > 0x10FFFF) return {};
    return {code, lead.bytes};
  }
  return {};
}

}  // namespace rankwright
