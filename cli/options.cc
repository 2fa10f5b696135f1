#include "cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <ostream>

#include "cli/option_rows.h"
#include "rankwright/base/format.h"
#include "rankwright/base/suggest.h"

namespace rankwright::cli {

Options::Options(const Verb& verb)
    : app_(fmt::format("Example: {}\n\n{}", verb.example, verb.summary),
           fmt::format("rankwright {}", verb.name)),
      name_(verb.name) {
  app_.add_flag("--json", json_, "write JSON with a versioned schema");
  app_.add_option("-o,--output", output_, "write to this file")->type_name("FILE");
  app_.add_flag("--no-color", no_color_, "no colour, even on a terminal (so does NO_COLOR)");
  app_.add_flag("--quiet", quiet_, "write nothing but what was asked for");
}

std::optional<int> Options::parse(Args args, const Io& io) {
  if (io.tells != nullptr) {
    *io.tells = option_rows(app_);
    return kOk;
  }
  std::vector<std::string> reversed(args.rbegin(), args.rend());  // CLI11 takes them from the back
  try {
    app_.parse(reversed);
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    io.out << app_.help();
    return kOk;
  } catch (const CLI::ExtrasError&) {
    return unexpected(io);
  } catch (const CLI::ParseError& error) {
    io.err << fmt::format("rankwright {}: {}\n  help: rankwright help {}\n", name_, error.what(),
                          name_);
    return kUsage;
  }
}

int Options::unexpected(const Io& io) const {
  const std::vector<std::string> extras = app_.remaining();
  const std::string word = extras.empty() ? "" : extras.front();
  std::vector<std::string> flags;
  for (const CLI::Option* option : app_.get_options())
    for (const std::string& flag : option->get_lnames()) flags.push_back("--" + flag);
  const bool flag = word.starts_with('-');
  const std::optional<std::string> near = flag ? nearest(word, flags) : std::nullopt;
  io.err << fmt::format(
      "rankwright {}: {} '{}'\n  help: {}\n", name_,
      flag ? "there is no flag" : "one thing too many:", excerpt(word),
      near ? fmt::format("did you mean {}?", *near) : fmt::format("rankwright help {}", name_));
  return kUsage;
}

int Options::about_a_plan(std::string_view flags, const Io& io) const {
  io.err << fmt::format(
      "rankwright {}: {} are about a plan, and this is a schedule\n  help: leave them out\n", name_,
      flags);
  return kUsage;
}

int Options::write(const std::string& text, const Io& io) const {
  return output_.empty() ? print(text, io) : save(text, output_, io);
}

int Options::print(const std::string& text, const Io& io) const {
  io.out << text << std::flush;
  if (io.out) return kOk;
  io.err << fmt::format("rankwright {}: cannot write to standard output\n", name_);
  return kUnreadable;
}

int Options::save(const std::string& text, const std::string& path, const Io& io) const {
  if (path == "-") return print(text, io);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return kOk;
  io.err << fmt::format("rankwright {}: cannot write {}\n", name_, path);
  return kUnreadable;
}

int unknown_name(const UnknownName& name, const Io& io) {
  const std::optional<std::string> near = nearest(name.word, name.known);
  io.err << fmt::format("rankwright {}: there is no {} '{}'\n  help: {}\n", name.verb, name.what,
                        excerpt(name.word),
                        near ? fmt::format("did you mean {}?", *near) : name.otherwise);
  return kUsage;
}

}  // namespace rankwright::cli
