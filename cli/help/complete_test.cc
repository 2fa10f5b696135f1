// Completions at every position of a command line.
#include "cli/help/complete.h"

#include <gmock/gmock.h>

#include <set>

#include "rankwright/report/catalog/catalog_text.h"
#include "tests/support/run_command.h"

namespace rankwright::cli {
namespace complete_test {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

using Words = std::vector<std::string>;

Words offered(const Words& typed) {
  Words all;
  for (const Candidate& one : list_completions(typed).names) all.push_back(one.word);
  return all;
}

bool files(const Words& typed) { return list_completions(typed).files; }

TEST(Complete, NoWords_OffersNothing) { EXPECT_THAT(offered({}), IsEmpty()); }

TEST(Complete, EmptyWord_OffersEveryVerb) {
  const Words all = offered({""});
  for (const Verb& verb : verbs()) EXPECT_THAT(all, Contains(verb.name));
  EXPECT_EQ(all.size(), verbs().size() + 1);  // plus help
  EXPECT_THAT(offered({"ex"}), ElementsAre("explain", "export"));
  EXPECT_THAT(offered({"help", "ch"}), ElementsAre("check"));
  EXPECT_THAT(offered({"help", "check", ""}), IsEmpty());
  EXPECT_THAT(offered({"--v"}), ElementsAre("--version"));
  EXPECT_THAT(offered({"frobnicate", ""}), IsEmpty());
}

TEST(Complete, Dash_OffersEveryFlagOfHelp) {
  ASSERT_FALSE(verbs().empty());
  for (const Verb& verb : verbs()) {
    const std::string name(verb.name);
    const std::string help = run_command({"help", name}).out;
    const Words all = offered({name, "-"});
    const std::set<std::string> unique(all.begin(), all.end());
    EXPECT_EQ(unique.size(), all.size()) << name << " offers a flag twice";
    EXPECT_GE(all.size(), 5u) << name;  // the flags that every verb has
    for (const std::string& flag : all) EXPECT_THAT(help, HasSubstr(flag)) << name;
  }
}

TEST(Complete, UsedFlag_IsOfferedAgainOnlyIfItRepeats) {
  EXPECT_THAT(offered({"check", "--js"}), ElementsAre("--json"));
  EXPECT_THAT(offered({"check", "--json", "--js"}), IsEmpty());
  EXPECT_THAT(offered({"explain", "plan.yaml", "--slow", "3:1.2x", "--slo"}),
              ElementsAre("--slow", "--slow-link"));
}

TEST(Complete, FlagValue_OffersNamesFromTheTables) {
  EXPECT_THAT(offered({"plan", "--model", "llama-3.1-4"}), ElementsAre("llama-3.1-405b"));
  EXPECT_THAT(offered({"plan", "--cluster", "dgx-h"}), IsSupersetOf({"dgx-h100", "dgx-h200"}));
  EXPECT_THAT(offered({"check", "plan.yaml", "--for", "mega"}),
              ElementsAre("megatron", "megatron-bridge"));
  EXPECT_THAT(offered({"export", "plan.yaml", "--to", "sl"}), ElementsAre("slurm"));
  EXPECT_THAT(offered({"explain", "RW0301"}), ElementsAre("RW0301"));
  EXPECT_THAT(offered({"explain", "zero_"}), ElementsAre("zero_stage"));
  EXPECT_THAT(offered({"explain", "all-r"}), ElementsAre("all-reduce"));
  EXPECT_THAT(offered({"explain", "tp"}), IsSupersetOf({"tp", "tp_size"}));
  EXPECT_THAT(offered({"plan", "--recompute", ""}), IsSupersetOf({"none", "full"}));
  EXPECT_THAT(offered({"completions", ""}), ElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(offered({"explain", "p.yaml", "--failures", ""}),
              ElementsAre("llama-3", "rsc-1", "rsc-2", "ft-hsdp", "bloom"));
}

TEST(Complete, CatalogKind_OffersItsNames) {
  ASSERT_FALSE(report::list_catalog_kinds().empty());
  for (const report::CatalogKind& kind : report::list_catalog_kinds()) {
    const Words names = offered({"catalog", std::string(kind.name), ""});
    ASSERT_FALSE(names.empty()) << kind.name;
    EXPECT_EQ(names.size(), kind.list().rows.size()) << kind.name;
    for (const std::string& name : names)  // every completion is accepted
      EXPECT_EQ(run_command({"catalog", std::string(kind.name), name}).code, 0) << name;
  }
}

TEST(Complete, FileArgument_OffersFiles) {
  EXPECT_TRUE(files({"check", ""}));
  EXPECT_TRUE(files({"check", "a.yaml", ""}));                // takes several files
  EXPECT_TRUE(files({"check", "plan.yaml", "--model", ""}));  // a name or a config.json
  EXPECT_TRUE(files({"check", "plan.yaml", "-o", ""}));
  EXPECT_TRUE(files({"import", "a.txt", "b.txt", ""}));  // takes several files
  EXPECT_FALSE(files({"check", "plan.yaml", "--for", ""}));
  EXPECT_FALSE(files({"catalog", ""}));
  EXPECT_FALSE(files({"plan", "--tp", ""}));
}

TEST(Complete, AllArgumentsGiven_OffersFlags) {
  EXPECT_THAT(offered({"report", "plan.yaml", ""}), Contains("--for"));
  EXPECT_THAT(offered({"probe", ""}), Contains("--quick"));
  EXPECT_THAT(offered({"report", "--", "plan.yaml", ""}), IsEmpty());
}

TEST(Complete, EqualsSign_OffersTheFlagsValues) {
  // One word, as zsh and fish pass it; three, as bash splits it.
  EXPECT_THAT(offered({"check", "--for=sl"}), ElementsAre("--for=slurm"));
  EXPECT_THAT(offered({"check", "--for", "=", "sl"}), ElementsAre("slurm"));
  EXPECT_THAT(offered({"check", "--for", "="}), Contains("slurm"));
  EXPECT_TRUE(files({"check", "--for=slurm", ""}));  // the plan is still missing
  EXPECT_THAT(offered({"check", "--json=tr"}), IsEmpty());
}

TEST(Complete, CompleteVerb_PrintsWordsHelpAndFiles) {
  const CommandResult said = run_command({"__complete", "explain", "RW0301"});
  EXPECT_EQ(said.code, 0);
  EXPECT_THAT(said.out, ::testing::MatchesRegex("RW0301\t[^\n]+\n:files\n"));
  EXPECT_THAT(said.out, Not(HasSubstr("\033")));
}

TEST(ListedWords, Description_GivesItsListedWords) {
  EXPECT_THAT(listed_words("fp32, bf16 or fp8"), ElementsAre("fp32", "bf16", "fp8"));
  EXPECT_THAT(listed_words("true or false"), ElementsAre("true", "false"));
  EXPECT_THAT(listed_words("none, full, or {full: N} for N layers"), ElementsAre("none", "full"));
  EXPECT_THAT(listed_words("gpipe, 1f1b, zb-v"), ElementsAre("gpipe", "1f1b", "zb-v"));
  EXPECT_THAT(listed_words("a name, a config.json, or shapes"), IsEmpty());
  EXPECT_THAT(listed_words("a whole number"), IsEmpty());
  EXPECT_THAT(listed_words("N or A..B"), IsEmpty());
}

TEST(CompletionsVerb, EveryShell_HasAScript) {
  for (const char* shell : {"bash", "zsh", "fish"})
    EXPECT_THAT(run_command({"completions", shell}).out, HasSubstr("__complete")) << shell;
}

}  // namespace complete_test
}  // namespace rankwright::cli
