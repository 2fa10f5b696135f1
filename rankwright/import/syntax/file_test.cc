#include "rankwright/import/syntax/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support/finding_lines.h"
#include "tests/support/golden.h"
#include "tests/support/input_lines.h"

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

  /// Reads at most 100,000 bytes from a pipe that has `size` of them.
  Result<std::string> read_pipe(std::size_t size) {
    const std::string path = folder_ / "pipe";
    if (!std::filesystem::exists(path)) {
      EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
    }
    std::thread writer([&] { std::ofstream(path, std::ios::binary) << std::string(size, 'a'); });
    Result<std::string> text = read_long_file(path, 100'000);
    writer.join();
    return text;
  }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                  testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(ReadFile, ReturnsEveryByte) {
  const std::string bytes("a\r\n\0\xff", 5);
  EXPECT_EQ(read_file(write("bytes", bytes)).value(), bytes);
  EXPECT_EQ(read_file(write("empty", "")).value(), "");
}

TEST_F(ReadFile, RejectsFoldersDevicesMissingAndLargeFiles) {
  const std::string large = write("large", "");
  std::filesystem::resize_file(large, kMaxFileBytes + 1);
  golden::expect(
      "import/file-faults.txt",
      format_case("a missing file", fault(folder_ / "none")) +
          format_case("an empty name", fault("")) + format_case("a folder", fault(folder_)) +
          format_case("/dev/zero", fault("/dev/zero")) +
          format_case("a file of 16 MiB and one byte", fault(large)) +
          format_case("a pipe of 100,001 bytes", format_findings(read_pipe(100'001).error())) +
          format_case("a name in an input without files",
                      format_findings(refuse_file("a.json").error())));
  EXPECT_EQ(read_file("/dev/zero").error().where.file, "/dev/zero");
}

TEST_F(ReadFile, ReadsUpToItsLimit) {
  const std::string path = write("large", "");
  std::filesystem::resize_file(path, kMaxFileBytes);
  EXPECT_EQ(read_file(path).value().size(), kMaxFileBytes);
  std::filesystem::resize_file(path, kMaxFileBytes + 1);
  EXPECT_EQ(read_file(path).error().code, "RW0910");
}

TEST_F(ReadFile, ReadsAPipeUpToItsLimit) {
  EXPECT_EQ(read_pipe(0).value(), "");
  EXPECT_EQ(read_pipe(100'000).value(), std::string(100'000, 'a'));
  EXPECT_EQ(read_pipe(100'001).error().code, "RW0910");
}

TEST(RefuseFile, RefusesEveryFile) { EXPECT_EQ(refuse_file("a.json").error().code, "RW0910"); }

TEST(PredictorComparison, ResolvesFromTheFolderOfTheNamingFile) {
  EXPECT_EQ(beside("plans/a.yaml", "b.json"), "plans/b.json");
  EXPECT_EQ(beside("a.yaml", "b.json"), "b.json");
  EXPECT_EQ(beside("plans/a.yaml", "/models/b.json"), "/models/b.json");
}

// A script that ran on another machine names files by where its repository was there.
TEST(ReadNamedFile, EndOfAnAbsoluteName_IsFoundInTheRepository) {
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    if (path != "agent/run/../../scripts/models/m.sh" && path != "agent/run/m.sh")
      return refuse_file(path);
    return path;
  };
  EXPECT_EQ(read_named_file(files, "agent/run/a.sh", "/root/repo/scripts/models/m.sh").value(),
            "agent/run/../../scripts/models/m.sh");
  EXPECT_FALSE(read_named_file(files, "agent/run/a.sh", "/root/m.sh"));  // could be any file
}

}  // namespace file_test
}  // namespace rankwright::importer
