#include "cli/io/output_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "tests/support/golden.h"
#include "tests/support/run_command.h"
#include "tests/support/transcript.h"

namespace rankwright::cli {
namespace output_file_test {

namespace fs = std::filesystem;

/// A temporary folder with one file.
class OutputFile : public testing::Test {
 protected:
  OutputFile() {
    fs::create_directories(folder_.path());
    EXPECT_FALSE(write_file(file_, "before\n"));
  }

  std::size_t files() const {
    return std::size_t(std::distance(fs::directory_iterator(folder_.path()), {}));
  }

  Scratch folder_{"output-file-test"};
  std::string file_ = folder_.path() + "/plan.yaml";
};

/// Limits the file size, to simulate a full disk.
class Full {
 public:
  explicit Full(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit less{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &less);
  }
  ~Full() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  Full(const Full&) = delete;
  Full& operator=(const Full&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(OutputFile, WriteFails_LeavesTheOldContent) {
  std::optional<OutputFault> fault;
  {
    const Full disk(1000);
    fault = write_file(file_, std::string(100'000, 'a'));
  }
  ASSERT_TRUE(fault);
  golden::expect("cli/full-disk.txt", replace_all(fault->what, folder_.path(), "folder") + "\n");
  EXPECT_EQ(golden::read(file_), "before\n");
  EXPECT_EQ(files(), 1u);  // no temporary file is left
}

TEST_F(OutputFile, PlantedLink_IsNotFollowed) {
  const std::string victim = folder_.path() + "/victim";
  ASSERT_FALSE(write_file(victim, "mine\n"));
  for (const std::string& name :
       {file_ + ".part", file_ + "." + std::to_string(getpid()) + ".part"})
    fs::create_symlink(victim, name);
  EXPECT_FALSE(write_file(file_, "after\n"));
  EXPECT_EQ(golden::read(file_), "after\n");
  EXPECT_EQ(golden::read(victim), "mine\n");
  EXPECT_FALSE(fs::is_symlink(file_));
}

TEST_F(OutputFile, NewFile_HasThePermissionsOfAnyNewFile) {
  const mode_t before = umask(0027);
  const std::string made = folder_.path() + "/new.yaml";
  EXPECT_FALSE(write_file(made, "a\n"));
  umask(before);
  EXPECT_EQ(fs::status(made).permissions(), fs::perms(0640));
}

TEST_F(OutputFile, ExistingFile_IsReplaced) {
  fs::permissions(file_, fs::perms::owner_read | fs::perms::owner_write);
  const std::string link = folder_.path() + "/link.yaml";
  fs::create_symlink("plan.yaml", link);
  EXPECT_FALSE(write_file(link, "after\n"));
  EXPECT_EQ(golden::read(file_), "after\n");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(fs::status(file_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(files(), 2u);
}

TEST_F(OutputFile, UnwritablePath_ReturnsTheReason) {
  Transcript transcript;
  transcript.rename(folder_.path(), "folder");
  for (const std::string& path : {folder_.path(), folder_.path() + "/a b/x", file_ + "/x"}) {
    const std::optional<OutputFault> fault = check_output_path(path);
    ASSERT_TRUE(fault) << path;
    transcript.add(path + ":", fault->what + "\n  help: " + fault->help + "\n");
  }
  transcript.expect("cli/unwritable-path.txt");
  for (const std::string& fine : {std::string("-"), file_, folder_.path() + "/new"})
    EXPECT_FALSE(check_output_path(fine)) << fine;
}

TEST_F(OutputFile, SameFile_SeesThroughLinksAndDots) {
  const std::string link = folder_.path() + "/link.yaml";
  fs::create_symlink("plan.yaml", link);
  EXPECT_TRUE(same_file(file_, folder_.path() + "/./plan.yaml"));
  EXPECT_TRUE(same_file(file_, link));
  EXPECT_TRUE(same_file(folder_.path() + "/new", folder_.path() + "/./new"));
  EXPECT_FALSE(same_file(file_, folder_.path() + "/new"));
  EXPECT_FALSE(same_file("/dev/null", "/dev/null"));  // not a regular file
  EXPECT_FALSE(same_file("-", "-"));
}

}  // namespace output_file_test
}  // namespace rankwright::cli
