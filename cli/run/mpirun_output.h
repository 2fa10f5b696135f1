// Splits mpirun's standard error into the ranks' output, which is passed on at once, and mpirun's
// own messages between two lines of dashes, which are kept and parsed. Text in, text out.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rankwright/base/integer.h"

namespace rankwright::cli {

/// The line that rank 0 writes once every rank handles stop signals. It is not passed on.
inline constexpr std::string_view kReady = "\001ready\n";

/// The rank that ended a run, according to mpirun.
struct DeadRank {
  i64 rank = 0;
  std::optional<int> signal{};
  std::optional<int> code{};  // exit code, or the code of MPI_Abort

  friend bool operator==(const DeadRank&, const DeadRank&) = default;
};

/// An incremental parser of mpirun's standard error.
class MpirunOutput {
 public:
  /// Parses the next bytes. Returns the part to pass on.
  std::string feed(std::string_view bytes);

  bool ready() const { return ready_; }
  /// Returns whether the text passed on so far ends in the middle of a line.
  bool inside_line() const { return inside_line_; }
  bool passed_any() const { return passed_any_; }
  /// Returns mpirun's own messages.
  const std::string& said() const { return said_; }
  /// Returns the rank that mpirun blames; nothing if it names none, or only one that exited
  /// normally with a code.
  std::optional<DeadRank> dead() const;

 private:
  void take(std::string_view text, std::string& out);

  bool framed_ = false;   // between lines of dashes
  bool control_ = false;  // in a line that begins with \001
  bool ready_ = false;
  bool inside_line_ = false;
  bool passed_any_ = false;
  std::size_t dashes_ = 0;  // consecutive dashes not yet consumed
  std::string word_{};      // of a control line
  std::string said_{};
};

}  // namespace rankwright::cli
