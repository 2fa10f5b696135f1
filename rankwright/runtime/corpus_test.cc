// A Corpus refuses files that are not lists of tokens, and reads only the requested window of a
// large one.
#include "rankwright/runtime/corpus.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/golden.h"

namespace rankwright::runtime {
namespace corpus_test {

using Words = std::vector<std::int64_t>;

constexpr std::uint64_t kSeed = 1;

/// A temporary folder per test, removed at its end.
class CorpusFile : public ::testing::Test {
 protected:
  CorpusFile() {
    std::string name = (std::filesystem::temp_directory_path() / "corpus-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = folder_ / "tokens.bin";
  }
  ~CorpusFile() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  Result<Corpus> open(i64 vocabulary, i64 sequence) const {
    return Corpus::open(path_.string(), vocabulary, sequence, kSeed);
  }
  /// Returns why the file is refused; empty if it is accepted.
  std::string fault(i64 vocabulary, i64 sequence) const {
    const Result<Corpus> opened = open(vocabulary, sequence);
    return opened ? "" : opened.error().detail;
  }

  std::filesystem::path folder_{}, path_{};
};

TEST_F(CorpusFile, ByteTokens_SequenceIsAWindowOfTheFile) {
  write("abcdefgh");
  const Result<Corpus> corpus = open(256, 3);
  ASSERT_TRUE(corpus.has_value());
  for (i64 step = 0; step < 20; ++step) {
    const Result<Words> words = corpus->sequence(step, 0, 3);
    ASSERT_TRUE(words.has_value());
    ASSERT_EQ(words->size(), 4u);
    EXPECT_GE(words->front(), 'a');
    EXPECT_LE(words->back(), 'h');
    for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ((*words)[i], (*words)[i - 1] + 1);
  }
}

TEST_F(CorpusFile, TwoByteTokens_AreLittleEndian) {
  write(std::string("\x01\x02\x03\x00", 4));  // 0x0201 = 513, 3
  const Result<Corpus> corpus = open(1000, 1);
  ASSERT_TRUE(corpus.has_value());
  EXPECT_EQ(*corpus->sequence(0, 0, 1), (Words{513, 3}));
}

TEST_F(CorpusFile, NotARegularFile_IsRefusedWithItsKind) {
  std::string faults = "missing: " + fault(256, 4) + "\n";
  std::filesystem::create_directory(path_);
  faults += "a folder: " + fault(256, 4) + "\n";
  std::filesystem::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);  // without a writer; open() must not block
  faults += "a pipe: " + fault(256, 4) + "\n";
  std::filesystem::remove(path_);
  std::filesystem::create_symlink("/dev/zero", path_);
  faults += "/dev/zero: " + fault(256, 4) + "\n";
  golden::expect("runtime/corpus-not-a-file.txt", faults);
}

TEST_F(CorpusFile, TooShortOrCutToken_IsRefusedWithNumbers) {
  write("abcd");  // 4 tokens; a sequence of 4 also needs a target
  std::string faults = fault(256, 4) + "\n";
  EXPECT_EQ(fault(256, 3), "");
  faults += fault(1000, 2) + "\n";  // 2 tokens of 2 bytes
  write("abcde");
  faults += fault(1000, 1) + "\n";  // 5 bytes are not a multiple of 2
  golden::expect("runtime/corpus-too-short.txt", faults);
}

TEST_F(CorpusFile, TokenOutsideTheVocabulary_IsNamedWithItsByte) {
  write(std::string("\x01\x00\xe8\x03", 4));  // 1, 0x03e8 = 1000
  const Result<Corpus> corpus = open(1000, 1);
  ASSERT_TRUE(corpus.has_value());
  const Result<Words> words = corpus->sequence(0, 0, 1);
  ASSERT_FALSE(words.has_value());
  golden::expect("runtime/corpus-token-out-of-range.txt", words.error().detail + "\n");
}

TEST_F(CorpusFile, CutWhileItIsRead_IsAnError) {
  write("abcdefgh");
  const Result<Corpus> corpus = open(256, 7);
  ASSERT_TRUE(corpus.has_value());
  ASSERT_TRUE(corpus->sequence(0, 0, 7).has_value());
  std::filesystem::resize_file(path_, 5);
  const Result<Words> words = corpus->sequence(0, 0, 7);
  ASSERT_FALSE(words.has_value());
  golden::expect("runtime/corpus-cut.txt", words.error().detail + "\n");  // byte 5 of 8
}

TEST_F(CorpusFile, LargeFile_OnlyTheWindowIsRead) {
  // Sparse: no blocks on disk, but more zeros than fit in memory.
  constexpr i64 kTebibyte = i64{1} << 40;
  write("");
  std::error_code failed;
  std::filesystem::resize_file(path_, kTebibyte, failed);
  if (failed) GTEST_SKIP() << "no sparse files here: " << failed.message();
  const Result<Corpus> corpus = open(256, 4);
  ASSERT_TRUE(corpus.has_value());
  EXPECT_EQ(*corpus->sequence(3, 5, 4), (Words{0, 0, 0, 0, 0}));
}

}  // namespace corpus_test
}  // namespace rankwright::runtime
