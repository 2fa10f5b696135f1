// The exit code of a verdict on memory is the same for every verb.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/export/plan_file.h"
#include "tests/support/run_command.h"
#include "tests/support/typed_configs.h"

namespace rankwright::cli {
namespace memory_verdict_test {

using nlohmann::json;

/// Returns a plan file whose estimate is `share` of the memory of its devices.
std::string plan_with(double share) {
  plan::TrainingConfig config = config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 1\njob: {global_batch: 32, sequence: 4096}\n"
      "parallelism: {tp_size: 2, pp_size: 2, dp_size: 2, zero_stage: 1}\n");
  config.cluster.device.memory = cost::fullest(config, select_calibration(config)).total() / share;
  config.cluster.name = config.cluster.device.name = "own";
  return exporter::write_plan_yaml(config);
}

/// Returns the flags that leave `plan` only the plan of the file.
const std::vector<std::string> kOnlyThisPlan = {"--for",
                                                "any",
                                                "--tp",
                                                "2",
                                                "--pp",
                                                "2",
                                                "--dp",
                                                "2",
                                                "--no-cp",
                                                "--zero",
                                                "1",
                                                "--no-hybrid",
                                                "--micro-batch",
                                                "1",
                                                "--recompute",
                                                "none",
                                                "--even-stages",
                                                "--schedule",
                                                "1f1b",
                                                "--chunks",
                                                "1",
                                                "--sequence-parallel",
                                                "true"};

struct VerdictCase {
  double share;  // of the device
  const char* verdict;
  int code;
};

// The boundaries are 91.3 %, 100 % and 108.7 % of the device (M26).
constexpr VerdictCase kCases[] = {{0.85, "fits with margin", 0},
                                  {0.95, "tight", 0},
                                  {1.05, "over, within estimate error", 0},
                                  {1.15, "does not fit", 2}};

TEST(MemoryVerdict, EveryVerbHasItsExitCode) {
  for (const VerdictCase& one : kCases) {
    SCOPED_TRACE(one.verdict);
    const std::string plan = plan_with(one.share);
    const Scratch other("verdict-code.yaml");
    std::ofstream(other.path()) << plan;
    const auto code = [&](std::vector<std::string> args) { return run_command(args, plan).code; };
    EXPECT_EQ(code({"check", "-"}), one.code);
    EXPECT_EQ(code({"explain", "-"}), one.code);
    EXPECT_EQ(code({"explain", "-", "--sensitivity"}), one.code);
    EXPECT_EQ(code({"compare", "-", other.path()}), one.code);
    EXPECT_EQ(code({"report", "-", "--no-search", "--markdown"}), one.code);
    for (const bool fit : {false, true}) {
      std::vector<std::string> args{"plan", "-", "--quiet"};
      args.insert(args.end(), kOnlyThisPlan.begin(), kOnlyThisPlan.end());
      if (fit) args.push_back("--fit");
      EXPECT_EQ(code(args), one.code) << fit;
    }
  }
}

TEST(MemoryVerdict, EveryJsonNamesIt) {
  for (const VerdictCase& one : kCases) {
    SCOPED_TRACE(one.verdict);
    const std::string plan = plan_with(one.share);
    const Scratch other("verdict-json.yaml");
    std::ofstream(other.path()) << plan;
    const auto read = [&](std::vector<std::string> args) {
      args.push_back("--json");
      return json::parse(run_command(args, plan).out);
    };
    EXPECT_EQ(read({"explain", "-"})["estimate"]["memory"]["verdict"], one.verdict);
    EXPECT_EQ(read({"explain", "-", "--sensitivity"})["verdict"], one.verdict);
    EXPECT_EQ(read({"compare", "-", other.path()})["a"]["memory"]["verdict"], one.verdict);
    const json report = read({"report", "-", "--no-search"})["plans"][0];
    EXPECT_EQ(report["explain"]["estimate"]["memory"]["verdict"], one.verdict);
    std::vector<std::string> args{"plan", "-"};
    args.insert(args.end(), kOnlyThisPlan.begin(), kOnlyThisPlan.end());
    const json found = read(args);
    EXPECT_EQ(found["own"]["evaluated"]["memory"]["verdict"], one.verdict);
    if (one.code == 0) {
      EXPECT_EQ(found["best"]["memory"]["verdict"], one.verdict);
    }
  }
}

}  // namespace memory_verdict_test
}  // namespace rankwright::cli
