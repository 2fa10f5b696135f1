// Evaluates the two small languages inside a shell script: arithmetic and conditions.
#include <algorithm>
#include <charconv>

#include "rankwright/import/syntax/shell_parameters.h"
#include "rankwright/import/syntax/shell_words.h"

namespace rankwright::importer {
namespace {

/// Recursive descent over whole numbers; stops at the first fault, including overflow. Both sides
/// of a choice are evaluated.
class Arithmetic {
 public:
  explicit Arithmetic(std::string_view text) : text_(text) {}

  bool value(i64& out) {
    out = choice(0);
    skip_blanks();
    return good_ && at_ == text_.size() && at_ > 0;
  }

 private:
  static constexpr int kMaxDepth = 32;

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  bool consume(std::string_view symbol) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(symbol)) return false;
    at_ += symbol.size();
    return true;
  }

  i64 fail() {
    good_ = false;
    return 0;
  }

  i64 choice(int depth) {
    const i64 condition = any(depth);
    if (!good_ || !consume("?")) return condition;
    const i64 yes = choice(depth + 1);
    if (!consume(":")) return fail();
    const i64 no = choice(depth + 1);
    return condition != 0 ? yes : no;
  }

  i64 any(int depth) {
    i64 left = all(depth);
    while (good_ && consume("||")) {
      const i64 right = all(depth);
      left = left != 0 || right != 0 ? 1 : 0;
    }
    return left;
  }

  i64 all(int depth) {
    i64 left = comparison(depth);
    while (good_ && consume("&&")) {
      const i64 right = comparison(depth);
      left = left != 0 && right != 0 ? 1 : 0;
    }
    return left;
  }

  i64 comparison(int depth) {
    constexpr std::string_view kSymbols[] = {"==", "!=", "<=", ">=", "<", ">"};
    const i64 left = sum(depth);
    for (std::size_t i = 0; good_ && i < std::size(kSymbols); ++i) {
      if (!consume(kSymbols[i])) continue;
      const i64 right = sum(depth);
      const bool results[] = {left == right, left != right, left <= right, left >= right,
                              left<right, left> right};
      return results[i] ? 1 : 0;
    }
    return left;
  }

  i64 sum(int depth) {
    i64 left = term(depth);
    while (good_) {
      if (consume("+")) {
        if (__builtin_add_overflow(left, term(depth), &left)) return fail();
      } else if (consume("-")) {
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
      if (consume("*")) {
        if (__builtin_mul_overflow(left, power(depth), &left)) return fail();
      } else if (consume("/")) {
        const i64 right = power(depth);
        if (right == 0 || right == -1) return fail();
        left /= right;
      } else if (consume("%")) {
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
    if (!consume("**")) return base;
    const i64 exponent = single(depth);
    if (exponent < 0 || exponent > 63) return fail();
    i64 result = 1;
    for (i64 i = 0; i < exponent; ++i)
      if (__builtin_mul_overflow(result, base, &result)) return fail();
    return result;
  }

  i64 single(int depth) {
    if (depth > kMaxDepth) return fail();
    if (consume("-")) return -single(depth + 1);  // cannot overflow: the operand is below 2^63
    if (consume("!")) return single(depth + 1) == 0 ? 1 : 0;
    if (consume("(")) {
      const i64 inner = choice(depth + 1);
      return consume(")") ? inner : fail();
    }
    skip_blanks();
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

Truth negate(Truth truth) {
  if (truth == Truth::unknown) return truth;
  return truth == Truth::yes ? Truth::no : Truth::yes;
}

Truth to_truth(bool known) { return known ? Truth::yes : Truth::no; }

Truth compare(const std::string& left, std::string_view op, const std::string& right) {
  if (op == "=" || op == "==" || op == "!=") {
    if (right.find('[') != std::string::npos) return Truth::unknown;
    return to_truth(shell::matches_pattern(right, left) == (op != "!="));
  }
  if (op == "<" || op == ">") return to_truth(op == "<" ? left < right : left > right);
  if (op == "=~" && std::all_of(right.begin(), right.end(), shell::is_name))
    return to_truth(left.find(right) != std::string::npos);
  constexpr std::string_view kNumeric[] = {"-eq", "-ne", "-gt", "-ge", "-lt", "-le"};
  const auto found = std::find(std::begin(kNumeric), std::end(kNumeric), op);
  i64 a = 0, b = 0;
  if (found == std::end(kNumeric) || !evaluate_arithmetic(left, a) ||
      !evaluate_arithmetic(right, b))
    return Truth::unknown;
  const bool results[] = {a == b, a != b, a > b, a >= b, a < b, a <= b};
  return to_truth(results[found - std::begin(kNumeric)]);
}

}  // namespace

bool evaluate_arithmetic(std::string_view expression, i64& value) {
  return Arithmetic(expression).value(value);
}

Truth evaluate_test(const std::vector<ShellWord>& words) {
  std::size_t nots = 0;
  while (nots + 1 < words.size() && words[nots].text == "!" && words[nots].unknown.empty()) ++nots;
  if (nots > 0) {
    const Truth inner = evaluate_test({words.begin() + std::ptrdiff_t(nots), words.end()});
    return nots % 2 == 1 ? negate(inner) : inner;
  }
  if (std::any_of(words.begin(), words.end(),
                  [](const ShellWord& word) { return !word.unknown.empty(); }))
    return Truth::unknown;
  if (words.empty()) return Truth::no;
  if (words.size() == 1) return to_truth(!words[0].text.empty());
  if (words.size() == 2 && words[0].text == "-z") return to_truth(words[1].text.empty());
  if (words.size() == 2 && words[0].text == "-n") return to_truth(!words[1].text.empty());
  if (words.size() == 2 && (words[0].text == "=" || words[0].text == "=="))
    return compare("", words[0].text, words[1].text);  // the left side was an empty variable
  if (words.size() == 3) return compare(words[0].text, words[1].text, words[2].text);
  return Truth::unknown;
}

}  // namespace rankwright::importer
