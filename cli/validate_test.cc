// `rankwright validate` from its command line to its exit code.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/golden.h"
#include "tests/support/run_command.h"
#include "tests/support/transcript.h"

namespace rankwright::cli {
namespace validate_test {

using nlohmann::json;
using ::testing::StartsWith;

const std::string kRuns = "tests/data/validation/runs.csv";
const std::string kCollectives = "tests/data/validation/collectives.csv";

/// A temporary file with this text.
class Written {
 public:
  Written(const std::string& name, const std::string& text) : file_(name) {
    std::ofstream(file_.path()) << text;
  }
  std::string path() const { return file_.path(); }

 private:
  Scratch file_;
};

const std::string kColumns =
    "id,family,gpu,gpus,tp,pp,dp,layers,hidden,heads,seq,global_batch_seqs,measured_step_s\n";
const std::string kRow = "a,own,H100,8,8,1,1,32,4096,32,4096,64,9\n";

TEST(ValidateVerb, PublishedRuns_AreScored) {
  const CommandResult said = run_command({"validate", kRuns});
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.err, "");
  golden::expect("cli/validate-published-runs.txt", said.out);
}

TEST(ValidateVerb, JsonAndPlot_AreWrittenToFiles) {
  const Scratch out("validate.json"), plot("validate.svg");
  const CommandResult said =
      run_command({"validate", kRuns, "--json", "-o", out.path(), "--plot", plot.path()});
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.out, "");
  std::ifstream stream(out.path());
  const json j = json::parse(stream);
  EXPECT_EQ(j["step_time"]["rows"], 996);
  EXPECT_GE(j["scored"]["percent"].get<double>(), 90);
  std::ifstream drawn(plot.path());
  std::string first;
  std::getline(drawn, first);
  EXPECT_THAT(first, StartsWith("<svg "));
}

TEST(ValidateVerb, TwoRuns_GiveTheSameOutput) {
  EXPECT_EQ(run_command({"validate", kRuns, "--all"}).out,
            run_command({"validate", kRuns, "--all"}).out);
}

/// Returns the text before the first table.
std::string introduction(const std::string& text) { return text.substr(0, text.find("\n\n") + 1); }

TEST(ValidateVerb, LeaveOneFamilyOut_UsesOtherFiles) {
  const Written file("own.csv", kColumns + kRow);
  const CommandResult alone =
      run_command({"validate", file.path(), "--leave-one-family-out", "--quiet"});
  EXPECT_EQ(alone.code, 0);
  golden::expect("cli/validate-one-family.txt", introduction(alone.out));
  const Written other("other.csv", kColumns + "b,other,H100,8,8,1,1,32,4096,32,4096,64,8\n");
  const json j = json::parse(run_command({"validate", file.path(), "--with", other.path(), "--json",
                                          "--leave-one-family-out", "--calibrate-one", "--quiet"})
                                 .out);
  EXPECT_TRUE(j["at_priors"].empty());
  EXPECT_EQ(j["with"].size(), 1u);
  EXPECT_EQ(j["rows"].size(), 1u);
  EXPECT_FALSE(j["rows"][0]["scored"].get<bool>());
}

TEST(ValidateVerb, CollectiveColumns_AreScoredAsCollectives) {
  const CommandResult said = run_command({"validate", kCollectives});
  EXPECT_EQ(said.code, 0);
  Transcript transcript;
  transcript.add_output({"validate", kCollectives}, introduction(said.out));
  EXPECT_EQ(json::parse(run_command({"validate", kCollectives, "--json"}).out)["schema"],
            "rankwright.collectives/1");
  EXPECT_EQ(transcript.run({"validate", kCollectives, "--calibrate-one"}).code, 64);
  transcript.expect("cli/validate-collectives.txt");
  EXPECT_EQ(run_command({"validate", kCollectives, kRuns}).code, 64);
  EXPECT_EQ(run_command({"validate", kRuns, kCollectives}).code, 1);
}

TEST(ValidateVerb, UnreadableInput_IsRefused) {
  EXPECT_EQ(run_command({"validate"}).code, 64);
  EXPECT_EQ(run_command({"validate", kRuns, "--with", kRuns}).code, 64);
  const CommandResult missing = run_command({"validate", "no/such.csv"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, StartsWith("error[RW0910]"));
  const Written columns("columns.csv", "id,layers\na,1\n");
  EXPECT_THAT(run_command({"validate", columns.path()}).err, StartsWith("error[RW0917]"));
  EXPECT_EQ(run_command({"validate", columns.path()}).code, 1);
  EXPECT_EQ(run_command({"validate", kRuns, "--plot", "no/such/folder/plot.svg"}).code, 1);
}

TEST(ValidateVerb, NoUsableRow_ReportsTheReason) {
  const Written none("none.csv", kColumns + "a,own,H100,8,8,1,1,32,4096,0,4096,64,9\n");
  const CommandResult said = run_command({"validate", none.path()});
  EXPECT_EQ(said.code, 1);
  EXPECT_EQ(said.out, "");
  golden::expect("cli/validate-no-usable-row.txt", said.err);  // its heads are 0
}

}  // namespace validate_test
}  // namespace rankwright::cli
