#include "rankwright/planner/input/host_names.h"

#include <gmock/gmock.h>

#include "tests/support/golden.h"

namespace rankwright::planner {
namespace host_names_test {

using ::testing::ElementsAre;

Result<std::vector<std::string>> read_list(const std::string& list) {
  return read_hosts({.list = list});
}

TEST(ReadHosts, ListOrLines_ReturnsNames) {
  EXPECT_THAT(*read_list("n[08-10],x"), ElementsAre("n08", "n09", "n10", "x"));
  EXPECT_THAT(*read_host_lines("# all\nn0\r\n\n  n[2-3] # two\nlast", "f"),
              ElementsAre("n0", "n2", "n3", "last"));
}

TEST(ReadHosts, InvalidOrRepeatedNames_AreErrors) {
  EXPECT_EQ(read_host_lines("a\nb c\n", "names").error().detail.substr(0, 8), "names:2:");
  golden::expect("planner/host-name-faults.txt",
                 "a,b,a: " + read_list("a,b,a").error().detail +
                     "\n# none: " + read_host_lines("# none\n", "f").error().detail + "\n");
  EXPECT_FALSE(read_list("$(reboot)"));
  EXPECT_FALSE(read_list("-n"));  // would be read as an option
  EXPECT_FALSE(read_list("a'b"));
  EXPECT_FALSE(read_list(std::string(254, 'a')));
  EXPECT_TRUE(read_list(std::string(253, 'a')));
  EXPECT_FALSE(read_list("n[0-99999999]"));
  EXPECT_FALSE(read_list(""));
}

}  // namespace host_names_test
}  // namespace rankwright::planner
