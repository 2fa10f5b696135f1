#include "cli/io/screen.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace rankwright::cli {
namespace screen_test {

std::size_t width_with(const char* columns) {
  setenv("COLUMNS", columns, 1);
  const std::size_t width = query_screen().width;
  unsetenv("COLUMNS");
  return width;
}

TEST(Screen, ColumnsVariable_SetsTheWidth) {
  EXPECT_EQ(width_with("83"), 83u);
  EXPECT_EQ(width_with("1"), 60u);  // the minimum readable width
  EXPECT_EQ(width_with("100000"), 400u);
  const std::size_t own = query_screen().width;
  for (const char* none : {"", "0", "-5", "80 x", "wide", "99999999999999999999"})
    EXPECT_EQ(width_with(none), own) << none;
}

}  // namespace screen_test
}  // namespace rankwright::cli
