#include "cli/target_flag.h"

#include <fmt/format.h>

#include <vector>

#include "cli/io/print_refusal.h"
#include "rankwright/planner/input/plan_input.h"

namespace rankwright::cli {
namespace {

std::string join_targets() {
  std::vector<std::string_view> all{"any"};
  for (const rules::TargetRow& row : rules::targets()) all.push_back(row.name);
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace

void TargetFlag::add_to(Options& options, std::string_view help) {
  options.add("--for", word_, fmt::format("{}: {}", help, join_targets()));
}

tl::expected<std::optional<rules::Target>, int> TargetFlag::read(std::string_view verb,
                                                                 const Io& io) const {
  const planner::Outcome<std::optional<rules::Target>> target = planner::read_target(word_);
  if (!target) return tl::unexpected<int>(print_refusal(verb, target.error(), io));
  return *target;
}

}  // namespace rankwright::cli
