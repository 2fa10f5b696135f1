#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "tests/support/golden.h"
#include "tests/support/run_command.h"
#include "tests/support/transcript.h"

namespace rankwright::cli {
namespace import_model_test {

/// A temporary model folder in Hugging Face's layout.
class Folder {
 public:
  explicit Folder(const std::string& index)
      : scratch_("hf-" +
                 std::string(::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directory(scratch_.path());
    std::filesystem::copy_file(
        std::string(RANKWRIGHT_SOURCE_DIR) + "/tests/data/hf/llama-3.1-8b.json", config());
    if (!index.empty()) std::ofstream(path() + "/model.safetensors.index.json") << index;
  }
  std::string path() const { return scratch_.path(); }
  std::string config() const { return path() + "/config.json"; }

 private:
  Scratch scratch_;
};

// 8,030,261,248 parameters in bf16 are 16,060,522,496 bytes.
TEST(ImportModel, MatchingIndex_IsAccepted) {
  const Folder folder("{\"metadata\": {\"total_size\": 16060522496}, \"weight_map\": {}}");
  const CommandResult said = run_command({"import", folder.config()});
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(said.err, "");
  // Paths depend on the machine, and long ones are shortened.
  const std::regex path("[^ \n]*/[^ \n]*");
  golden::expect("cli/import-model.yaml", std::regex_replace(said.out, path, "PATH"));
}

TEST(ImportModel, DifferentIndexSize_IsReported) {
  const Folder folder("{\"metadata\": {\"total_size\": 32121044992}, \"weight_map\": {}}");
  const std::vector<std::string> args{"import", folder.path() + "/model.safetensors.index.json"};
  const CommandResult said = run_command(args);
  EXPECT_EQ(said.code, 0);
  // The index has twice the 16,060,522,496 bytes of the parameters: +100 %.
  Transcript transcript;
  transcript.rename(folder.path(), "hf");
  transcript.add_output(args, said.err);
  transcript.expect("cli/import-model-size.txt");
}

TEST(ImportModel, IndexWithoutSize_IsRefused) {
  for (const char* index : {"{}", "{\"metadata\": {}}", "[", "{\"metadata\": {\"total_size\": -1}}",
                            "{\"weight_map\": {\"total_size\": 5}}"}) {
    const Folder folder(index);
    EXPECT_EQ(run_command({"import", folder.config()}).code, 1) << index;
  }
}

TEST(ImportModel, ModelFolder_IsAccepted) {
  const Folder folder("");
  const CommandResult said = run_command({"plan", "--model", folder.path(), "--cluster", "dgx-h100",
                                          "--global-batch", "64", "--seq", "2048"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(run_command({"plan", "--model", "no-such-folder", "--cluster", "dgx-h100"}).code, 1);
}

TEST(ImportModel, WrittenFile_IsReadByCheck) {
  const Folder folder("");
  const Scratch plan("model.yaml");
  ASSERT_EQ(run_command({"import", folder.config(), "-o", plan.path()}).code, 0);
  EXPECT_EQ(run_command({"check", plan.path()}).code % 2, 0);  // readable: 0 or 2
}

}  // namespace import_model_test
}  // namespace rankwright::cli
