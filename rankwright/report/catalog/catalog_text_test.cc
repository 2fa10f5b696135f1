#include "rankwright/report/catalog/catalog_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "rankwright/rules/rule.h"
#include "tests/support/golden.h"

namespace rankwright::report {
namespace catalog_text_test {

std::string find_value(const Table& table, std::string_view what) {
  for (const std::vector<std::string>& row : table.rows)
    if (row[0] == what) return row[1];
  return "";
}

TEST(CatalogKinds, AreFoundByName) {
  ASSERT_FALSE(list_catalog_kinds().empty());
  for (const CatalogKind& kind : list_catalog_kinds())
    EXPECT_EQ(find_catalog_kind(kind.name), &kind);
  EXPECT_EQ(find_catalog_kind("model"), nullptr);
  EXPECT_EQ(find_catalog_kind(""), nullptr);
}

TEST(CatalogKinds, ListEachEntryOnceWithACellPerColumn) {
  ASSERT_FALSE(list_catalog_kinds().empty());
  for (const CatalogKind& kind : list_catalog_kinds()) {
    const Table table = kind.list();
    std::set<std::string> names;
    EXPECT_FALSE(table.rows.empty()) << kind.name;
    for (const std::vector<std::string>& row : table.rows) {
      EXPECT_EQ(row.size(), table.columns.size()) << kind.name;
      EXPECT_TRUE(names.insert(row[0]).second) << kind.name << " " << row[0];
    }
  }
}

TEST(CatalogKinds, ShowEveryListedEntry) {
  ASSERT_FALSE(list_catalog_kinds().empty());
  for (const CatalogKind& kind : list_catalog_kinds())
    for (const std::vector<std::string>& row : kind.list().rows) {
      const Result<Table> one = kind.show(row[0]);
      ASSERT_TRUE(one) << kind.name << " " << row[0];
      EXPECT_FALSE(one->rows.empty()) << kind.name << " " << row[0];
      for (const std::vector<std::string>& cells : one->rows)
        EXPECT_EQ(cells.size(), one->columns.size()) << row[0];
    }
}

TEST(CatalogKinds, SuggestTheNearestKnownName) {
  ASSERT_FALSE(list_catalog_kinds().empty());
  for (const CatalogKind& kind : list_catalog_kinds()) {
    const Result<Table> none = kind.show("qqqqqqqq");
    ASSERT_FALSE(none) << kind.name;
    EXPECT_EQ(none.error().code, "RW0908") << kind.name;
    EXPECT_FALSE(help(none.error()).empty()) << kind.name;
  }
}

TEST(CatalogModels, ParametersAddUp) {
  const Table llama = find_catalog_kind("models")->show("llama-3.1-8b").value();
  EXPECT_EQ(find_value(llama, "parameters"), "8,030,261,248");
  EXPECT_EQ(find_value(llama, "  embedding"), "525,336,576");  // 128,256 x 4,096
  EXPECT_EQ(find_value(llama, "  output head"), "525,336,576");
  EXPECT_EQ(find_value(llama, "  norms"), "266,240");  // (2 x 32 + 1) x 4,096
  // 8,030,261,248 - 2 x 525,336,576 - the last norm, divided by 32 layers.
  EXPECT_EQ(find_value(llama, "each of layers 0 to 31"), "218,112,000");
}

TEST(CatalogModels, ShowTiedHeadsAndExperts) {
  const Table llama = find_catalog_kind("models")->show("llama-3.2-1b").value();
  const Table deepseek = find_catalog_kind("models")->show("deepseek-v3").value();
  EXPECT_EQ(find_value(deepseek, "parameters"), "671,026,419,200");
  golden::expect("report/catalog-models.txt", llama.text({}) + "\n" + deepseek.text({}));
}

TEST(CatalogCodes, ListEveryPage) {
  EXPECT_EQ(find_catalog_kind("codes")->list().rows.size(), rules::pages().size());
}

TEST(CatalogOverview, CountsEachKind) {
  const Table kinds = make_catalog_overview();
  ASSERT_FALSE(kinds.rows.empty());
  ASSERT_EQ(kinds.rows.size(), list_catalog_kinds().size());
  for (std::size_t i = 0; i < kinds.rows.size(); ++i) {
    EXPECT_EQ(kinds.rows[i][0], list_catalog_kinds()[i].name);
    EXPECT_NE(kinds.rows[i][1], "0");
  }
}

TEST(TableJson, HasOneObjectPerRow) {
  const Table table{{{"name"}, {"n"}}, {{"a", "1"}, {"b\xff", "2"}}};
  const nlohmann::json json = nlohmann::json::parse(make_table_json("things", table));
  EXPECT_EQ(json["schema"], "rankwright.catalog/1");
  EXPECT_EQ(json["kind"], "things");
  EXPECT_EQ(json["rows"][0], (nlohmann::json{{"name", "a"}, {"n", "1"}}));
  EXPECT_EQ(json["rows"][1]["name"], "b\uFFFD");
}

TEST(ShowCatalog, ShowsKindsEntriesAndOneEntry) {
  const planner::Outcome<CatalogAnswer> kinds = show_catalog("", "");
  ASSERT_TRUE(kinds.has_value());
  EXPECT_EQ(kinds->table.rows.size(), list_catalog_kinds().size());
  // The table changes with every new entry; the note below it does not.
  const std::string table = kinds->table.text({}), text = render_catalog_text(*kinds, {});
  ASSERT_TRUE(text.starts_with(table));
  golden::expect("report/catalog-overview-note.txt", text.substr(table.size()));
  EXPECT_GT(show_catalog("models", "")->table.rows.size(), 1u);
  EXPECT_EQ(show_catalog("models", "gpt2")->kind, "models");
}

TEST(CatalogTerms, DefinitionsAreWrappedBetweenWords) {
  constexpr std::size_t kWidth = 80;
  const CatalogAnswer terms = show_catalog("terms", "").value();
  const std::string text = render_catalog_text(terms, {}, kWidth);
  std::string words;  // all blanks are single
  for (const char c : text)
    if (c != '\n' && c != ' ')
      words += c;
    else if (!words.ends_with(' '))
      words += ' ';
  for (const std::vector<std::string>& row : terms.table.rows)
    EXPECT_THAT(words, testing::HasSubstr(row.back())) << row[0];
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    if (!line.starts_with(' ')) continue;  // a term and its other names
    EXPECT_LE(display_width(line), kWidth) << line;
  }
}

TEST(ShowCatalog, UnknownName_SuggestsTheNearest) {
  const planner::Refusal kind = show_catalog("modls", "").error();
  EXPECT_EQ(kind.kind, planner::Refusal::Kind::unreadable);
  golden::expect("report/catalog-unknown-kind.txt", kind.message + "\n" + kind.hint + "\n");
  EXPECT_EQ(show_catalog("models", "gpt-2").error().kind, planner::Refusal::Kind::unreadable);
}

TEST(ShowCatalog, ClusterFile_ListsItsLevels) {
  // Four NICs of 25 GB/s per node of 8 are 100 GB/s per node, 12.5 GB/s per GPU; oversubscribed
  // 2:1, 50 GB/s per node and 6.25 GB/s per GPU.
  const importer::FileReader files = [](const std::string& name) -> Result<std::string> {
    if (name != "mine.yaml") return importer::refuse_file(name);
    return "device: a100-80g\nlevels:\n"
           "  - {name: nvlink, arity: 8, bandwidth: 300 GB/s, latency: 2 us}\n"
           "  - {name: ib, arity: 16, bandwidth: 100 GB/s, latency: 5 us, per: domain, "
           "oversubscription: 2}\n";
  };
  const planner::Outcome<CatalogAnswer> answer = show_catalog("systems", "mine.yaml", files);
  ASSERT_TRUE(answer.has_value());
  const nlohmann::json rows =
      nlohmann::json::parse(make_table_json(answer->kind, answer->table))["rows"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1]["GPUs"], "128");
  EXPECT_EQ(rows[1]["oversubscription"], "2");
  EXPECT_EQ(rows[1]["effective per GPU"], "6.25 GB/s");
  EXPECT_EQ(rows[1]["effective per domain"], "50 GB/s");
  EXPECT_FALSE(show_catalog("systems", "other.yaml", files).has_value());
}

}  // namespace catalog_text_test
}  // namespace rankwright::report
