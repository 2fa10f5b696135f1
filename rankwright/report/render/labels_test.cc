#include "rankwright/report/render/labels.h"

#include <gmock/gmock.h>

#include "tests/support/typed_configs.h"

namespace rankwright::report {
namespace labels_test {

using ::testing::HasSubstr;

const std::string kModel = "model: llama-3.2-1b\ncluster: dgx-h100 x 1\n";

TEST(Headline, NamesModelClusterAndBatch) {
  EXPECT_EQ(format_headline(config_of(kModel + "job: {global_batch: 512, sequence: 8192}\n"
                                               "parallelism: {dp_size: 8}\n")),
            "llama-3.2-1b (1.24 B parameters) on 8 h100-sxm, 1 node x 8 · 512 x 8,192 = 4.19 M "
            "tokens a step");
}

TEST(Headline, SaysThatNoModelIsGiven) {
  EXPECT_THAT(
      format_headline(config_of("cluster: dgx-h100 x 8\nparallelism: {tp_size: 8, dp_size: 8}\n")),
      HasSubstr("no model given (estimated with llama-3.1-70b layers)"));
}

TEST(DegreeTags, ListThePlanInOneLine) {
  EXPECT_EQ(format_degree_tags(config_of(kModel + "parallelism: {dp_size: 8}\n")),
            "tp 1 · pp 1 · dp 8 on nvlink · no ZeRO · microbatch 1 · no recompute");
  EXPECT_EQ(format_degree_tags(
                config_of("model: mixtral-8x7b\ncluster: dgx-h100 x 4\n"
                          "parallelism: {tp_size: 2, cp_size: 2, pp_size: 2, virtual_stages: 2, "
                          "dp_size: 4, ep_size: 4, zero_stage: 1, micro_batch: 2, recompute: full}"
                          "\n")),
            "tp 2 on nvlink · cp 2 on nvlink · pp 2 x 2 chunks on infiniband · dp 4 on infiniband"
            " · ep 4 on nvlink · ZeRO-1 · microbatch 2 · full recompute");
}

}  // namespace labels_test
}  // namespace rankwright::report
