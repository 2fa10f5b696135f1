#include "rankwright/import/plan/plan_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/import/plan/plan_keys.h"
#include "tests/support/finding_lines.h"

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

TEST(PlanFile, EmptyFile_IsRejected) {
  EXPECT_EQ(
      findings(""),
      "RW0912 0:0 the file is empty; such as: parallelism: {tp_size: 8, pp_size: 4, dp_size: 2}\n");
  EXPECT_EQ(
      findings("# nothing\n"),
      "RW0912 0:0 the file is empty; such as: parallelism: {tp_size: 8, pp_size: 4, dp_size: 2}\n");
  EXPECT_EQ(
      findings("~\n"),
      "RW0912 1:1 the file is empty; such as: parallelism: {tp_size: 8, pp_size: 4, dp_size: 2}\n");
}

TEST(PlanFile, ForeignMap_IsRejected) {
  const std::string none =
      fmt::format("none of the {} keys of a plan file is here; ", key_rows().size());
  EXPECT_EQ(findings("site_name: x\nnav: [a]\n"),
            "RW0912 1:1 " + none + "such as: parallelism: {tp_size: 8, pp_size: 4, dp_size: 2}\n");
  EXPECT_EQ(findings("name: x\ndevice: h100-sxm\nlevels: []\n"),
            "RW0912 1:1 " + none +
                "it looks like a cluster file: rankwright plan --model llama-3.1-8b --cluster "
                "p.yaml\n");
  EXPECT_EQ(findings("{model_type: llama}\n"),
            "RW0912 1:1 " + none +
                "it looks like a Hugging Face config: rankwright plan --model p.yaml --cluster "
                "dgx-h100\n");
  // Spelling suggestions are still reported.
  EXPECT_EQ(findings("wrld_size: 8\n"),
            "RW0902 1:1 'wrld_size' means nothing here; did you mean world_size?\n"
            "RW0912 1:1 " +
                none + "such as: parallelism: {tp_size: 8, pp_size: 4, dp_size: 2}\n");
  // A file with only a name is a plan that leaves everything to defaults.
  EXPECT_EQ(findings("name: x\n"), "");
}

TEST(PlanFile, BoundsDegreesAndSizes) {
  EXPECT_EQ(findings("world_size: 0\n"), "RW0904 1:13 0 is less than 1\n");
  EXPECT_EQ(findings("parallelism: {tp_size: -8}\n"), "RW0904 1:24 -8 is less than 1\n");
  EXPECT_EQ(findings("parallelism: {tp_size: 0}\n"), "RW0904 1:24 0 is less than 1\n");
  EXPECT_EQ(findings("parallelism: {tp_size: 4194305}\n"),
            "RW0904 1:24 4194305 is more than 4,194,304\n");
  EXPECT_EQ(findings("job: {global_batch: 9223372036854775808}\n"),
            "RW0904 1:21 9223372036854775808 is more than 1,125,899,906,842,624 (2^50)\n");
  EXPECT_EQ(findings("job: {sequence: -99999999999999999999}\n"),
            "RW0904 1:17 -99999999999999999999 is less than 1\n");
  EXPECT_EQ(
      findings("parallelism: {stages: []}\n"),
      "RW0904 1:23 the list of stages is empty; such as [7, 8, 8, 7], or leave the key out\n");
  EXPECT_EQ(findings("placement: {ranks: [0, -1]}\n"), "RW0904 1:24 -1 is less than 0\n");
  EXPECT_EQ(findings("cluster: dgx-h100 x 1000000\n"),
            "RW0904 1:10 1,000,000 units of dgx-h100 have more than 4,194,304 devices\n");
}

TEST(PlanFile, AcceptsOnlyWholeNumbers) {
  for (const std::string_view value : {".nan", "NaN", "inf", "1e3", "2.5", "0x10", "8 GPUs", "''"})
    EXPECT_EQ(findings(fmt::format("parallelism: {{tp_size: {}}}\n", value)),
              fmt::format("RW0903 1:24 '{}' is not a whole number\n", value == "''" ? "" : value));
}

