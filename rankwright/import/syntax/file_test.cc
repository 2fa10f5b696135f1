#include "rankwright/import/syntax/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support/finding_lines.h"

namespace rankwright::importer {
namespace file_test {

/// A temporary folder for one test.
class ReadFile : public testing::Test {
 protected:
  ReadFile() { std::filesystem::create_directories(folder_); }
  ~ReadFile() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  static std::string fault(const std::string& path) {
    const Result<std::string> text = read_file(path);
    return text ? "it is read" : format_findings(text.error());
  }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                  testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(ReadFile, ReturnsEveryByte) {
  const std::string bytes("a\r\n\0\xff", 5);
  EXPECT_EQ(read_file(write("bytes", bytes)).value(), bytes);
  EXPECT_EQ(read_file(write("empty", "")).value(), "");
}

TEST_F(ReadFile, RejectsFoldersDevicesAndMissingFiles) {
  EXPECT_EQ(fault(folder_ / "none"), "RW0910 0:0 there is no such file");
  EXPECT_EQ(fault(folder_), "RW0910 0:0 it is a folder");
  EXPECT_EQ(fault("/dev/zero"), "RW0910 0:0 it is neither a regular file nor a pipe");
  EXPECT_EQ(fault(""), "RW0910 0:0 there is no such file");
  EXPECT_EQ(read_file("/dev/zero").error().where.file, "/dev/zero");
}

TEST_F(ReadFile, ReadsUpToItsLimit) {
  const std::string path = write("large", "");
  std::filesystem::resize_file(path, kMaxFileBytes);
  EXPECT_EQ(read_file(path).value().size(), kMaxFileBytes);
  std::filesystem::resize_file(path, kMaxFileBytes + 1);
  EXPECT_EQ(fault(path), "RW0910 0:0 it has 16,777,217 bytes, and at most 16,777,216 are read");
}

TEST_F(ReadFile, ReadsAPipeUpToItsLimit) {
  const std::string path = folder_ / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const auto written = [&](std::size_t size) {
    std::thread writer([&] { std::ofstream(path, std::ios::binary) << std::string(size, 'a'); });
    Result<std::string> text = read_long_file(path, 100'000);
    writer.join();
    return text;
  };
  EXPECT_EQ(written(0).value(), "");
  EXPECT_EQ(written(100'000).value(), std::string(100'000, 'a'));
  EXPECT_EQ(format_findings(written(100'001).error()),
            "RW0910 0:0 it has more than 100,000 bytes, and no more are read");
}

TEST(RefuseFile, RefusesEveryFile) {
  EXPECT_EQ(format_findings(refuse_file("a.json").error()),
            "RW0910 0:0 this input may not name files");
}

TEST(PredictorComparison, ResolvesFromTheFolderOfTheNamingFile) {
  EXPECT_EQ(beside("plans/a.yaml", "b.json"), "plans/b.json");
  EXPECT_EQ(beside("a.yaml", "b.json"), "b.json");
  EXPECT_EQ(beside("plans/a.yaml", "/models/b.json"), "/models/b.json");
}

}  // namespace file_test
}  // namespace rankwright::importer
