#include "rankwright/base/suggest.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rankwright {
namespace suggest_test {

TEST(EditDistance, CountsEdits) {
  EXPECT_EQ(compute_edit_distance("", ""), 0);
  EXPECT_EQ(compute_edit_distance("", "abc"), 3);
  EXPECT_EQ(compute_edit_distance("tp_size", "tp_size"), 0);
  EXPECT_EQ(compute_edit_distance("tp_siz", "tp_size"), 1);    // inserted
  EXPECT_EQ(compute_edit_distance("tp_sizee", "tp_size"), 1);  // deleted
  EXPECT_EQ(compute_edit_distance("tq_size", "tp_size"), 1);   // replaced
  EXPECT_EQ(compute_edit_distance("pt_size", "tp_size"), 1);   // swapped
  EXPECT_EQ(compute_edit_distance("kitten", "sitting"), 3);
}

TEST(EditDistance, LongWords_ComparesOnlyTheBeginning) {
  EXPECT_EQ(compute_edit_distance(std::string(1'000'000, 'a'), std::string(1'000'000, 'b')), 64);
}

RC_GTEST_PROP(EditDistance, IsSymmetricAndBoundedByTheLengths, ()) {
  const auto word =
      rc::gen::resize(12, rc::gen::container<std::string>(rc::gen::inRange('a', 'd')));
  const std::string a = *word, b = *word;
  const int distance = compute_edit_distance(a, b);
  RC_ASSERT(distance == compute_edit_distance(b, a));
  RC_ASSERT((distance == 0) == (a == b));
  RC_ASSERT(distance <= int(std::max(a.size(), b.size())));
  RC_ASSERT(distance >= std::abs(int(a.size()) - int(b.size())));
}

RC_GTEST_PROP(EditDistance, OneEdit_IsAtMostOne, ()) {
  const std::string word = *rc::gen::nonEmpty(
      rc::gen::resize(12, rc::gen::container<std::string>(rc::gen::inRange('a', 'z'))));
  const std::size_t at = *rc::gen::inRange<std::size_t>(0, word.size());
  std::string shorter = word, longer = word, other = word, swapped = word;
  shorter.erase(at, 1);
  longer.insert(at, "-");
  other[at] = '-';
  std::swap(swapped[at], swapped[at / 2 * 2 == at && at + 1 < word.size() ? at + 1 : at]);
  RC_ASSERT(compute_edit_distance(word, shorter) == 1);
  RC_ASSERT(compute_edit_distance(word, longer) == 1);
  RC_ASSERT(compute_edit_distance(word, other) == 1);
  RC_ASSERT(compute_edit_distance(word, swapped) <= 1);
}

const std::vector<std::string> kKeys{"tp_size", "pp_size", "dp_size", "zero_stage", "order"};

TEST(Nearest, Typo_FindsTheKnownWord) {
  EXPECT_EQ(nearest("zero_stagee", kKeys), "zero_stage");
  EXPECT_EQ(nearest("oredr", kKeys), "order");
  EXPECT_EQ(nearest("ZERO_STAGE", kKeys), "zero_stage");
}

TEST(Nearest, Tie_TakesTheFirst) {
  EXPECT_EQ(nearest("xp_size", kKeys), "tp_size");
  EXPECT_EQ(nearest("dp_sizes", kKeys), "dp_size");  // nearer than tp_size
}

TEST(Nearest, DistantWord_IsNothing) {
  EXPECT_EQ(nearest("learning_rate", kKeys), std::nullopt);
  EXPECT_EQ(nearest("ordinal", kKeys), std::nullopt);  // 4 changes of 7 letters
  EXPECT_EQ(nearest("", {"a", "tp"}), std::nullopt);
  EXPECT_EQ(nearest("x", {"a"}), std::nullopt);  // no letter in common
  EXPECT_EQ(nearest("t", {"tp"}), "tp");
  EXPECT_EQ(nearest("tp", {}), std::nullopt);
}

TEST(NearestFlag, LongerName_FindsTheFlagItBeginsWith) {
  const std::vector<std::string> flags{"--lo", "--lora", "--lora-modules", "--tp"};
  EXPECT_EQ(nearest_flag("--tp-size", flags), "--tp");
  EXPECT_EQ(nearest_flag("--lora-rank", flags), "--lora");  // the longest
  EXPECT_EQ(nearest_flag("--lora_alpha_value", flags), "--lora");
  EXPECT_EQ(nearest_flag("--tpu-topology-name", flags), std::nullopt);  // another word
  EXPECT_EQ(nearest_flag("--tpp", flags), "--tp");                      // a typo
  EXPECT_EQ(nearest("--lora-rank", flags), std::nullopt);  // names in files are not flags
}

TEST(Nearest, AllowsAThirdOfTheLetters) {
  EXPECT_EQ(nearest("abcxyf", {"abcdef"}), "abcdef");      // 2 of 6
  EXPECT_EQ(nearest("abxyzf", {"abcdef"}), std::nullopt);  // 3 of 6
}

}  // namespace suggest_test
}  // namespace rankwright
