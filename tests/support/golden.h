// Golden files: expected output, kept in tests/golden. To accept new output, run the test with
// RANKWRIGHT_UPDATE_GOLDEN=1 and review the diff before committing.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace rankwright::golden {

inline std::string path(const std::string& name) {
  return std::string(RANKWRIGHT_SOURCE_DIR) + "/tests/golden/" + name;
}

inline std::string read(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

inline std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  return all;
}

/// Returns the first line that differs, from both texts.
inline std::string difference(const std::string& expected, const std::string& actual) {
  const std::vector<std::string> want = lines(expected), have = lines(actual);
  std::size_t at = 0;
  while (at < want.size() && at < have.size() && want[at] == have[at]) ++at;
  const auto shown = [&](const std::vector<std::string>& all) {
    return at < all.size() ? all[at] : std::string("(the end)");
  };
  return "line " + std::to_string(at + 1) + "\n- " + shown(want) + "\n+ " + shown(have) + "\n";
}

/// Expects `actual` to equal the golden file byte for byte.
inline void expect(const std::string& name, const std::string& actual) {
  const std::string file = path(name);
  if (std::getenv("RANKWRIGHT_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file, std::ios::binary) << actual;
  }
  const std::string expected = read(file);
  EXPECT_TRUE(expected == actual)
      << "tests/golden/" << name << ", " << difference(expected, actual)
      << "If the new text is right: RANKWRIGHT_UPDATE_GOLDEN=1 ctest, and read the diff.";
}

}  // namespace rankwright::golden
