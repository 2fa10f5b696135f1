// `rankwright catalog` from its command line to its exit code.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "rankwright/report/catalog/catalog_text.h"
#include "tests/support/run_command.h"
#include "tests/support/transcript.h"

namespace rankwright::cli {
namespace catalog_test {

using nlohmann::json;
using ::testing::HasSubstr;

TEST(CatalogVerb, NoArguments_ListsAllKinds) {
  const CommandResult said = run_command({"catalog"});
  EXPECT_EQ(said.code, 0);
  ASSERT_FALSE(report::list_catalog_kinds().empty());
  for (const report::CatalogKind& kind : report::list_catalog_kinds())
    EXPECT_THAT(said.out, HasSubstr("\n" + std::string(kind.name) + " "));
}

TEST(CatalogVerb, JsonWithoutArguments_ListsAllKinds) {
  const json kinds = json::parse(run_command({"catalog", "--json"}).out);
  EXPECT_EQ(kinds["schema"], "rankwright.catalog/1");
  EXPECT_EQ(kinds["rows"].size(), report::list_catalog_kinds().size());
}

TEST(CatalogVerb, EveryKind_ListsAndShowsEveryEntry) {
  ASSERT_FALSE(report::list_catalog_kinds().empty());
  for (const report::CatalogKind& kind : report::list_catalog_kinds()) {
    const std::string name(kind.name);
    const report::Table table = kind.list();
    ASSERT_FALSE(table.rows.empty()) << name;
    const CommandResult list = run_command({"catalog", name});
    EXPECT_EQ(list.code, 0);
    const json rows = json::parse(run_command({"catalog", name, "--json"}).out)["rows"];
    ASSERT_EQ(rows.size(), table.rows.size());
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      const std::string& one = table.rows[i][0];
      EXPECT_EQ(rows[i][table.columns[0].name], one);
      EXPECT_THAT(list.out, HasSubstr(one));
      EXPECT_EQ(run_command({"catalog", name, one}).code, 0) << name << " " << one;
      EXPECT_TRUE(json::accept(run_command({"catalog", name, one, "--json"}).out)) << one;
    }
  }
}

TEST(CatalogVerb, UnknownKindOrName_SuggestsTheNearestOrTheList) {
  Transcript transcript;
  std::vector<std::vector<std::string>> commands{{"catalog", "modles"}, {"catalog", "qqqq"}};
  ASSERT_FALSE(report::list_catalog_kinds().empty());
  for (const report::CatalogKind& kind : report::list_catalog_kinds()) {
    std::string misspelled = kind.list().rows[0][0];
    misspelled.back() = misspelled.back() == 'x' ? 'y' : 'x';
    commands.push_back({"catalog", std::string(kind.name), misspelled});
    commands.push_back({"catalog", std::string(kind.name), "qqqqqqqqqq"});
  }
  for (const std::vector<std::string>& command : commands) {
    const CommandResult said = transcript.run(command);
    EXPECT_EQ(said.code, 1) << command.back();
    EXPECT_EQ(said.out, "") << command.back();
  }
  transcript.expect("cli/catalog-unknown.txt");
}

}  // namespace catalog_test
}  // namespace rankwright::cli
