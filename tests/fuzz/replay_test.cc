// Feeds every fuzz target the files of its corpus: every input that once crashed it, or took too
// long, is tried in every build and not only where libFuzzer is. The test's timeout in
// CMakeLists.txt stops an input that takes too long.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/fuzz/targets.h"

namespace rankwright {
namespace replay_test {

constexpr const char* kCorpora = RANKWRIGHT_SOURCE_DIR "/tests/fuzz/corpus";

class Corpus : public testing::TestWithParam<FuzzTarget> {};

TEST_P(Corpus, EveryFile_IsReadOrRefused) {
  int files = 0;
  const std::filesystem::path folder = std::filesystem::path(kCorpora) / GetParam().name;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().filename());
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::string input(std::istreambuf_iterator<char>(stream), {});
    GetParam().run(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
    ++files;
  }
  EXPECT_GT(files, 0);
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Corpus,
                         testing::ValuesIn(fuzz_targets().begin(), fuzz_targets().end()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(FuzzTargets, HaveACorpusEach) {
  std::size_t folders = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kCorpora))
    folders += entry.is_directory();
  EXPECT_EQ(folders, fuzz_targets().size());
}

}  // namespace replay_test
}  // namespace rankwright
