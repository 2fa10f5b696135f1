// Verbs that are called from the same process.
#include "cli/call.h"

#include <gmock/gmock.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

namespace rankwright::cli {
namespace call_test {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::vector<std::string> kSmall{"plan", "--model=llama-3.1-8b", "--cluster=dgx-h100 x 1"};

/// What came of a call, and what it printed.
struct Called {
  Call call{};
  int code = 0;
  std::ostringstream out{}, err{};

  void run(const std::vector<std::string>& args, const std::string& input = "") {
    std::istringstream in(input);
    code = cli::run(args, {.in = in, .out = out, .err = err, .call = &call});
  }
};

TEST(Call, GetsEveryFormOfOneSearch) {
  Called text, document;
  text.run(kSmall);
  EXPECT_EQ(text.call.forms.text, text.out.str());
  std::vector<std::string> args = kSmall;
  args.emplace_back("--json");
  document.run(args);
  EXPECT_EQ(text.call.forms.json, document.out.str());
  EXPECT_THAT(text.call.forms.plan, HasSubstr("\nworld_size: 8\n"));
  EXPECT_THAT(text.call.forms.markdown, HasSubstr("|"));
}

TEST(Call, NamesStandForTexts) {
  Called called;
  called.call.texts = {
      {"<a>", "world_size: 64\nparallelism: {tp_size: 8, pp_size: 4, dp_size: 2}\n"},
      {"<b>", "world_size: 64\nparallelism: {tp_size: 8, pp_size: 2, dp_size: 4}\n"}};
  called.run({"compare", "<a>", "<b>", "--json"});
  const json compared = json::parse(called.out.str());
  EXPECT_EQ(compared["a"]["name"], "<a>");
  EXPECT_EQ(compared["b"]["name"], "<b>");
  Called explained;
  explained.call.texts = called.call.texts;
  explained.run({"explain", "<a>", "--json"});
  EXPECT_EQ(json::parse(explained.out.str())["plan"]["pp"], 4);
}

TEST(Call, FaultsAreHandedOverAsTheyAreTold) {
  Called called;
  called.run({"explain", "-"}, "world_size: 64\nparallelism: {tp_size: many}\n");
  EXPECT_EQ(called.code, kUnreadable);
  ASSERT_THAT(called.call.told, SizeIs(1));
  EXPECT_EQ(called.call.told[0].where.line, 2);
  EXPECT_THAT(called.err.str(), HasSubstr(std::string(called.call.told[0].code)));
}

TEST(Call, StopsWhenTheCallerSaysSo) {
  Called called;
  called.call.stop = true;
  called.run({"plan", "--model=llama-3.1-405b", "--cluster=dgx-h100 x 512", "--exhaustive"});
  EXPECT_EQ(called.code, kInterrupted);
}

TEST(Call, LeavesSignalsToTheProcess) {
  struct sigaction before {
  }, during{};
  sigaction(SIGINT, nullptr, &before);
  Called called;
  called.run(kSmall);
  sigaction(SIGINT, nullptr, &during);
  EXPECT_EQ(during.sa_handler, before.sa_handler);
  EXPECT_THAT(called.call.told, IsEmpty());
}

}  // namespace call_test
}  // namespace rankwright::cli
