#include "rankwright/rules/finding_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/rules/rule.h"

namespace rankwright::rules {
namespace {

bool begins_with_any(std::string_view code, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& prefix) { return code.starts_with(prefix); });
}

bool is_known(std::string_view prefix) {
  const std::vector<const Page*> all = pages();
  return std::any_of(all.begin(), all.end(),
                     [&](const Page* page) { return page->code.starts_with(prefix); });
}

}  // namespace

bool FindingFilter::keeps(std::string_view code) const {
  return (select.empty() || begins_with_any(code, select)) && !begins_with_any(code, ignore);
}

void FindingFilter::apply(Diagnostics& findings) const {
  std::erase_if(findings, [&](const Diagnostic& d) { return !keeps(d.code); });
}

Result<std::vector<std::string>> parse_code_prefixes(const std::vector<std::string>& lists) {
  std::vector<std::string> prefixes;
  for (const std::string& list : lists)
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      std::string word = list.substr(begin, end - begin);
      begin = end + 1;
      std::transform(word.begin(), word.end(), word.begin(),
                     [](char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; });
      if (word.empty() || !is_known(word))
        return fail({.code = "RW0907",
                     .message = "unknown code",
                     .detail = fmt::format("no code begins with '{}'", make_excerpt(word)),
                     .hint = "such as RW0102, or RW05 for all codes that begin with it; rankwright "
                             "catalog codes lists them"});
      prefixes.push_back(std::move(word));
    }
  return prefixes;
}

}  // namespace rankwright::rules
