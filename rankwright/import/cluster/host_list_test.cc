#include "rankwright/import/cluster/host_list.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/support/golden.h"
#include "tests/support/input_lines.h"

namespace rankwright::importer {
namespace host_list_test {

using testing::ElementsAre;

std::vector<std::string> hosts(std::string_view text) {
  const Result<std::vector<std::string>> names = parse_host_list(text, 1000);
  return names ? *names : std::vector<std::string>{names.error().detail};
}

TEST(HostList, ExpandsNamesAndBrackets) {
  EXPECT_THAT(hosts("login"), ElementsAre("login"));
  EXPECT_THAT(hosts(" n1 , n2 "), ElementsAre("n1", "n2"));
  EXPECT_THAT(hosts("n[0-2,7],m"), ElementsAre("n0", "n1", "n2", "n7", "m"));
  EXPECT_THAT(hosts("[1-2]"), ElementsAre("1", "2"));
}

TEST(HostList, LeadingZerosAreKept) {
  EXPECT_THAT(hosts("gpu-[008-010]b"), ElementsAre("gpu-008b", "gpu-009b", "gpu-010b"));
  EXPECT_THAT(hosts("n[8-10]"), ElementsAre("n8", "n9", "n10"));
}

TEST(HostList, TheLastBracketVariesFastest) {
  EXPECT_THAT(hosts("r[0-1]n[0-1]"), ElementsAre("r0n0", "r0n1", "r1n0", "r1n1"));
}

TEST(HostList, InvalidList_IsRejectedWithItsColumn) {
  for (const auto& [text, column] : {std::pair{"", 1},
                                     {"n[", 3},
                                     {"n[]", 3},
                                     {"n[3-1]", 6},
                                     {"n[1", 4},
                                     {"a,", 3},
                                     {"a,,b", 3},
                                     {"a b", 3},
                                     {"n[1-]", 5},
                                     {"n[[1]]", 3},
                                     {"n]", 2},
                                     {"a\x1b[31m", 2},
                                     {"n[-1]", 3}}) {
    const Result<std::vector<std::string>> names = parse_host_list(text, 1000);
    ASSERT_FALSE(names) << text;
    EXPECT_EQ(names.error().code, "RW0620");
    EXPECT_EQ(names.error().where.column, column) << text << ": " << names.error().detail;
  }
}

TEST(HostList, HugeList_IsRejectedBeforeExpansion) {
  const auto refused = [](const std::string& text) {
    const Result<std::vector<std::string>> names = parse_host_list(text, 4096);
    return names ? "read" : names.error().detail;
  };
  golden::expect(
      "import/host-list-limits.txt",
      transcribe({"n[0-999999999]", "n[0-999999999999999999]", "a[0-99]b[0-99]", "n[0-4095],m",
                  "a[0-9]b[0-9]c[0-9]d[0-9]e[0-9]f[0-9]g[0-9]h[0-9]i[0-9]j[0-9]k[0-9]l[0-9]m[0-9]"
                  "n[0-9]",
                  "n[0-4000,0-4000]", "n[9999999999999999999]"},
                 refused) +
          format_case("a name of 256 characters", refused(std::string(256, 'n'))));
  EXPECT_EQ(refused("n[0-4095]"), "read");
  // 255 x 2^22 characters would be a gigabyte.
  const std::string wide = std::string(230, 'n') + "[0-4000000]";
  ASSERT_FALSE(parse_host_list(wide, std::size_t{1} << 22));
}

TEST(HostList, ShowsRunsInBrackets) {
  const std::vector<std::string> names{"n8", "n9", "n10", "n12", "login", "g01b", "g02b", "g3b"};
  EXPECT_EQ(show_host_list(names), "n[8-10,12],login,g01b,g02b,g3b");
  EXPECT_EQ(show_host_list({}), "");
  const std::vector<std::string> down{"n2", "n1"};
  EXPECT_EQ(show_host_list(down), "n[2,1]");
  const std::vector<std::string> nines{"n99", "n100", "n099", "n0100"};
  EXPECT_EQ(show_host_list(nines), "n[99-100,099,0100]");
}

/// Returns names with shared and different prefixes, and numbers around carries.
std::string random_name() {
  const std::string before = *rc::gen::element<std::string>("n", "gpu-", "r1n", "", "a.b_");
  const std::string digits =
      *rc::gen::element<std::string>("0", "00", "1", "7", "8", "9", "09", "10", "010", "99", "099",
                                     "100", "999999999999999999", "12345678901234567890");
  return before + digits + *rc::gen::element<std::string>("", "b", "-x");
}

RC_GTEST_PROP(HostList, RoundTrips, ()) {
  const std::vector<std::string> names =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(rc::gen::exec(random_name)));
  const Result<std::vector<std::string>> back = parse_host_list(show_host_list(names), 1000);
  RC_ASSERT(back.has_value());
  RC_ASSERT(*back == names);
}

RC_GTEST_PROP(HostList, ConsecutiveNumbersShareOneBracket, ()) {
  const int first = *rc::gen::inRange(0, 2000), size = *rc::gen::inRange(2, 300);
  const int width = *rc::gen::inRange(1, 6);
  const std::string list =
      "n[" + fmt::format("{:0{}}-{:0{}}", first, width, first + size - 1, width) + "]";
  const Result<std::vector<std::string>> names = parse_host_list(list, 1000);
  RC_ASSERT(names.has_value() && int(names->size()) == size);
  RC_ASSERT(show_host_list(*names) == list);
}

}  // namespace host_list_test
}  // namespace rankwright::importer
