#include "rankwright/report/render/labels.h"

#include <gtest/gtest.h>

#include "tests/support/golden.h"
#include "tests/support/typed_configs.h"

namespace rankwright::report {
namespace labels_test {

const std::string kModel = "model: llama-3.2-1b\ncluster: dgx-h100 x 1\n";

TEST(Headline, NamesModelClusterAndBatchOrSaysThatNoModelIsGiven) {
  // 512 x 8,192 = 4.19 M tokens per step.
  const std::string named = format_headline(
      config_of(kModel + "job: {global_batch: 512, sequence: 8192}\nparallelism: {dp_size: 8}\n"));
  const std::string open =
      format_headline(config_of("cluster: dgx-h100 x 8\nparallelism: {tp_size: 8, dp_size: 8}\n"));
  golden::expect("report/headlines.txt", named + "\n" + open + "\n");
}

TEST(DegreeTags, ListThePlanInOneLine) {
  const std::string plain = format_degree_tags(config_of(kModel + "parallelism: {dp_size: 8}\n"));
  const std::string all = format_degree_tags(
      config_of("model: mixtral-8x7b\ncluster: dgx-h100 x 4\n"
                "parallelism: {tp_size: 2, cp_size: 2, pp_size: 2, virtual_stages: 2, "
                "dp_size: 4, ep_size: 4, zero_stage: 1, micro_batch: 2, recompute: full}\n"));
  golden::expect("report/degree-tags.txt", plain + "\n" + all + "\n");
}

}  // namespace labels_test
}  // namespace rankwright::report
