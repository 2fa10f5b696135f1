#include "cli/io/clean_buffer.h"

#include <ostream>

namespace rankwright::cli {

CleanBuffer::int_type CleanBuffer::overflow(int_type c) {
  if (!traits_type::eq_int_type(c, traits_type::eof())) held_ += traits_type::to_char_type(c);
  return traits_type::not_eof(c);
}

std::streamsize CleanBuffer::xsputn(const char* text, std::streamsize size) {
  constexpr std::size_t kMaxHeld = 1 << 20;
  held_.append(text, std::size_t(size));
  if (held_.size() > kMaxHeld && !pass_on()) return 0;
  return size;
}

int CleanBuffer::sync() {
  if (!pass_on()) return -1;
  return to_.flush() ? 0 : -1;
}

bool CleanBuffer::pass_on() {
  to_ << clean_text(held_, kept_);
  held_.clear();
  return bool(to_);
}

}  // namespace rankwright::cli
