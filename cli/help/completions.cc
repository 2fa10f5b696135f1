// `rankwright completions`: prints a completion script, for users without the package that installs
// it.
#include "cli/help/completions.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/io/print_refusal.h"
#include "cli/options.h"
#include "cli/verb.h"

namespace rankwright::cli {

extern const std::string_view kRankwrightBash, kRankwrightZsh, kRankwrightFish;  // cli/shells

namespace {

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const ShellScript& one : list_shell_scripts()) all.emplace_back(one.shell);
  return all;
}

std::string json(const ShellScript& script) {
  const nlohmann::ordered_json out{
      {"schema", "rankwright.completions/1"}, {"shell", script.shell}, {"script", script.text}};
  return out.dump(2) + "\n";
}

}  // namespace

std::span<const ShellScript> list_shell_scripts() {
  static const ShellScript kScripts[] = {
      {"bash", kRankwrightBash}, {"zsh", kRankwrightZsh}, {"fish", kRankwrightFish}};
  return kScripts;
}

int completions(Args args, const Io& io) {
  Options options(verb("completions"));
  options.keep_lines();
  std::string shell;
  const std::string known = fmt::format("{}", fmt::join(names(), ", "));
  options.add("shell", shell, known).required();
  if (const std::optional<int> done = options.parse(args, io)) return *done;
  const std::span<const ShellScript> all = list_shell_scripts();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const ShellScript& one) { return one.shell == shell; });
  if (found == all.end())
    return print_refusal("completions",
                         planner::unknown_name({"shell", shell, names(), "one of " + known}), io);
  return options.write(options.json() ? json(*found) : std::string(found->text), io);
}

}  // namespace rankwright::cli
