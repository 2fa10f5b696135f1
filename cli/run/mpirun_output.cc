#include "cli/run/mpirun_output.h"

#include <charconv>

namespace rankwright::cli {
namespace {

constexpr std::size_t kFrame = 40;  // dashes; Open MPI writes 74

/// Collapses white space to single blanks, because mpirun wraps lines anywhere.
std::string flat(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank)
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  return out;
}

/// Returns the number directly after the first `words`.
std::optional<i64> number_behind(std::string_view text, std::string_view words) {
  const std::size_t at = text.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  const char* const begin = text.data() + at + words.size();
  i64 value = 0;
  const std::from_chars_result read = std::from_chars(begin, text.data() + text.size(), value);
  if (read.ec != std::errc()) return std::nullopt;
  return value;
}

std::optional<int> small(std::optional<i64> number) {
  return number ? std::optional<int>(int(*number)) : std::nullopt;
}

}  // namespace

void MpirunOutput::take(std::string_view text, std::string& out) {
  if (text.empty()) return;
  if (framed_) {
    said_ += text;
    return;
  }
  out += text;
  inside_line_ = text.back() != '\n';
  passed_any_ = true;
}

std::string MpirunOutput::feed(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    if (control_) {
      if (c != '\n') {
        word_ += c;
        continue;
      }
      ready_ = ready_ || word_ == kReady.substr(1, kReady.size() - 2);
      control_ = false;
      word_.clear();
    } else if (c == '-') {
      ++dashes_;
    } else if (c == '\n' && dashes_ >= kFrame) {
      framed_ = !framed_;
      dashes_ = 0;
    } else {
      take(std::string(dashes_, '-'), out);
      dashes_ = 0;
      if (c == kReady.front())
        control_ = true;
      else
        take({&c, 1}, out);
    }
  }
  return out;
}

std::optional<DeadRank> MpirunOutput::dead() const {
  const std::string text = flat(said_);
  // "mpirun noticed that process rank 3 with PID 7 on node n exited on signal 9 (Killed)."
  if (const std::optional<i64> rank = number_behind(text, "noticed that process rank "))
    return DeadRank{.rank = *rank, .signal = small(number_behind(text, "exited on signal "))};
  // "MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD with errorcode 1."
  if (const std::optional<i64> rank = number_behind(text, "MPI_ABORT was invoked on rank "))
    return DeadRank{.rank = *rank, .code = small(number_behind(text, "with errorcode "))};
  return std::nullopt;
}

}  // namespace rankwright::cli
