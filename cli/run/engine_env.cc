#include "cli/run/engine_env.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace rankwright::cli {
namespace {

struct CoreRow {
  std::string_view flag;  // of /proc/cpuinfo
  std::string_view core;
};

// Best first.
constexpr CoreRow kCores[] = {{"avx512f", "SKYLAKEX"}, {"avx2", "HASWELL"}};

/// Returns the flags of the first processor.
std::string_view flags_of(std::string_view cpuinfo) {
  const std::size_t begin = cpuinfo.find("\nflags");
  if (begin == std::string_view::npos) return {};
  const std::string_view rest = cpuinfo.substr(begin + 1);
  return rest.substr(0, rest.find('\n'));
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if (at > 0 && text[at - 1] == ' ' && (end == text.size() || text[end] == ' ')) return true;
  }
  return false;
}

bool set_new(const char* name, std::string_view value) {
  if (value.empty() || std::getenv(name) != nullptr) return false;
  return setenv(name, std::string(value).c_str(), 0) == 0;
}

}  // namespace

std::string_view openblas_core(std::string_view cpuinfo) {
  const std::string_view flags = flags_of(cpuinfo);
  for (const CoreRow& row : kCores)
    if (has_word(flags, row.flag)) return row.core;
  return {};
}

bool set_engine_env() {
  std::ifstream file("/proc/cpuinfo");
  std::ostringstream text;
  text << file.rdbuf();
  bool set = set_new("OPENBLAS_CORETYPE", openblas_core(text.str()));
  set = set_new("OMP_NUM_THREADS", "1") || set;
  return set_new("OPENBLAS_NUM_THREADS", "1") || set;
}

}  // namespace rankwright::cli
