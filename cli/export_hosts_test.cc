#include "cli/export_hosts.h"

#include <gmock/gmock.h>

#include <sstream>

#include "cli/verb.h"

namespace rankwright::cli {
namespace export_hosts_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Ran {
  int code;
  std::string out, err;
};

/// With this plan on standard input.
Ran export_of(const std::string& plan, std::vector<std::string> args) {
  args.insert(args.begin(), {"export", "-"});
  std::istringstream in(plan);
  std::ostringstream out, err;
  const int code = run(args, {in, out, err});
  return {code, out.str(), err.str()};
}

constexpr const char* kPlan =
    "world_size: 16\nmodel: llama-3.2-1b\ncluster: dgx-h100 x 2\nparallelism: {dp_size: 16}\n";

TEST(ExportHosts, AreAListOrLines) {
  EXPECT_THAT(*read_hosts("n[08-10],x"), ElementsAre("n08", "n09", "n10", "x"));
  EXPECT_THAT(*read_host_lines("# all\nn0\r\n\n  n[2-3] # two\nlast", "f"),
              ElementsAre("n0", "n2", "n3", "last"));
}

TEST(ExportHosts, ThatCannotBeAreFaults) {
  EXPECT_EQ(read_host_lines("a\nb c\n", "names").error().detail.substr(0, 8), "names:2:");
  EXPECT_EQ(read_hosts("a,b,a").error().detail, "a is named twice");
  EXPECT_EQ(read_host_lines("# none\n", "f").error().detail, "there is no name in it");
  EXPECT_FALSE(read_hosts("$(reboot)"));
  EXPECT_FALSE(read_hosts("-n"));  // would be an option
  EXPECT_FALSE(read_hosts("a'b"));
  EXPECT_FALSE(read_hosts(std::string(254, 'a')));
  EXPECT_TRUE(read_hosts(std::string(253, 'a')));
  EXPECT_FALSE(read_hosts("n[0-99999999]"));
  EXPECT_FALSE(read_hosts(""));
}

TEST(Export, NamesHostsInTheScript) {
  const Ran ran = export_of(kPlan, {"--to", "slurm", "--hosts", "gpu-[7-8]"});
  EXPECT_EQ(ran.code, kOk) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("#SBATCH --nodelist=gpu-[7-8]\n"));
}

TEST(Export, SaysHowManyNamesAreMissing) {
  const Ran ran = export_of(kPlan, {"--to", "openmpi", "--hosts", "n0"});
  EXPECT_EQ(ran.code, kUsage);
  EXPECT_THAT(ran.err, HasSubstr("the plan needs 2 hosts, and there is 1 name"));
  EXPECT_EQ(ran.out, "");
}

TEST(Export, TakesHostsForLaunchersOnly) {
  const Ran ran = export_of(kPlan, {"--to", "nanotron", "--hosts", "n[0-1]"});
  EXPECT_EQ(ran.code, kUsage);
  EXPECT_THAT(ran.err, HasSubstr("nanotron starts no ranks"));
}

}  // namespace export_hosts_test
}  // namespace rankwright::cli