TEST(PlanFile, AcceptsOneFormOfNodeShape) {
  EXPECT_EQ(findings("node_shape: 8x8\n"),
            "RW0911 1:13 '8x8' is not of the form N_nodes_x_M_gpus; such as 8_nodes_x_8_gpus\n");
  EXPECT_EQ(findings("node_shape: 8_gpus_x_8_nodes\n"),
            "RW0911 1:13 '8_gpus_x_8_nodes' is not of the form N_nodes_x_M_gpus; such as "
            "8_nodes_x_8_gpus\n");
  EXPECT_EQ(findings("node_shape: _nodes_x__gpus\n"),
            "RW0911 1:13 '_nodes_x__gpus' is not of the form N_nodes_x_M_gpus; such as "
            "8_nodes_x_8_gpus\n");
  EXPECT_EQ(findings("node_shape: 1_node_x_gpu\n"),
            "RW0911 1:13 '1_node_x_gpu' is not of the form N_nodes_x_M_gpus; such as "
            "8_nodes_x_8_gpus\n");
  EXPECT_EQ(findings("node_shape: 0_nodes_x_8_gpus\n"), "RW0904 1:13 0 is less than 1\n");
  EXPECT_EQ(findings("node_shape: 4194304_nodes_x_2_gpus\n"),
            "RW0904 1:13 8,388,608 GPUs are more than 4,194,304\n");
  EXPECT_EQ(findings("node_shape: 8_nodes_x_8_gpus_and_more\n"),
            "RW0911 1:13 '8_nodes_x_8_gpus_and_more' is not of the form N_nodes_x_M_gpus; such as "
            "8_nodes_x_8_gpus\n");
  EXPECT_EQ(findings("node_shape: 1_node_x_1_gpu\n"), "");
}

TEST(PlanFile, UnknownKey_WarnsAndSuggestsTheNearest) {
  const PlanFile file = read("wrld_size: 8\nparallelism: {tpsize: 8, zzz: 1}\nother: 1\n");
  EXPECT_EQ(
      format_findings(file.findings),
      "RW0902 1:1 'wrld_size' means nothing here; did you mean world_size?\n"
      "RW0902 2:15 'tpsize' means nothing here; did you mean tp_size?\n"
      "RW0902 2:26 'zzz' means nothing here; known here: tp_size, cp_size, pp_size, dp_size, "
      "ep_size, etp_size, order, zero_stage, shard_size, bucket_size, sequence_parallel, cp_comm, "
      "micro_batch, virtual_stages, microbatch_group, schedule, stages, recompute, overlap\n"
      "RW0902 3:1 'other' means nothing here; known here: world_size, node_shape, "
      "reading_note, name, placement, model, cluster, parallelism, job, software\n");
  EXPECT_FALSE(has_errors(file.findings));
}

TEST(PlanFile, WrongKind_NamesTheExpectedKind) {
  EXPECT_EQ(findings("[1, 2]\n"), "RW0903 1:1 a map (`key: value`) is expected here, not a list\n");
  EXPECT_EQ(findings("hello\n"),
            "RW0903 1:1 a map (`key: value`) is expected here, not a single value\n");
  EXPECT_EQ(findings("world_size: [64]\n"),
            "RW0903 1:13 a whole number is expected here, not a list\n");
  EXPECT_EQ(findings("parallelism: 8\n"),
            "RW0903 1:14 a map (`key: value`) is expected here, not a single value\n");
  EXPECT_EQ(findings("parallelism: {overlap: yes}\n"),
            "RW0903 1:24 a map (`key: value`) is expected here, not a single value\n");
  EXPECT_EQ(findings("parallelism: {sequence_parallel: maybe}\n"),
            "RW0907 1:34 'maybe' is none of false, true, no, yes, off, on\n");
  EXPECT_EQ(findings("parallelism: {zero_stage: 4}\n"), "RW0907 1:27 '4' is none of 0, 1, 2, 3\n");
  EXPECT_EQ(findings("parallelism: {schedule: 1f2b}\n"),
            "RW0907 1:25 '1f2b' is none of gpipe, 1f1b, interleaved-1f1b, looped-bfs, zb-h1, "
            "zb-2p, interleaved-zb, zb-v, dualpipe, dualpipe-v; did you mean 1f1b?\n");
  EXPECT_EQ(findings("parallelism: {order: tp-tp}\n"),
            "RW0907 1:22 'tp-tp' does not name each of tp, cp, ep, dp, pp at most once; such as "
            "tp-cp-ep-dp-pp: the leftmost axis has neighbouring ranks\n");
  EXPECT_EQ(findings("parallelism: {stages: Ett}\n"),
            "RW0915 1:23 there is no loss (L) in the last stage\n");
  EXPECT_EQ(findings("placement: [0, 1]\n"),
            "RW0903 1:12 one of block, cyclic is expected here, not a list\n");
  EXPECT_EQ(findings("placement: {hosts: 3}\n"),
            "RW0903 1:20 a list of whole numbers is expected here, not a single value\n");
  EXPECT_EQ(findings("model: [llama]\n"), "RW0903 1:8 a word is expected here, not a list\n");
  EXPECT_EQ(findings("cluster:\n"), "RW0903 2:1 a word is expected here, not nothing\n");
  EXPECT_EQ(findings("job: {optimizer: {name: adam}}\n"),
            "RW0903 1:18 one of adam, sgd, lion is expected here, not a map\n");
}

