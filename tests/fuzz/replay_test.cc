// Feeds a fuzz target the files of its corpus: what once crashed it, or took too long, is tried in
// every build and not only where libFuzzer is.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/fuzz/fuzz.h"

namespace rankwright {
namespace {

TEST(Corpus, IsReadOrRefusedInTime) {
  using Clock = std::chrono::steady_clock;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(RANKWRIGHT_CORPUS)) {
    SCOPED_TRACE(entry.path().filename());
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::string input(std::istreambuf_iterator<char>(stream), {});
    const Clock::time_point start = Clock::now();
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
    ++files;
  }
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace rankwright
