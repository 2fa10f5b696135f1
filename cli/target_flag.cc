#include "cli/target_flag.h"

#include <fmt/format.h>

#include <vector>

#include "cli/call.h"

namespace rankwright::cli {
namespace {

std::vector<std::string> all_targets() {
  std::vector<std::string> all;
  for (const TargetRow& row : targets()) all.emplace_back(row.name);
  return all;
}

std::string joined_targets() { return fmt::format("{}", fmt::join(all_targets(), ", ")); }

}  // namespace

void TargetFlag::add_to(Options& options, std::string_view help) {
  options.add("--for", word_, fmt::format("{}: {}", help, joined_targets()));
}

tl::expected<Target, int> TargetFlag::read(std::string_view verb, const Io& io) const {
  if (word_.empty()) return Target::any;
  if (const TargetRow* const target = find_target(word_)) return target->target;
  return tl::unexpected<int>(print_refusal(
      verb, unknown_name({"target", word_, all_targets(), "--for takes " + joined_targets()}), io));
}

}  // namespace rankwright::cli
