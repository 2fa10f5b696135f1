#include "cli/target_flag.h"

#include <fmt/format.h>

#include <vector>

namespace rankwright::cli {
namespace {

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const TargetRow& row : targets()) all.emplace_back(row.name);
  return all;
}

std::string joined_names() { return fmt::format("{}", fmt::join(names(), ", ")); }

}  // namespace

void TargetFlag::add_to(Options& options, std::string_view help) {
  options.app().add_option("--for", word_, fmt::format("{}: {}", help, joined_names()));
}

tl::expected<Target, int> TargetFlag::read(std::string_view verb, const Io& io) const {
  if (word_.empty()) return Target::any;
  if (const TargetRow* const target = find_target(word_)) return target->target;
  return tl::unexpected<int>(
      unknown_name({verb, "target", word_, names(), "--for takes " + joined_names()}, io));
}

}  // namespace rankwright::cli
