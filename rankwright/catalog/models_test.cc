#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "rankwright/catalog/catalog.h"
#include "rankwright/catalog/table.h"
#include "rankwright/model/parameters.h"

namespace rankwright {
namespace {

TEST(KnownModels, HaveUniqueNamesAndASource) {
  std::set<std::string> names;
  for (const KnownModel& m : known_models()) {
    EXPECT_TRUE(names.insert(m.name).second) << m.name << " appears twice";
    EXPECT_EQ(m.name, lower(m.name));
    for (const std::string& alias : m.aliases)
      EXPECT_TRUE(names.insert(lower(alias)).second) << alias << " appears twice";
    EXPECT_FALSE(m.source.empty()) << m.name << " has no source";
    EXPECT_GT(m.model.max_sequence, 0) << m.name;
  }
  EXPECT_GE(known_models().size(), 45u);
}

TEST(KnownModels, HaveTheirPublishedSize) {
  const Csv table = shipped_table(kModelsCsv, "models.csv");
  for (const Csv::Row& row : table.rows) {
    const Cells cells(table, row);
    const double published = 1e9 * std::strtod(cells.text("published_b").c_str(), nullptr);
    const Result<Model> model = find_model(cells.text("name"));
    ASSERT_TRUE(model);
    ASSERT_GT(published, 0) << model->name;
    EXPECT_NEAR(double(parameters(*model).total()) / published, 1, 0.03) << model->name;
  }
}

TEST(KnownModels, HaveNoColumnThatNobodyReads) {
  std::set<std::string_view> read = {"name", "aliases",     "architecture",
                                     "tied", "published_b", "source"};
  for (const ShapeField& field : shape_fields()) read.insert(field.name);
  for (const std::string& column : shipped_table(kModelsCsv, "models.csv").header)
    EXPECT_TRUE(read.count(column)) << column;
}

// The element counts of the published checkpoints, tied weights counted once.
TEST(KnownModels, EqualTheirCheckpointsToTheUnit) {
  const struct {
    std::string_view name;
    i64 total;
  } kExact[] = {{"llama-7b", 6'738'415'616},
                {"llama-13b", 13'015'864'320},
                {"llama-30b", 32'528'943'616},
                {"llama-65b", 65'285'660'672},
                {"llama-2-70b", 68'976'648'192},
                {"llama-3.1-8b", 8'030'261'248},
                {"llama-3.1-70b", 70'553'706'496},
                {"llama-3.1-405b", 405'853'388'800},
                {"llama-3.2-1b", 1'235'814'400},
                {"llama-3.2-3b", 3'212'749'824},
                {"tinyllama-1.1b", 1'100'048'384},
                {"mistral-7b", 7'241'732'096},
                {"mistral-7b-v0.3", 7'248'023'552},
                {"mistral-nemo-12b", 12'247'782'400},
                {"mixtral-8x7b", 46'702'792'704},
                {"mixtral-8x22b", 140'620'634'112},
                {"qwen2.5-0.5b", 494'032'768},
                {"qwen2.5-1.5b", 1'543'714'304},
                {"qwen2.5-3b", 3'085'938'688},
                {"qwen2.5-7b", 7'615'616'512},
                {"qwen2.5-14b", 14'770'033'664},
                {"qwen2.5-32b", 32'763'876'352},
                {"qwen2.5-72b", 72'706'203'648},
                {"qwen3-0.6b", 596'049'920},
                {"qwen3-1.7b", 1'720'574'976},
                {"qwen3-4b", 4'022'468'096},
                {"qwen3-8b", 8'190'735'360},
                {"qwen3-14b", 14'768'307'200},
                {"qwen3-32b", 32'762'123'264},
                {"qwen3-30b-a3b", 30'532'122'624},
                {"qwen3-235b-a22b", 235'093'634'560},
                {"qwen1.5-moe-a2.7b", 14'315'784'192},
                {"deepseek-v2", 235'741'434'880},
                {"deepseek-v2-lite", 15'706'484'224},
                {"deepseek-v3", 671'026'419'200},
                {"gpt2", 124'439'808},
                {"gpt2-medium", 354'823'168},
                {"gpt2-large", 774'030'080},
                {"gpt2-xl", 1'557'611'200},
                {"gpt-neox-20b", 20'554'567'680},
                {"pythia-70m", 70'426'624},
                {"pythia-160m", 162'322'944},
                {"pythia-410m", 405'334'016},
                {"pythia-1b", 1'011'781'632},
                {"pythia-1.4b", 1'414'647'808},
                {"pythia-2.8b", 2'775'208'960},
                {"pythia-6.9b", 6'857'302'016},
                {"pythia-12b", 11'846'072'320},
                {"gemma-2b", 2'506'172'416},
                {"gemma-7b", 8'537'680'896},
                {"gemma-2-2b", 2'614'341'888},
                {"gemma-2-9b", 9'241'705'984},
                {"gemma-2-27b", 27'227'128'320},
                {"phi-1.5", 1'418'270'720},
                {"phi-2", 2'779'683'840},
                {"phi-3-mini", 3'821'079'552},
                {"phi-3-medium", 13'960'238'080},
                {"phi-4", 14'659'507'200}};
  for (const auto& [name, total] : kExact)
    EXPECT_EQ(parameters(*find_model(name)).total(), total) << name;
}

TEST(FindModel, KnowsAliasesInAnyCase) {
  EXPECT_EQ(find_model("meta-llama/Llama-3.1-8B")->name, "llama-3.1-8b");
  EXPECT_EQ(find_model("META-LLAMA/llama-3.1-8b")->name, "llama-3.1-8b");
  EXPECT_EQ(find_model("Llama-3.1-8B")->name, "llama-3.1-8b");
}

TEST(FindModel, SuggestsWhatWasMeant) {
  const Result<Model> model = find_model("lama-3.1-8b");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, "RW0908");
  EXPECT_EQ(model.error().hint, "did you mean llama-3.1-8b? (rankwright catalog models)");
}

}  // namespace
}  // namespace rankwright
