// Words of other tools in a plan file get the key to write instead.
#include <gmock/gmock.h>

#include "rankwright/import/plan/plan_file.h"
#include "rankwright/import/plan/plan_keys.h"

namespace rankwright::importer {
namespace key_hints_test {

using ::testing::HasSubstr;

Diagnostics read(const std::string& text) {
  return read_plan(text, "plan.yaml", refuse_file).findings;
}

TEST(KeyHints, FsdpAndMicrobatches_PointAtTheirKeys) {
  const Diagnostics fsdp = read("world_size: 8\nfsdp: true\n");
  ASSERT_EQ(fsdp.size(), 1u);
  EXPECT_EQ(fsdp[0].code, "RW0902");
  EXPECT_THAT(fsdp[0].hint, HasSubstr("zero_stage: 3"));
  const Diagnostics batches = read("parallelism: {tp_size: 8, microbatches: 8}\n");
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_THAT(batches[0].hint, HasSubstr("global_batch"));
}

TEST(KeyHints, ShortNameOfADegree_IsRespelled) {
  const Diagnostics found = read("parallelism: {tp: 8, dp_size: 1}\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].respelling, (Respelling{"tp", "tp_size"}));
  // Elsewhere the name is not that of a degree.
  EXPECT_EQ(read("world_size: 8\njob: {tp: 8}\n")[0].respelling, std::nullopt);
}

// Every hint names a key that plan files have.
TEST(KeyHints, NameKnownKeys) {
  ASSERT_FALSE(key_hints().empty());
  for (const WordHint& one : key_hints()) {
    bool known = false;
    for (const KeyRow& row : key_rows()) {
      const std::string_view name = row.key.path.substr(row.key.path.rfind('.') + 1);
      known = known || one.key == name || one.hint.find(name) != std::string_view::npos;
    }
    EXPECT_TRUE(known) << one.word;
  }
}

}  // namespace key_hints_test
}  // namespace rankwright::importer