TEST(PlanFile, ReportsAllFaultsAtOnce) {
  EXPECT_EQ(findings("world_size: 0\nparallelism:\n  tp_size: x\n  pp_size: -1\n"),
            "RW0904 1:13 0 is less than 1\n"
            "RW0903 3:12 'x' is not a whole number\n"
            "RW0904 4:12 -1 is less than 1\n");
}

TEST(PlanFile, UnknownModelOrCluster_IsReported) {
  EXPECT_EQ(findings("model: llama-3.1-70\n"),
            "RW0908 1:8 no model is called 'llama-3.1-70'; did you mean llama-3.1-70b? (rankwright "
            "catalog models)\n");
  EXPECT_EQ(findings("cluster: dgx-h10 x 8\n"),
            "RW0908 1:10 no system is called 'dgx-h10'; did you mean dgx-h100? (rankwright catalog "
            "systems)\n");
  EXPECT_EQ(findings("model: {architecture: lama, hidden: 64}\n"),
            "RW0914 1:23 this model: unknown architecture 'lama'; did you mean llama?\n");
  EXPECT_EQ(findings("model: {architecture: llama, hidden: 64, layers: 2}\n"),
            "RW0914 1:8 this model: llama needs 'heads'\n");
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
  const PlanFile file = read_plan("model: /dev/zero\n", "p.yaml", read_file);
  EXPECT_EQ(format_findings(file.findings),
            "RW0908 1:8 no model is called '/dev/zero'; `rankwright catalog models` lists what is "
            "known\n");
  const FileReader zero = [](const std::string&) { return read_file("/dev/zero"); };
  const PlanFile json = read_plan("model: zero.json\n", "p.yaml", zero);
  EXPECT_EQ(format_findings(json.findings),
            "RW0910 1:8 /dev/zero: it is neither a regular file nor a pipe\n");
}

TEST(PlanFile, HostileText_IsRejectedAtItsLocation) {
  EXPECT_EQ(findings("\x93\xfa\x00\x01{["),
            "RW0903 1:1 a map (`key: value`) is expected here, not a single value\n");
  EXPECT_EQ(findings(std::string(10'000, '[')), "RW0906 1:17 it is nested more than 32 deep\n");
  EXPECT_EQ(findings("world_size: &a [1, 1]\nname: [*a, *a]\n"),
            "RW0906 2:8 YAML aliases (*name) are not read here: write the value out\n");
  EXPECT_EQ(findings("world_size: 64\nworld_size: 32\n"),
            "RW0905 2:1 'world_size' is already given on line 1; keep one of the two\n");
  EXPECT_EQ(findings("world_size: 64\n---\nworld_size: 32\n"),
            "RW0901 2:1 a second document begins here\n");
  EXPECT_EQ(
      findings("parallelism:\n\ttp_size: 8\n"),
      "RW0901 2:9 a value stands where none can; indent with spaces: line 2 begins with a tab\n");
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
