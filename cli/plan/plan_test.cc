// `rankwright plan`: its output, exit codes and flags.
#include "rankwright/planner/plan.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "rankwright/import/plan/plan_file.h"
#include "rankwright/plan/constraint_violation.h"
#include "rankwright/planner/plan/plan_options.h"
#include "rankwright/report/plan/counts_text.h"
#include "rankwright/report/plan/plan_json.h"
#include "tests/support/golden.h"
#include "tests/support/run_command.h"
#include "tests/support/transcript.h"

namespace rankwright::cli {
namespace plan_test {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

/// Returns "plan --model MODEL --cluster CLUSTER" and more arguments.
Words command(const std::string& model, const std::string& cluster, const Words& more = {}) {
  Words all{"plan", "--model", model, "--cluster", cluster};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// Returns arguments of a small search space, searched in a few milliseconds.
const std::string kModel = "llama-3.2-1b";
const std::string kCluster = "dgx-a100";
const Words kJob{"--global-batch", "256", "--seq", "2048"};

Words small(Words more = {}) {
  more.insert(more.begin(), kJob.begin(), kJob.end());
  return command(kModel, kCluster, more);
}

json parsed(const Words& args) { return json::parse(run_command(args).out); }

/// One set of options, in the library's form and as typed.
struct Asked {
  planner::OptionTexts options;

  Words typed() const {
    Words words{"plan", "--json"};
    for (const auto& [name, text] : options) {
      words.push_back("--" + name);
      if (text != "true") words.push_back(text);
    }
    return words;
  }
  std::string answered() const {
    const planner::Outcome<planner::PlanRequest> request = planner::read_plan_options(options);
    if (!request) return request.error().message;
    if (request->several_counts())
      return report::make_counts_json(find_plans_by_count(*request).value());
    const planner::Outcome<planner::PlanAnswer> answer = find_plan(*request);
    return answer ? report::make_plan_json(*answer) : answer.error().message;
  }
};

TEST(PlanOptions, LibraryOptions_GiveTheAnswerOfTheCommandLine) {
  const planner::OptionTexts job{
      {"model", kModel}, {"cluster", kCluster}, {"global-batch", "256"}, {"seq", "2048"}};
  for (planner::OptionTexts more :
       {planner::OptionTexts{},
        {{"tp", "2"}, {"no-pp", "true"}},
        {{"gpus", "4"}, {"tokens", "1B"}, {"price", "$2"}},
        {{"gpus", "1..4"}, {"tokens", "1B"}, {"days", "1"}},
        {{"fit", "true"}, {"recompute", "none"}},
        {{"for", "torchtitan"}, {"max-memory", "40GiB"}},
        {{"exhaustive", "true"}, {"max-zero", "1"}, {"no-cp", "true"}}}) {
    more.insert(job.begin(), job.end());
    const Asked asked{more};
    EXPECT_EQ(asked.answered(), run_command(asked.typed()).out);
  }
}

TEST(PlanOptions, InvalidLibraryOptions_GiveTheErrorOfTheCommandLine) {
  for (const planner::OptionTexts& options :
       {planner::OptionTexts{{"model", kModel}},
        {{"cluster", kCluster}},
        {{"model", kModel}, {"cluster", kCluster}, {"tp", "3"}},
        {{"model", kModel}, {"cluster", kCluster}, {"seq", "none"}},
        {{"model", kModel}, {"cluster", kCluster}, {"ep", "2"}},
        {{"tp", "4"}, {"max-tp", "2"}}}) {
    const Asked asked{options};
    const CommandResult said = run_command(asked.typed());
    EXPECT_EQ(said.code, kUsage);
    EXPECT_THAT(said.err, StartsWith("rankwright plan: " + asked.answered() + "\n"));
  }
}

TEST(PlanGolden, OneBillionOnOneNode_MatchesGolden) {
  const CommandResult said = run_command(small());
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.err, "");
  golden::expect("plan/llama-3.2-1b-node.txt", said.out);
  golden::expect("plan/llama-3.2-1b-node.md", run_command(small({"--markdown"})).out);
  golden::expect("plan/llama-3.2-1b-node.json", run_command(small({"--json"})).out);
}

TEST(PlanGolden, PipelineForMegatron_MatchesGolden) {
  const CommandResult said =
      run_command(command("llama-3.1-8b", "dgx-h100 x 2",
                          {"--for", "megatron", "--pp", "4", "--max-zero", "1", "--tokens", "1T",
                           "--price", "$2.10", "--days", "30"}));
  EXPECT_EQ(said.code, 2);  // it misses the target, as a range of counts would
  golden::expect("plan/llama-3.1-8b-megatron.txt", said.out);
}

TEST(PlanGolden, ExpertsOnTwoNodes_MatchesGolden) {
  const CommandResult said =
      run_command(command("mixtral-8x7b", "dgx-h100 x 2",
                          {"--global-batch", "256", "--seq", "4096", "--no-cp", "--max-pp", "2",
                           "--even-stages", "--schedule", "1f1b"}));
  EXPECT_EQ(said.code, 0);
  golden::expect("plan/mixtral-8x7b-two-nodes.txt", said.out);
}

TEST(PlanGolden, SeveralGpuCounts_MatchesGolden) {
  const Words args =
      command("llama-3.1-8b", "dgx-h100",
              {"--gpus", "1..32", "--tokens", "100B", "--price", "2.10 EUR", "--days", "12"});
  const CommandResult said = run_command(args);
  EXPECT_EQ(said.code, 0);
  golden::expect("plan/llama-3.1-8b-counts.txt", said.out);
  Words as_json = args;
  as_json.push_back("--json");
  const json counts = parsed(as_json);
  EXPECT_EQ(counts["schema"], "rankwright.counts/1");
  // The fewest GPUs that meet the deadline at every error: no smaller count does.
  int fitting = 0;
  for (const json& row : counts["counts"])
    if (row["fits"]) {
      ++fitting;
      EXPECT_EQ(row["deadline"] == "meets", row["gpus"] >= counts["chosen_gpus"]) << row["gpus"];
    }
  EXPECT_GT(fitting, 0);
}

TEST(PlanGolden, NothingFits_MatchesGolden) {
  const CommandResult said = run_command(command("llama-3.1-70b", "dgx-a100", {"--seq", "4096"}));
  EXPECT_EQ(said.code, 2);
  EXPECT_EQ(said.err, "");
  golden::expect("plan/nothing-fits.txt", said.out);
}

TEST(PlanGolden, ExcludedHosts_MatchesGolden) {
  const Scratch file("hosts-out.yaml");
  const CommandResult said = run_command(command(
      "llama-3.1-8b", "dgx-h100 x 4",
      {"--global-batch", "64", "--seq", "4096", "--exclude-nodes", "1,", "-o", file.path()}));
  EXPECT_EQ(said.code, 0);
  // The file's path depends on the machine.
  golden::expect("plan/hosts-out.txt", replace_all(said.out, file.path(), "plan.yaml"));
  const importer::PlanFile read =
      importer::read_plan(golden::read(file.path()), "plan.yaml", importer::refuse_file);
  const rankwright::plan::TrainingConfig config = resolve(read.draft);
  EXPECT_TRUE(find_violations(config).empty());
  EXPECT_EQ(config.world % 8, 0);
  ASSERT_GT(config.world, 0);
  for (i64 rank = 0; rank < config.world; ++rank)
    EXPECT_NE(config.plan.placement.device(rank) / 8, 1);
}

TEST(Plan, Tie_PrefersTheSimplerPlan) {
  // Data parallelism alone.
  const json plan = parsed(small({"--json"}))["best"]["plan"];
  EXPECT_EQ(plan["dp"], 8);
  EXPECT_EQ(plan["tp"], 1);
  EXPECT_EQ(plan["pp"], 1);
  EXPECT_EQ(plan["cp"], 1);
}

TEST(Plan, AnyNumberOfThreads_GivesTheSameAnswer) {
  for (const Words& more : {Words{}, Words{"--json"}, Words{"--exhaustive", "--json"}}) {
    Words one = more, two = more;
    one.insert(one.end(), {"--threads", "1"});
    two.insert(two.end(), {"--threads", "2"});
    EXPECT_EQ(run_command(small(one)).out, run_command(small(two)).out);
  }
}

TEST(Plan, ExhaustiveSearch_FindsTheSamePlan) {
  const json bounded = parsed(small({"--json"}));
  const json all = parsed(small({"--json", "--exhaustive"}));
  EXPECT_EQ(bounded["best"]["plan"], all["best"]["plan"]);
  EXPECT_EQ(bounded["best"]["step_seconds"], all["best"]["step_seconds"]);
  EXPECT_EQ(all["search"]["pruned"], 0);
  EXPECT_GT(all["search"]["evaluated"], bounded["search"]["evaluated"]);
  EXPECT_EQ(bounded["search"]["candidates"], all["search"]["candidates"]);
}

TEST(Plan, SearchStats_CountEveryCandidateOnce) {
  const json search = parsed(small({"--json", "--for", "torchtitan"}))["search"];
  i64 sum = 0;
  for (const char* part : {"duplicates", "memory", "pruned", "evaluated", "undecided"})
    sum += search[part].get<i64>();
  for (const char* part : {"violations", "rules"})
    for (const auto& [name, n] : search[part].items()) sum += n.get<i64>();
  EXPECT_EQ(sum, search["candidates"].get<i64>());
}

TEST(Plan, OutputFile_IsReadByExplain) {
  const Scratch file("plan.yaml");
  const CommandResult said = run_command(small({"-o", file.path()}));
  EXPECT_EQ(said.code, 0);
  EXPECT_THAT(said.out, HasSubstr("rankwright explain " + file.path()));
  const std::string yaml = golden::read(file.path());
  EXPECT_THAT(yaml, StartsWith("# rankwright plan --model llama-3.2-1b --cluster dgx-a100 "));
  const json plan = parsed(small({"--json"})), read = parsed({"explain", file.path(), "--json"});
  EXPECT_EQ(plan["best"]["plan"], read["plan"]);
  EXPECT_EQ(plan["best"]["memory"]["total_bytes"], read["estimate"]["memory"]["total_bytes"]);
  EXPECT_NEAR(plan["best"]["closed_form_seconds"], read["estimate"]["step"]["seconds"], 1e-9);
  EXPECT_TRUE(read["assumed"].empty());
}

TEST(Plan, DegreeLimits_AreKept) {
  const json best = parsed(
      small({"--json", "--tp", "2", "--no-cp", "--max-pp", "2", "--zero", "1", "--micro-batch", "2",
             "--recompute", "full", "--sequence-parallel", "on"}))["best"]["plan"];
  EXPECT_EQ(best["tp"], 2);
  EXPECT_EQ(best["cp"], 1);
  EXPECT_LE(best["pp"], 2);
  EXPECT_EQ(best["zero_stage"], 1);
  EXPECT_EQ(best["micro_batch"], 2);
  EXPECT_EQ(best["recompute"], "full");
  EXPECT_EQ(best["sequence_parallel"], true);
}

TEST(Plan, MaxMemory_IsKept) {
  const json whole = parsed(small({"--json"}))["best"]["memory"];
  const json less = parsed(small({"--json", "--max-memory", "20GiB"}))["best"]["memory"];
  EXPECT_GT(whole["total_bytes"], 20.0 * 1073741824);
  EXPECT_LE(less["total_bytes"], 20.0 * 1073741824);
  // The verdict is on the device, as in every other verb: 20 of its 79.2 GiB leave a margin.
  EXPECT_EQ(less["capacity_bytes"], whole["capacity_bytes"]);
  EXPECT_EQ(less["verdict"], "fits with margin");
}

TEST(Plan, PlanFile_ItsPlanIsComparedWithTheBest) {
  const std::string file =
      "model: llama-3.2-1b\ncluster: dgx-a100\njob: {global_batch: 256, sequence: 2048}\n"
      "parallelism: {tp_size: 8}\n";
  const CommandResult said = run_command({"plan", "-", "--json"}, file);
  EXPECT_EQ(said.code, 0);
  const json found = json::parse(said.out), flags = parsed(small({"--json"}));
  EXPECT_EQ(found["best"]["plan"], flags["best"]["plan"]);
  EXPECT_EQ(found["own"]["plan"]["tp"], 8);
  EXPECT_GT(found["own"]["evaluated"]["step_seconds"], found["best"]["step_seconds"]);
  golden::expect("cli/plan-own-plan.txt",
                 section_of(run_command({"plan", "-"}, file).out, "  yours"));
  // A flag overrides the file.
  EXPECT_EQ(json::parse(
                run_command({"plan", "-", "--json", "--seq", "1024"}, file).out)["job"]["sequence"],
            1024);
}

TEST(Plan, InvalidPlanInFile_IsReported) {
  const CommandResult said =
      run_command({"plan", "-"},
                  "model: llama-3.2-1b\ncluster: dgx-a100\njob: {global_batch: 256}\n"
                  "parallelism: {tp_size: 3}\n");
  EXPECT_EQ(said.code, 0);
  golden::expect("cli/plan-own-plan-invalid.txt", section_of(said.out, "  yours"));
}

TEST(Plan, FewestGpus_AreFound) {
  const json found = parsed(command("llama-3.1-8b", "dgx-h100", {"--fit", "--json"}));
  const i64 gpus = found["fewest"]["gpus"];
  EXPECT_EQ(found["world"], gpus);
  EXPECT_GT(gpus, 1);  // 18 bytes per parameter are 145 GB
  EXPECT_EQ(found["best"]["memory"]["verdict"], "fits with margin");
  const json half =
      parsed(command("llama-3.1-8b", "dgx-h100",
                     {"--gpus", std::to_string(gpus / 2), "--global-batch", "512", "--json"}));
  EXPECT_EQ(half["best"]["memory"]["verdict"], "tight");
}

TEST(Plan, GpusFlag_ScalesTheSystem) {
  const json found = parsed(command(kModel, "dgx-a100", {"--gpus", "16", "--no-cp", "--json"}));
  EXPECT_EQ(found["cluster"]["name"], "dgx-a100 x 2");
  EXPECT_EQ(found["world"], 16);
}

TEST(Plan, NoLayoutOnAllHosts_UsesFewer) {
  // 7 hosts are 7 x 8 GPUs: neither 256 sequences nor 16 layers are divisible by 7.
  const json found = parsed(command(kModel, "dgx-a100 x 8",
                                    {"--global-batch", "256", "--seq", "2048", "--exclude-count",
                                     "1", "--no-cp", "--no-pp", "--micro-batch", "1", "--json"}));
  EXPECT_EQ(found["hosts"]["left"], 7);
  EXPECT_EQ(found["hosts"]["used"], 4);
  EXPECT_EQ(found["hosts"]["idle"], 3);
  EXPECT_EQ(found["world"], 32);
  // tp 7, 14, 28 and 56 do not divide 32 heads, and with tp 1, 2, 4 and 8 dp is 56, 28, 14 and 7.
  EXPECT_EQ(found["hosts"]["broken_on_all"], json({{"heads", 4}, {"batch", 4}}));
}

TEST(Plan, InvalidArguments_AreUsageErrorsWithHelp) {
  std::vector<Words> commands;
  for (const Words& more : std::vector<Words>{
           {"--no-tp", "--tp", "8"},
           {"--tp", "8", "--max-tp", "4"},
           {"--zero", "3", "--max-zero", "1"},
           {"--tp", "x"},
           {"--recompute", "foll"},
           {"--for", "megatorn"},
           {"--max-memory", "72"},
           {"--max-memory", "1TiB"},
           {"--gpus", "64..8"},
           {"--gpus", "4", "--fit"},
           {"--exclude-count", "1"},
           {"--exclude-nodes", "node7"},
           {"--exclude-nodes", "0", "--exclude-count", "1"},
           {"--exclude-nodes", "7"},  // hosts 0 to 0
           {"--exclude-nodes", "7,"},
           {"--tokens", "many"},
           {"--price", "2.10"},
           {"--days", "3"},
           {"--tokens", "1T", "--price", "free"},
           {"--threads", "0"},
           {"--tpp", "8"},
           {"--tp", "3"},  // 8 GPUs are not divisible by 3
           {"--dp", "16"},
           {"--tp", "4", "--pp", "4"},  // 16 of 8
           {"--ep", "2"},               // the model has no experts
           {"--no-pp", "--chunks", "2"},
           {"--no-pp", "--schedule", "zb-v"},
           {"--tp", "1", "--sequence-parallel", "true"},
           {"--no-cp", "--cp-comm", "a2a"},
           {"-o", "-", "--json"},  // two documents on standard output
       })
    commands.push_back(small(more));
  commands.push_back(command(kModel, "dgx-a100 x 2", {"--gpus", "32"}));  // it has 16
  commands.push_back({"plan"});
  commands.push_back({"plan", "--model", kModel});
  commands.push_back({"plan", "--model", kModel, "--gpus", "2048"});
  Transcript transcript;
  for (const Words& args : commands) {
    const CommandResult said = transcript.run(args);
    EXPECT_EQ(said.code, 64) << said.err;
    EXPECT_EQ(said.out, "");
  }
  transcript.expect("cli/plan-usage.txt");
}

TEST(Plan, UnknownModel_SuggestsTheNearest) {
  Transcript transcript;
  EXPECT_EQ(transcript.run(command("lama-3.2-1b", kCluster)).code, 1);
  transcript.expect("cli/plan-unknown-model.txt");
}

TEST(Plan, NoValidLayout_NamesTheRule) {
  Transcript transcript;
  EXPECT_EQ(transcript.run(small({"--pp", "8", "--chunks", "4"})).code,
            2);  // 32 stages for 16 layers
  transcript.expect("cli/plan-nothing-possible.txt");
}

TEST(Plan, SeveralGpuCounts_SearchesThoseThatTheDegreesDivide) {
  EXPECT_EQ(run_command(small({"--tp", "8", "--gpus", "4..8"})).code, 0);
}

TEST(Plan, Terminal_ShowsTheSearchTime) {
  std::istringstream in;
  std::ostringstream out, err;
  EXPECT_EQ(run(small(), {.in = in, .out = out, .err = err, .err_terminal = true}), 0);
  // The time depends on the machine; a slow one also draws and clears a progress line before it.
  const std::regex progress("\r\033\\[K[^\r\n]*(?=\r)|\r\033\\[K"), time("[0-9.]+ [mun]?s\\b");
  golden::expect("cli/plan-search-time.txt",
                 std::regex_replace(std::regex_replace(err.str(), progress, ""), time, "TIME"));
}

TEST(PlanFile, OutputDash_PrintsOnlyThePlan) {
  const CommandResult said = run_command(small({"-o", "-"}));
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.err, "");
  EXPECT_THAT(said.out, Not(HasSubstr("rankwright explain")));
  const CommandResult checked = render_check_text(said.out);
  EXPECT_EQ(checked.code, 0) << checked.out;
  const CommandResult several = run_command(small({"--gpus", "4..8", "-o", "-"}));
  EXPECT_EQ(render_check_text(several.out).code, 0);
}

TEST(PlanFile, OutputDashWithoutAPlan_PrintsTheReasonToStandardError) {
  Transcript transcript;
  const CommandResult none =
      transcript.run(command("llama-3.1-405b", "dgx-h100", {"-o", "-", "--no-cp", "--no-pp"}));
  EXPECT_EQ(none.code, 2);
  EXPECT_EQ(none.out, "");
  transcript.expect("cli/plan-nothing-fits-output-dash.txt");
}

TEST(PlanFile, UnwritableOutput_FailsBeforeTheSearch) {
  Transcript transcript;
  const CommandResult said = transcript.run(small({"-o", "/no/such/folder/plan.yaml"}));
  EXPECT_EQ(said.code, 1);
  EXPECT_EQ(said.out, "");
  transcript.expect("cli/plan-unwritable-output.txt");
}

TEST(PlanFile, WriteFails_StillPrintsTheAnswer) {
  const CommandResult said = run_command(small({"-o", "/dev/full"}));
  EXPECT_EQ(said.code, 1);
  EXPECT_EQ(said.out, run_command(small()).out);
  golden::expect("cli/plan-full-disk.txt", said.err);
}

TEST(PlanFile, OutputEqualsInput_IsOverwritten) {
  const Scratch file("plan-test-in-place.yaml");
  ASSERT_EQ(run_command(small({"-o", file.path()})).code, 0);
  EXPECT_EQ(run_command({"plan", file.path(), "-o", file.path()}).code, 0);
  EXPECT_EQ(render_check_text(golden::read(file.path())).code, 0);
}

TEST(Plan, Target_UsesTheFrameworksConstants) {
  const json titan = parsed(small({"--for", "torchtitan", "--json"}));
  EXPECT_EQ(titan["assumed"][0]["key"], "software.framework");
  EXPECT_EQ(titan["assumed"][0]["value"], "torchtitan");
  int found = 0;
  for (const json& target : titan["targets"])
    if (target["target"] == "torchtitan") {
      ++found;
      EXPECT_TRUE(target["accepted"]);
    }
  EXPECT_EQ(found, 1);
}

// nanotron gives 4 x 16 x dp 8 sequences as factors, not their product.
TEST(Plan, BatchGivenByFactors_IsKept) {
  const CommandResult said =
      run_command({"plan", "-", "--model", "llama-3.2-1b", "--cluster", "dgx-h100", "--json"},
                  "parallelism: {dp: 8, tp: 1, pp: 1}\noptimizer: {zero_stage: 1}\n"
                  "tokens:\n  micro_batch_size: 4\n  batch_accumulation_per_replica: 16\n"
                  "  sequence_length: 2048\n");
  ASSERT_EQ(said.code, 0) << said.err;
  const json found = json::parse(said.out);
  EXPECT_EQ(found["job"]["global_batch"], 512);
  ASSERT_FALSE(found["assumed"].empty());
  for (const json& row : found["assumed"]) EXPECT_NE(row["key"], "job.global_batch");
}

TEST(Plan, NextCommand_ExportsToATargetThatRunsThePlan) {
  // In this order of ranks the plan runs on no framework.
  golden::expect("cli/plan-next-command.txt",
                 section_of(run_command(small({"--tp", "2", "--order", "dp-tp"})).out, "  next"));
}

TEST(Plan, Color_OnlyOnATerminal) {
  EXPECT_THAT(run_command(small()).out, Not(HasSubstr("\033[")));
  EXPECT_THAT(run_command(small(), "", true).out, HasSubstr("\033["));
}

}  // namespace plan_test
}  // namespace rankwright::cli
