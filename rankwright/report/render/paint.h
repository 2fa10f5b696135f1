// Color on a terminal, plain text elsewhere, written by the same code.
#pragma once

#include <string>
#include <string_view>

#include "rankwright/base/diagnostic.h"
#include "rankwright/base/integer.h"

namespace rankwright::report {

/// Adds terminal color codes to text if `on`, otherwise returns it unchanged.
struct Paint {
  bool on = false;

  std::string bold(std::string_view text) const { return with("1", text); }
  std::string dim(std::string_view text) const { return with("2", text); }
  std::string blue(std::string_view text) const { return with("34", text); }
  std::string green(std::string_view text) const { return with("32", text); }

  /// Returns the text in red, yellow or cyan.
  std::string severity(Severity severity, std::string_view text) const {
    constexpr std::string_view kColors[] = {"1;31", "1;33", "1;36"};
    return with(kColors[std::size_t(severity)], text);
  }

  /// Returns the text in one of six colors that are distinct on dark and on light backgrounds.
  std::string group(i64 index, std::string_view text) const {
    constexpr std::string_view kColors[] = {"36", "33", "35", "32", "34", "31"};
    return with(kColors[std::size_t(index % 6)], text);
  }

 private:
  std::string with(std::string_view code, std::string_view text) const {
    if (!on) return std::string(text);
    return "\033[" + std::string(code) + "m" + std::string(text) + "\033[0m";
  }
};

}  // namespace rankwright::report
