#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "rankwright/catalog/catalog.h"
#include "rankwright/catalog/table.h"
#include "rankwright/model/parameters.h"

namespace rankwright::catalog {
namespace models_test {

TEST(KnownModels, HaveUniqueNamesAndASource) {
  std::set<std::string> names;
  for (const KnownModel& m : list_known_models()) {
    EXPECT_TRUE(names.insert(m.name).second) << m.name << " appears twice";
    EXPECT_EQ(m.name, lower(m.name));
    for (const std::string& alias : m.aliases)
      EXPECT_TRUE(names.insert(lower(alias)).second) << alias << " appears twice";
    EXPECT_FALSE(m.source.empty()) << m.name << " has no source";
    EXPECT_GT(m.model.max_sequence, 0) << m.name;
  }
  EXPECT_GE(list_known_models().size(), 45u);
}

TEST(KnownModels, HaveTheirPublishedSize) {
  const Csv table = parse_shipped_table(kModelsCsv, "models.csv");
  ASSERT_FALSE(table.rows.empty());
  for (const Csv::Row& row : table.rows) {
    const Cells cells(table, row);
    const double published = 1e9 * std::strtod(cells.text("published_b").c_str(), nullptr);
    const Result<model::Model> model = find_model(cells.text("name"));
    ASSERT_TRUE(model);
    ASSERT_GT(published, 0) << model->name;
    EXPECT_NEAR(double(count_parameters(*model).total()) / published, 1, 0.03) << model->name;
  }
}

TEST(KnownModels, EveryColumn_IsRead) {
  std::set<std::string_view> read = {"name",        "aliases", "architecture", "tied",
                                     "published_b", "source",  "verified"};
  for (const model::ShapeField& field : model::list_shape_fields()) read.insert(field.name);
  const Csv table = parse_shipped_table(kModelsCsv, "models.csv");
  ASSERT_FALSE(table.header.empty());
  for (const std::string& column : table.header) EXPECT_TRUE(read.count(column)) << column;
}

TEST(KnownModels, StateWhetherTheyAreVerified) {
  const std::set<std::string_view> words = {"yes", "total", "no", "own"};
  ASSERT_FALSE(list_known_models().empty());
  for (const KnownModel& m : list_known_models()) EXPECT_TRUE(words.count(m.verified)) << m.name;
}

// metadata.total_size of the checkpoints' model.safetensors.index.json, at two bytes per element;
// tied weights count once. Mixtral 8x22B's is of the fine-tuned copy in tbressers/WizardLM-2-8x22B,
// which was read; the others are as public repositories quote them for the named model.
TEST(KnownModels, MatchTheSizeInTheirCheckpointIndex) {
  const struct {
    std::string_view name;
    i64 bytes;
  } kIndexed[] = {{"llama-3.1-8b", 16'060'522'496},
                  {"llama-3.1-70b", 141'107'412'992},
                  {"mistral-7b", 14'483'464'192},
                  {"mistral-nemo-12b", 24'495'564'800},
                  {"mixtral-8x7b", 93'405'585'408},
                  {"mixtral-8x22b", 281'241'268'224},
                  {"qwen2.5-7b", 15'231'233'024},
                  {"qwen2.5-14b", 29'540'067'328},
                  {"qwen2.5-32b", 65'527'752'704},
                  {"qwen2.5-72b", 145'412'407'296},
                  {"qwen1.5-moe-a2.7b", 28'631'568'384},
                  {"qwen3-4b", 8'044'936'192},
                  {"qwen3-8b", 16'381'470'720},
                  {"qwen3-14b", 29'536'614'400},
                  {"qwen3-32b", 65'524'246'528},
                  {"qwen3-30b-a3b", 61'064'245'248},
                  {"qwen3-235b-a22b", 470'187'269'120},
                  {"deepseek-v2-lite", 31'412'968'448},
                  {"gemma-2-9b", 18'483'411'968},
                  {"phi-3-mini", 7'642'159'104},
                  {"phi-4", 29'319'014'400}};
  for (const auto& [name, bytes] : kIndexed)
    EXPECT_EQ(2 * count_parameters(*find_model(name)).total(), bytes) << name;
}

// Element counts printed in public documents.
TEST(KnownModels, MatchThePublishedCountExactly) {
  const struct {
    std::string_view name;
    i64 total;
  } kCounted[] = {// Model card:
                  {"gpt-neox-20b", 20'554'567'680},
                  // Hugging Face's count of the safetensors, as repositories quote it:
                  {"llama-3.2-3b", 3'212'749'824},
                  {"tinyllama-1.1b", 1'100'048'384},
                  {"mistral-7b-v0.3", 7'248'023'552},
                  {"qwen2.5-1.5b", 1'543'714'304},
                  {"deepseek-r1-distill-qwen-1.5b", 1'777'088'000},  // untied: 151,936 x 1,536 more
                  {"phi-1.5", 1'418'270'720},
                  {"phi-2", 2'779'683'840},
                  // The presets of keras-hub:
                  {"qwen2.5-3b", 3'085'938'688},
                  {"qwen3-1.7b", 1'720'574'976},
                  {"gpt2-medium", 354'823'168},
                  {"gpt2-large", 774'030'080},
                  {"gpt2-xl", 1'557'611'200},
                  {"gemma-2b", 2'506'172'416},
                  {"gemma-7b", 8'537'680'896},
                  {"gemma-2-27b", 27'227'128'320},
                  // Printed by programs after loading the checkpoint:
                  {"llama-13b", 13'015'864'320},
                  {"llama-30b", 32'528'943'616},
                  {"llama-65b", 65'285'660'672},
                  {"llama-3.2-1b", 1'235'814'400},
                  {"qwen2.5-0.5b", 494'032'768},
                  {"qwen3-0.6b", 596'049'920},
                  {"gpt2", 124'439'808},
                  {"gemma-2-2b", 2'614'341'888},
                  // Tables of sizes without a stated origin, which may be computed like ours:
                  {"llama-2-7b", 6'738'415'616},
                  {"llama-2-70b", 68'976'648'192},
                  {"llama-3.1-405b", 405'853'388'800},
                  {"deepseek-v2", 235'741'434'880},
                  {"deepseek-v3", 671'026'419'200},  // without its MTP module
                  {"pythia-70m", 70'426'624},
                  {"pythia-160m", 162'322'944},
                  {"pythia-410m", 405'334'016},
                  {"pythia-1b", 1'011'781'632},
                  {"pythia-1.4b", 1'414'647'808},
                  {"pythia-2.8b", 2'775'208'960},
                  {"pythia-6.9b", 6'857'302'016},
                  {"pythia-12b", 11'846'072'320},
                  {"phi-3-medium", 13'960'238'080}};
  for (const auto& [name, total] : kCounted)
    EXPECT_EQ(count_parameters(*find_model(name)).total(), total) << name;
}

TEST(FindModel, AcceptsAliasesInAnyCase) {
  EXPECT_EQ(find_model("meta-llama/Llama-3.1-8B")->name, "llama-3.1-8b");
  EXPECT_EQ(find_model("META-LLAMA/llama-3.1-8b")->name, "llama-3.1-8b");
  EXPECT_EQ(find_model("Llama-3.1-8B")->name, "llama-3.1-8b");
}

TEST(FindModel, MisspelledName_GetsASuggestion) {
  const Result<model::Model> model = find_model("lama-3.1-8b");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, "RW0908");
  EXPECT_EQ(model.error().hint, "did you mean llama-3.1-8b? (rankwright catalog models)");
}

}  // namespace models_test
}  // namespace rankwright::catalog
