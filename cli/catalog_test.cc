// `rankwright catalog` from its command line to its exit code.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "rankwright/report/catalog/catalog_text.h"
#include "tests/support/run_command.h"

namespace rankwright::cli {
namespace catalog_test {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(CatalogVerb, NoArguments_ListsAllKinds) {
  const CommandResult said = run_command({"catalog"});
  EXPECT_EQ(said.code, 0);
  for (const report::CatalogKind& kind : report::list_catalog_kinds())
    EXPECT_THAT(said.out, HasSubstr("\n" + std::string(kind.name) + " "));
}

TEST(CatalogVerb, JsonWithoutArguments_ListsAllKinds) {
  const json kinds = json::parse(run_command({"catalog", "--json"}).out);
  EXPECT_EQ(kinds["schema"], "rankwright.catalog/1");
  EXPECT_EQ(kinds["rows"].size(), report::list_catalog_kinds().size());
}

TEST(CatalogVerb, EveryKind_ListsAndShowsEveryEntry) {
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

TEST(CatalogVerb, MisspelledKind_SuggestsTheNearest) {
  const CommandResult said = run_command({"catalog", "modles"});
  EXPECT_EQ(said.code, 1);
  EXPECT_EQ(said.out, "");
  EXPECT_EQ(said.err,
            "rankwright catalog: there is no kind 'modles'\n  help: did you mean models?\n");
  EXPECT_EQ(run_command({"catalog", "qqqq"}).err,
            "rankwright catalog: there is no kind 'qqqq'\n"
            "  help: rankwright catalog lists the kinds\n");
}

TEST(CatalogVerb, MisspelledName_SuggestsTheNearest) {
  for (const report::CatalogKind& kind : report::list_catalog_kinds()) {
    std::string name = kind.list().rows[0][0];
    name.back() = name.back() == 'x' ? 'y' : 'x';
    const CommandResult said = run_command({"catalog", std::string(kind.name), name});
    EXPECT_EQ(said.code, 1) << name;
    EXPECT_EQ(said.out, "");
    EXPECT_THAT(said.err, StartsWith("rankwright catalog: "));
    EXPECT_THAT(said.err, HasSubstr("'" + name + "'"));
    EXPECT_THAT(said.err, HasSubstr("help: did you mean ")) << name;
  }
}

TEST(CatalogVerb, UnknownName_HelpNamesTheList) {
  for (const report::CatalogKind& kind : report::list_catalog_kinds()) {
    const CommandResult said = run_command({"catalog", std::string(kind.name), "qqqqqqqqqq"});
    EXPECT_EQ(said.code, 1);
    EXPECT_THAT(said.err, HasSubstr("  help: ")) << said.err;
  }
}

}  // namespace catalog_test
}  // namespace rankwright::cli
