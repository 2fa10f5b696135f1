#include "rankwright/import/plan/plan_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/import/plan/plan_keys.h"
#include "tests/support/finding_lines.h"
#include "tests/support/golden.h"
#include "tests/support/input_lines.h"

namespace rankwright::importer {
namespace plan_file_test {

PlanFile read(std::string text) { return read_plan(std::move(text), "p.yaml", refuse_file); }

std::string findings(std::string text) { return format_findings(read(std::move(text)).findings); }

constexpr std::string_view kCourse =
    "# a comment\n"
    "world_size: 64\n"
    "node_shape: 8_nodes_x_8_gpus\n"
    "parallelism:\n"
    "  tp_size: 8   # keep within one node when possible\n"
    "  pp_size: 4\n"
    "  dp_size: 2\n"
    "reading_note: map each collective to the link it crosses\n";

TEST(PlanFile, AcceptsTheCoursePlanUnchanged) {
  const PlanFile file = read(std::string(kCourse));
  EXPECT_EQ(format_findings(file.findings), "");
  const Draft& draft = file.draft;
  EXPECT_EQ(draft.world, 64);
  ASSERT_TRUE(draft.shape);
  EXPECT_EQ(draft.shape->nodes, 8);
  EXPECT_EQ(draft.shape->gpus, 8);
  EXPECT_EQ(draft.tp, 8);
  EXPECT_EQ(draft.pp, 4);
  EXPECT_EQ(draft.dp, 2);
  EXPECT_FALSE(draft.cp || draft.ep || draft.etp || draft.order || draft.zero || draft.schedule);
  EXPECT_FALSE(draft.model || draft.cluster || draft.global_batch || draft.sequence);
}

TEST(PlanFile, RecordsTheLocationOfEveryKey) {
  const PlanFile file = read(std::string(kCourse));
  const auto at = [&](int line, int column, int width) {
    return Location{.file = "p.yaml", .line = line, .column = column, .width = width};
  };
  EXPECT_EQ(file.where("world_size"), at(2, 13, 2));
  EXPECT_EQ(file.where("parallelism.tp_size"), at(5, 12, 1));
  EXPECT_EQ(file.where("parallelism.zero_stage"), at(4, 1, 11));  // the map that would contain it
  EXPECT_EQ(file.where("job.sequence"), (Location{.file = "p.yaml"}));
}

TEST(PlanFile, EmptyOrForeignFile_IsRejected) {
  // A cluster file and a Hugging Face config are recognized; spelling suggestions remain.
  golden::expect("import/plan-file-foreign.txt",
                 transcribe({"", "# nothing\n", "~\n", "site_name: x\nnav: [a]\n",
                             "name: x\ndevice: h100-sxm\nlevels: []\n", "{model_type: llama}\n",
                             "wrld_size: 8\n"},
                            findings));
  // A file with only a name is a plan that leaves everything to defaults.
  EXPECT_EQ(findings("name: x\n"), "");
}

TEST(PlanFile, BoundsDegreesAndSizes_AndReportsAllFaultsAtOnce) {
  golden::expect(
      "import/plan-file-bounds.txt",
      transcribe({"world_size: 0\n", "parallelism: {tp_size: -8}\n", "parallelism: {tp_size: 0}\n",
                  "parallelism: {tp_size: 4194305}\n", "job: {global_batch: 9223372036854775808}\n",
                  "job: {sequence: -99999999999999999999}\n", "parallelism: {stages: []}\n",
                  "parallelism: {recompute: {modules: []}}\n", "placement: {ranks: [0, -1]}\n",
                  "cluster: dgx-h100 x 1000000\n",
                  "world_size: 0\nparallelism:\n  tp_size: x\n  pp_size: -1\n"},
                 findings));
}

TEST(PlanFile, AcceptsOnlyWholeNumbers) {
  golden::expect("import/plan-file-whole-numbers.txt",
                 transcribe({"parallelism: {tp_size: .nan}\n", "parallelism: {tp_size: NaN}\n",
                             "parallelism: {tp_size: inf}\n", "parallelism: {tp_size: 1e3}\n",
                             "parallelism: {tp_size: 2.5}\n", "parallelism: {tp_size: 0x10}\n",
                             "parallelism: {tp_size: 8 GPUs}\n", "parallelism: {tp_size: ''}\n"},
                            findings));
}

TEST(PlanFile, AcceptsOneFormOfNodeShape) {
  golden::expect(
      "import/plan-file-node-shape.txt",
      transcribe(
          {"node_shape: 8x8\n", "node_shape: 8_gpus_x_8_nodes\n", "node_shape: _nodes_x__gpus\n",
           "node_shape: 1_node_x_gpu\n", "node_shape: 0_nodes_x_8_gpus\n",
           "node_shape: 4194304_nodes_x_2_gpus\n", "node_shape: 8_nodes_x_8_gpus_and_more\n"},
          findings));
  EXPECT_EQ(findings("node_shape: 1_node_x_1_gpu\n"), "");
}

TEST(PlanFile, UnknownKey_WarnsAndSuggestsTheNearest) {
  const std::string text = "wrld_size: 8\nparallelism: {tpsize: 8, zzz: 1}\nother: 1\n";
  golden::expect("import/plan-file-unknown-keys.txt", transcribe({text}, findings));
  EXPECT_FALSE(has_errors(read(text).findings));
}

TEST(PlanFile, WrongKind_NamesTheExpectedKind) {
  golden::expect(
      "import/plan-file-wrong-kinds.txt",
      transcribe({"[1, 2]\n", "hello\n", "world_size: [64]\n", "parallelism: 8\n",
                  "parallelism: {overlap: yes}\n", "parallelism: {sequence_parallel: maybe}\n",
                  "parallelism: {zero_stage: 4}\n", "parallelism: {schedule: 1f2b}\n",
                  "parallelism: {order: tp-tp}\n", "parallelism: {stages: Ett}\n",
                  "placement: [0, 1]\n", "placement: {hosts: 3}\n", "model: [llama]\n",
                  "cluster:\n", "job: {optimizer: {name: adam}}\n"},
                 findings));
}

// Both are the number of the encoder's inputs, so that one would replace the other in silence.
TEST(PlanFile, ImagesAndClips_AreADuplicateKey) {
  const PlanFile both = read("job: {images: 2, clips: 3}\n");
  ASSERT_EQ(both.findings.size(), 1u);
  EXPECT_EQ(both.findings[0].code, "RW0905");
  EXPECT_EQ(both.draft.images, 2);
  EXPECT_TRUE(read("job: {images: 2}\n").findings.empty());
}

TEST(PlanFile, UnknownModelOrCluster_IsReported) {
  golden::expect("import/plan-file-unknown-names.txt",
                 transcribe({"model: llama-3.1-70\n", "cluster: dgx-h10 x 8\n",
                             "model: {architecture: lama, hidden: 64}\n",
                             "model: {architecture: llama, hidden: 64, layers: 2}\n"},
                            findings));
}

TEST(PlanFile, RelativePathsAreResolvedFromItsFolder) {
  const FileReader echo = [](const std::string& path) -> Result<std::string> {
    return fail({.code = "RW0910", .message = "asked", .detail = path});
  };
  const PlanFile file = read_plan("model: m.json\ncluster: /etc/c.yaml\n", "plans/p.yaml", echo);
  EXPECT_EQ(format_findings(file.findings), "RW0910 1:8 plans/m.json\nRW0910 2:10 /etc/c.yaml\n");
}

TEST(PlanFile, RefusesDeviceFiles) {
  // A name that ends in .json is opened: it must be a regular file.
  const auto findings_of = [](const std::string& text, const FileReader& files) {
    return format_case(text, format_findings(read_plan(text, "p.yaml", files).findings));
  };
  const FileReader zero = [](const std::string&) { return read_file("/dev/zero"); };
  golden::expect("import/plan-file-device-files.txt", findings_of("model: /dev/zero\n", read_file) +
                                                          findings_of("model: zero.json\n", zero));
}

TEST(PlanFile, HostileText_IsRejectedAtItsLocation) {
  golden::expect(
      "import/plan-file-hostile.txt",
      format_case("10,000 brackets", findings(std::string(10'000, '['))) +
          transcribe({"\x93\xfa\x00\x01{[", "world_size: &a [1, 1]\nname: [*a, *a]\n",
                      "world_size: 64\nworld_size: 32\n", "world_size: 64\n---\nworld_size: 32\n",
                      "parallelism:\n\ttp_size: 8\n"},
                     findings));
}

RC_GTEST_PROP(PlanFile, AnyTextIsReadOrRefused, (const std::string& text)) {
  const PlanFile file = read(text);
  if (!has_errors(file.findings)) RC_ASSERT(resolve(file.draft).world >= 1);
}

RC_GTEST_PROP(PlanFile, DegreesRoundTrip, ()) {
  const i64 degree = *rc::gen::inRange<i64>(1, cluster::kMaxDevices + 1);
  const PlanFile file = read(fmt::format("parallelism: {{tp_size: {0}, pp_size: {0}}}", degree));
  RC_ASSERT(file.findings.empty());
  RC_ASSERT(file.draft.tp == degree && file.draft.pp == degree);
}

}  // namespace plan_file_test
}  // namespace rankwright::importer
