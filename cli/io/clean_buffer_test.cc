#include "cli/io/clean_buffer.h"

#include <gtest/gtest.h>

#include <new>
#include <sstream>

#include "cli/io/clean_io.h"
#include "tests/support/golden.h"

namespace rankwright::cli {
namespace clean_buffer_test {

TEST(CleanBuffer, TextInPieces_IsCleanedAsAWhole) {
  std::ostringstream to;
  CleanBuffer buffer(to, KeptEscapes::color);
  std::ostream out(&buffer);
  out << "\033[1"
      << "m"
      << "a" << '\xC2' << '\xB7' << "\033[2J" << std::flush;
  EXPECT_EQ(to.str(), "\033[1ma\xC2\xB7\\u001b[2J");
}

TEST(CleanBuffer, Destructor_FlushesTheRest) {
  std::ostringstream to;
  {
    CleanBuffer buffer(to, KeptEscapes::none);
    std::ostream(&buffer) << "a\r";
  }
  EXPECT_EQ(to.str(), "a\\u000d");
}

TEST(CleanBuffer, FailedStream_FailsToo) {
  std::ostringstream to;
  to.setstate(std::ios::badbit);
  CleanBuffer buffer(to, KeptEscapes::none);
  std::ostream out(&buffer);
  EXPECT_FALSE(out << "a" << std::flush);
}

TEST(CleanIo, OutOfMemory_IsAMessageAndAnExitCode) {
  std::istringstream in;
  std::ostringstream out, err;
  const int code = with_clean_io({in, out, err}, [](const Io&) -> int { throw std::bad_alloc(); });
  EXPECT_EQ(code, kOutOfMemory);
  golden::expect("cli/out-of-memory.txt", err.str());
}

}  // namespace clean_buffer_test
}  // namespace rankwright::cli
