// What comes out of mpirun's standard error: what ranks wrote, which is passed on as it comes, and
// what mpirun says itself between two lines of dashes, which is kept and read. Text in, text out.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rankwright/base/integer.h"

namespace rankwright::cli {

/// A line that rank 0 writes when every rank can be asked to stop. It is not passed on.
inline constexpr std::string_view kReady = "\001ready\n";

/// The rank that mpirun holds responsible for the end of a run.
struct DeadRank {
  i64 rank = 0;
  std::optional<int> signal{};
  std::optional<int> code{};  // that it ended with, or called MPI_Abort with

  friend bool operator==(const DeadRank&, const DeadRank&) = default;
};

class MpirunOutput {
 public:
  /// What to pass on of the next bytes.
  std::string feed(std::string_view bytes);

  bool ready() const { return ready_; }
  /// The last thing that was passed on was no end of a line.
  bool inside_line() const { return inside_line_; }
  bool passed_any() const { return passed_any_; }
  /// What mpirun itself said.
  const std::string& said() const { return said_; }
  /// Nothing where it named none, or only one that ended by itself with a code.
  std::optional<DeadRank> dead() const;

 private:
  void take(std::string_view text, std::string& out);

  bool framed_ = false;   // between lines of dashes
  bool control_ = false;  // in a line that begins with \001
  bool ready_ = false;
  bool inside_line_ = false;
  bool passed_any_ = false;
  std::size_t dashes_ = 0;  // seen in a row, not yet taken
  std::string word_{};      // of a control line
  std::string said_{};
};

}  // namespace rankwright::cli
