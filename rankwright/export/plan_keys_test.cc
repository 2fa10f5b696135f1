#include "rankwright/export/plan_keys.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "rankwright/import/plan/plan_keys.h"
#include "tests/support/any_config.h"
#include "tests/support/typed_configs.h"

namespace rankwright::exporter {
namespace plan_keys_test {

const ConfigKey& find_key_row(std::string_view path) {
  return *std::find_if(config_keys().begin(), config_keys().end(),
                       [&](const ConfigKey& row) { return row.path == path; });
}

TEST(SetupKeys, Table_HasTheKeysOfPlanFilesInOrder) {
  std::vector<std::string_view> expected, actual;
  for (const importer::KeyRow& row : importer::key_rows())
    if (row.key.path != "reading_note" && row.key.path != "name") expected.push_back(row.key.path);
  for (const ConfigKey& row : config_keys()) actual.push_back(row.path);
  EXPECT_FALSE(actual.empty());
  EXPECT_EQ(actual, expected);
}

TEST(SetupKeys, UnwrittenKeys_GiveTheirDefaults) {
  const rankwright::plan::TrainingConfig plain =
      config_of("model: llama-3.1-8b\ncluster: dgx-h100\n");
  const std::pair<std::string_view, std::string> silent[] = {
      {"parallelism.cp_size", "1"},
      {"parallelism.etp_size", "-"},
      {"parallelism.shard_size", "all"},
      {"parallelism.sequence_parallel", "false"},
      {"parallelism.microbatch_group", "pp_size"},
      {"parallelism.schedule", "1f1b"},
      {"parallelism.stages", "even"},
      {"job.matmul", "same"},
  };
  for (const auto& [path, value] : silent) {
    EXPECT_FALSE(find_key_row(path).written(plain)) << path;
    EXPECT_EQ(find_key_row(path).value(plain), value) << path;
  }
}

RC_GTEST_PROP(SetupKeys, WrittenKeys_HaveAValue, ()) {
  const rankwright::plan::TrainingConfig config = any_config::random_config();
  int written = 0;
  for (const ConfigKey& row : config_keys()) {
    if (!row.written(config)) continue;
    RC_ASSERT(!row.value(config).empty());
    ++written;
  }
  RC_ASSERT(written > 0);
}

}  // namespace plan_keys_test
}  // namespace rankwright::exporter
