#include "rankwright/export/comment.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "rankwright/import/syntax/yaml.h"
#include "tests/support/typed_configs.h"

namespace rankwright::exporter {
namespace comment_test {

TEST(SafeName, CatalogNames_AreUnchanged) {
  ASSERT_FALSE(catalog::devices().empty());
  for (const cluster::Device& device : catalog::devices())
    EXPECT_EQ(safe_name(device.name), device.name);
  ASSERT_FALSE(catalog::list_known_models().empty());
  for (const catalog::KnownModel& known : catalog::list_known_models())
    EXPECT_EQ(safe_name(known.name), known.name);
}

TEST(SafeName, CharactersThatToolsActOn_AreReplaced) {
  EXPECT_EQ(safe_name("Meta/Llama-3.1_8B (v2+)"), "Meta/Llama-3.1_8B (v2+)");
  EXPECT_EQ(safe_name("coding:utf_7"), "coding_utf_7");
  EXPECT_EQ(safe_name("$(touch x)\n#SBATCH `a` 'b' \"c\""), "_(touch x)__SBATCH _a_ _b_ _c_");
  EXPECT_EQ(safe_name("a\xE2\x80\xA8z"), "a_z");                   // one character becomes one '_'
  EXPECT_EQ(safe_name(std::string_view("\xFF\xC3\0", 3)), "___");  // invalid UTF-8, and NUL
}

TEST(SafeName, LongNames_AreCutTo64Characters) {
  EXPECT_EQ(safe_name(std::string(64, 'a')), std::string(64, 'a'));
  EXPECT_EQ(safe_name(std::string(65, 'a')), std::string(61, 'a') + "...");
}

TEST(CommentLine, EncodingsAndModelines_AreMadeInert) {
  EXPECT_EQ(comment_line("coding: utf_7"), "coding_ utf_7");
  EXPECT_EQ(comment_line("enCoding=latin1"), "enCoding_latin1");
  EXPECT_EQ(comment_line("-*- mode: x -*-"), "-_- mode: x -_-");
  EXPECT_EQ(comment_line("vim: set x"), "vim_ set x");
  EXPECT_EQ(comment_line("a vim>700: set x"), "a vim>700_ set x");
  EXPECT_EQ(comment_line("yaml-language-server : $schema=x"), "yaml-language-server _ $schema=x");
}

TEST(CommentLine, OwnText_IsUnchanged) {
  for (const char* const line : {"8 ranks = tp 2 x cp 1", "512 x 8,192 · ±9 %", "index: 3",
                                 "parallelism.order: tp-cp-ep-dp-pp"})
    EXPECT_EQ(comment_line(line), line);
}

RC_GTEST_PROP(CommentLine, AnyText_IsOneLineThatYamlIgnores, (const std::string& text)) {
  const std::string comment = comment_line(text + "\xE2\x80\xA8\xC2\x85\r\n");
  RC_ASSERT(comment.find_first_of("\r\n\t") == std::string::npos);
  const Result<importer::YamlNode> root =
      importer::read_yaml("a: 1  # " + comment + "\nb: 2\n", "t.yaml");
  RC_ASSERT(root.has_value());
  RC_ASSERT(root->entries.size() == 2u);
  RC_ASSERT(root->find("a")->scalar == "1");
}

TEST(Commented, EachLine_GetsTheMark) {
  EXPECT_EQ(write_comments({"a", "", "b\nc"}, "#"), "# a\n#\n# b?c\n");
}

TEST(WithSafeNames, EveryNameOfTheConfig_IsReplaced) {
  const std::string hostile = "coding:\x01$(x)";
  rankwright::plan::TrainingConfig config =
      config_of("model: llama-3.2-1b\ncluster: dgx-h100 x 2\n");
  cluster::Device& device = config.cluster.device;
  for (std::string* const name :
       {&config.model.name, &config.cluster.name, &device.name, &device.vendor, &device.generation,
        &device.source, &device.verified, &config.cluster.levels[0].name})
    *name = hostile;
  const rankwright::plan::TrainingConfig safe = make_names_safe(config);
  const cluster::Device& d = safe.cluster.device;
  for (const std::string& name : {safe.model.name, safe.cluster.name, d.name, d.vendor,
                                  d.generation, d.source, d.verified, safe.cluster.levels[0].name})
    EXPECT_EQ(name, "coding___(x)");
}

}  // namespace comment_test
}  // namespace rankwright::exporter
