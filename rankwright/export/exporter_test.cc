#include "rankwright/export/exporter.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "rankwright/export/plan_keys.h"
#include "rankwright/plan/constraint_violation.h"
#include "tests/support/any_config.h"
#include "tests/support/round_trip.h"

namespace rankwright::exporter {
namespace exporter_test {

TEST(Exporters, EachTarget_HasOneRowWithKnownKeys) {
  std::set<rules::Target> seen;
  std::set<std::string_view> keys;
  for (const ConfigKey& key : config_keys()) keys.insert(key.path);
  for (const Exporter* entry : exporters()) {
    const Exporter& exporter = *entry;
    const std::string_view name = row(exporter.target).name;
    EXPECT_TRUE(seen.insert(exporter.target).second) << name;
    EXPECT_EQ(find_exporter(name), &exporter);
    EXPECT_FALSE(exporter.summary.empty()) << name;
    for (const std::string_view key : exporter.states()) EXPECT_TRUE(keys.count(key)) << key;
  }
  EXPECT_FALSE(seen.empty());
}

RC_GTEST_PROP(Exporters, RandomPlan_GivesEqualBytesTwiceAndNoDuplicateLosses, ()) {
  const rankwright::plan::TrainingConfig config = any_config::random_config();
  RC_PRE(find_violations(config).empty());
  RC_ASSERT(!exporters().empty());
  for (const Exporter* entry : exporters()) {
    const Exporter& exporter = *entry;
    const std::vector<ExportFile> one = export_plan(exporter, config);
    const std::vector<ExportFile> two = export_plan(exporter, config);
    RC_ASSERT(!one.empty());
    RC_ASSERT(one.size() == two.size());
    for (std::size_t i = 0; i < one.size(); ++i) RC_ASSERT(one[i].text == two[i].text);
    std::set<std::string> keys;
    for (const UnsupportedSetting& lost : find_unsupported(exporter, config)) {
      RC_ASSERT(keys.insert(lost.key).second);
      RC_ASSERT(!lost.why.empty());
    }
  }
}

}  // namespace exporter_test
}  // namespace rankwright::exporter
