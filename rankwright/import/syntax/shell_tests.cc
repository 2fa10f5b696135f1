// The two small languages inside a shell's: arithmetic and conditions.
#include <algorithm>
#include <charconv>

#include "rankwright/import/syntax/shell_words.h"

namespace rankwright::importer {
namespace {

/// Recursive descent over whole numbers; any fault, overflow too, ends it.
class Arithmetic {
 public:
  explicit Arithmetic(std::string_view text) : text_(text) {}

  bool value(i64& out) {
    out = sum(0);
    blanks();
    return good_ && at_ == text_.size() && at_ > 0;
  }

 private:
  static constexpr int kMaxDepth = 32;

  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  bool eat(std::string_view symbol) {
    blanks();
    if (!text_.substr(at_).starts_with(symbol)) return false;
    at_ += symbol.size();
    return true;
  }

  i64 fail() {
    good_ = false;
    return 0;
  }

  i64 sum(int depth) {
    i64 left = term(depth);
    while (good_) {
      if (eat("+")) {
        if (__builtin_add_overflow(left, term(depth), &left)) return fail();
      } else if (eat("-")) {
        if (__builtin_sub_overflow(left, term(depth), &left)) return fail();
      } else {
        break;
      }
    }
    return left;
  }

  i64 term(int depth) {
    i64 left = power(depth);
    while (good_) {
      if (eat("*")) {
        if (__builtin_mul_overflow(left, power(depth), &left)) return fail();
      } else if (eat("/")) {
        const i64 right = power(depth);
        if (right == 0 || right == -1) return fail();
        left /= right;
      } else if (eat("%")) {
        const i64 right = power(depth);
        if (right == 0 || right == -1) return fail();
        left %= right;
      } else {
        break;
      }
    }
    return left;
  }

  i64 power(int depth) {
    const i64 base = single(depth);
    if (!eat("**")) return base;
    const i64 exponent = single(depth);
    if (exponent < 0 || exponent > 63) return fail();
    i64 result = 1;
    for (i64 i = 0; i < exponent; ++i)
      if (__builtin_mul_overflow(result, base, &result)) return fail();
    return result;
  }

  i64 single(int depth) {
    if (depth > kMaxDepth) return fail();
    if (eat("-")) return -single(depth + 1);  // of a number below 2^63
    if (eat("(")) {
      const i64 inner = sum(depth + 1);
      return eat(")") ? inner : fail();
    }
    blanks();
    i64 n = 0;
    const char* const begin = text_.data() + at_;
    const std::from_chars_result read = std::from_chars(begin, text_.data() + text_.size(), n);
    if (read.ec != std::errc{} || read.ptr == begin || *begin == '-') return fail();
    at_ += std::size_t(read.ptr - begin);
    return n;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool good_ = true;
};

Truth negated(Truth truth) {
  if (truth == Truth::unknown) return truth;
  return truth == Truth::yes ? Truth::no : Truth::yes;
}

Truth truth(bool known) { return known ? Truth::yes : Truth::no; }

Truth compared(const std::string& left, std::string_view op, const std::string& right) {
  if (op == "=" || op == "==" || op == "!=") {
    // A pattern is no word.
    if (right.find_first_of("*?[") != std::string::npos) return Truth::unknown;
    return truth((left == right) == (op != "!="));
  }
  constexpr std::string_view kNumeric[] = {"-eq", "-ne", "-gt", "-ge", "-lt", "-le"};
  const auto found = std::find(std::begin(kNumeric), std::end(kNumeric), op);
  i64 a = 0, b = 0;
  if (found == std::end(kNumeric) || !shell_arithmetic(left, a) || !shell_arithmetic(right, b))
    return Truth::unknown;
  const bool results[] = {a == b, a != b, a > b, a >= b, a < b, a <= b};
  return truth(results[found - std::begin(kNumeric)]);
}

}  // namespace

bool shell_arithmetic(std::string_view expression, i64& value) {
  return Arithmetic(expression).value(value);
}

Truth shell_test(const std::vector<ShellWord>& words) {
  std::size_t nots = 0;
  while (nots + 1 < words.size() && words[nots].text == "!" && words[nots].unknown.empty()) ++nots;
  if (nots > 0) {
    const Truth inner = shell_test({words.begin() + std::ptrdiff_t(nots), words.end()});
    return nots % 2 == 1 ? negated(inner) : inner;
  }
  if (std::any_of(words.begin(), words.end(),
                  [](const ShellWord& word) { return !word.unknown.empty(); }))
    return Truth::unknown;
  if (words.empty()) return Truth::no;
  if (words.size() == 1) return truth(!words[0].text.empty());
  if (words.size() == 2 && words[0].text == "-z") return truth(words[1].text.empty());
  if (words.size() == 2 && words[0].text == "-n") return truth(!words[1].text.empty());
  if (words.size() == 3) return compared(words[0].text, words[1].text, words[2].text);
  return Truth::unknown;
}

}  // namespace rankwright::importer
