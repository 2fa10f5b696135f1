#include "cli/lab/quiz.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <istream>
#include <ostream>
#include <random>
#include <sstream>

#include "cli/io/interrupt.h"
#include "cli/io/output_file.h"
#include "cli/io/print_refusal.h"
#include "cli/options.h"
#include "cli/plan_input.h"
#include "rankwright/base/format.h"
#include "rankwright/import/syntax/file.h"
#include "rankwright/lab/quiz/cases.h"
#include "rankwright/lab/quiz/progress.h"
#include "rankwright/report/render/table.h"

namespace rankwright::cli {
namespace lab_quiz_impl {
namespace {

constexpr Verb kVerb{"lab --quiz",
                     "Ask flash cards and cases, and repeat cards until they are known.",
                     "rankwright lab --quiz --count 5", lab_quiz};

constexpr i64 kDefaultCount = 10, kMaxQuestions = 1000;

struct QuizFlags {
  bool quiz = false, cards = false, cases = false;
  std::optional<i64> count{}, seed{};
  std::string answers{}, progress{}, date{}, print{};
};

void add_flags(Options& options, QuizFlags& flags) {
  options.add_switch("--quiz", flags.quiz, "ask flash cards and cases");
  options.add_switch("--cards", flags.cards, "only flash cards");
  options.add_switch("--cases", flags.cases,
                     "only cases: which scheme suits a model on a cluster?");
  options
      .add("--count", flags.count, fmt::format("number of questions; default: {}", kDefaultCount))
      .range(i64{1}, kMaxQuestions);
  options.add("--seed", flags.seed, "draw the same questions each time")
      .range(i64{0}, rankwright::kMaxCount);
  options.add("--answers", flags.answers, "read the answers from this file, one per line")
      .type_name("FILE");
  options
      .add("--progress", flags.progress,
           "file of the cards you know; default: quiz.json in the state folder "
           "(~/.local/state/rankwright), none with --answers")
      .type_name("FILE");
  options.add("--date", flags.date, "day of the progress file; default: today")
      .type_name("YYYY-MM-DD");
  options.add("--print", flags.print, "write the cards for printing: markdown or html")
      .type_name("FORMAT");
}

/// Reads answers line by line. Lines have at most kMaxLine characters.
class AnswerLines {
 public:
  explicit AnswerLines(std::istream& in) : in_(in) {}

  /// Returns the next line; nothing at the end of the input.
  std::optional<std::string> next() {
    constexpr std::size_t kMaxLine = 1000;
    std::string line;
    char c = 0;
    bool any = false;
    while (in_.get(c)) {
      any = true;
      if (c == '\n') return line;
      if (c != '\r' && line.size() < kMaxLine) line += c;
    }
    return any ? std::optional(line) : std::nullopt;
  }

 private:
  std::istream& in_;
};

/// The default place of the progress file; empty if the environment names no home.
std::string find_default_progress() {
  const char* const state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && state[0] == '/') return std::string(state) + "/rankwright/quiz.json";
  const char* const home = std::getenv("HOME");
  if (home == nullptr || home[0] != '/') return "";
  return std::string(home) + "/.local/state/rankwright/quiz.json";
}

/// One question: a card, or a case.
struct QuizQuestion {
  const lab::QuizCard* card = nullptr;
  std::optional<lab::QuizCase> one_case{};

  const std::string& id() const { return card != nullptr ? card->id : one_case->id; }
};

/// Chooses cases: those of the course that are due or new, then random ones.
std::vector<lab::QuizCase> choose_cases(const lab::QuizProgress& progress, i64 today,
                                        std::size_t count, std::mt19937_64& random) {
  std::vector<lab::QuizCase> course = lab::list_course_cases(), chosen;
  std::vector<lab::QuizCard> ids;
  for (const lab::QuizCase& one : course) ids.push_back({.id = one.id});
  for (const std::size_t k : choose_cards(ids, progress, today, count, random)) {
    const auto known = progress.find(ids[k].id);
    if (known == progress.end() || known->second.due <= today)
      chosen.push_back(std::move(course[k]));
  }
  while (chosen.size() < count) chosen.push_back(lab::draw_case(random));
  return chosen;
}

/// Chooses the questions: cards and cases, every third one a case, or only one kind.
std::vector<QuizQuestion> choose_questions(const QuizFlags& flags,
                                           const lab::QuizProgress& progress, i64 today,
                                           std::mt19937_64& random) {
  const auto count = std::size_t(flags.count.value_or(kDefaultCount));
  const std::size_t cases = flags.cases && !flags.cards   ? count
                            : flags.cards && !flags.cases ? 0
                                                          : count / 3;
  const std::span<const lab::QuizCard> cards = lab::list_quiz_cards();
  const std::vector<std::size_t> order =
      choose_cards(cards, progress, today, count - cases, random);
  std::vector<lab::QuizCase> chosen = choose_cases(progress, today, cases, random);
  std::vector<QuizQuestion> questions;
  std::size_t next_card = 0, next_case = 0;
  while (next_card < order.size() || next_case < chosen.size()) {
    const bool is_case =
        next_case < chosen.size() && (next_card >= order.size() || questions.size() % 3 == 2);
    if (is_case)
      questions.push_back({.one_case = std::move(chosen[next_case++])});
    else
      questions.push_back({.card = &cards[order[next_card++]]});
  }
  return questions;
}

enum class Reply : unsigned char { right, wrong, ended };

/// Asks questions and reads answers.
class Quiz {
 public:
  /// `from_file`: the answers are not typed, so the quiz prints them.
  Quiz(AnswerLines& lines, bool from_file, const Options& options, const Io& io)
      : lines_(lines),
        from_file_(from_file),
        io_(io),
        paint_(options.paint_printed(io)),
        width_(io.prose()) {}

  Reply ask(const QuizQuestion& question) {
    if (question.card == nullptr) return ask_case(*question.one_case);
    return question.card->term == nullptr ? ask_card(*question.card) : ask_term(*question.card);
  }

  void say(const std::string& text) { io_.out << report::fit_lines(text, width_); }

 private:
  std::optional<std::string> read(std::string_view prompt) {
    io_.out << prompt << std::flush;
    std::optional<std::string> line = lines_.next();
    // A terminal shows what is typed, and its line break.
    if (from_file_ || !line) io_.out << make_excerpt(line.value_or(""), width_ / 2) << "\n";
    return line;
  }

  Reply finish(bool right, const std::string& why) {
    const std::string word = right ? "Right" : "Not right";
    say((right ? paint_.green(word) : paint_.severity(Severity::error, word)) +
        (why.empty() ? "." : ": " + why) + "\n");
    return right ? Reply::right : Reply::wrong;
  }

  /// Asks a card that the learner grades: first the learner answers, then the answer is shown.
  Reply ask_card(const lab::QuizCard& card) {
    say(report::wrap_text(card.front, width_, ""));
    if (!read("Your answer (or Enter): ")) return Reply::ended;
    say(report::wrap_text(card.back, width_ - 2, "  "));
    say("  See: " + card.see + "\n");
    const std::optional<std::string> known = read("Did you know it? [y/n] ");
    if (!known) return Reply::ended;
    return lower(*known).starts_with('y') ? Reply::right : Reply::wrong;
  }

  Reply ask_term(const lab::QuizCard& card) {
    say(report::wrap_text(card.front, width_, ""));
    const std::optional<std::string> typed = read("Term: ");
    if (!typed) return Reply::ended;
    const lab::TermMatch match = lab::match_term(*card.term, *typed);
    if (match == lab::TermMatch::exact) return finish(true, "");
    if (match == lab::TermMatch::misspelled)
      return finish(true, "it is spelled " + card.term->name);
    return finish(false, "it is " + card.term->name);
  }

  Reply ask_case(const lab::QuizCase& one) {
    say(render_case_question(one, width_));
    const std::optional<std::string> typed = read("Scheme: ");
    if (!typed) return Reply::ended;
    const std::optional<lab::Scheme> choice = parse_scheme(one, *typed);
    const std::vector<lab::EvaluatedScheme> schemes = evaluate_case(one);
    const auto chosen = std::find_if(schemes.begin(), schemes.end(), [&](const auto& scheme) {
      return choice && scheme.scheme == *choice;
    });
    const Reply reply =
        chosen == schemes.end()
            ? finish(false, fmt::format("'{}' is not one of the choices", make_excerpt(*typed)))
            : finish(chosen->right, std::string(row(chosen->scheme).name));
    io_.out << render_case_answer(schemes, paint_, width_);
    return reply;
  }

  AnswerLines& lines_;
  bool from_file_;
  const Io& io_;
  report::Paint paint_;
  std::size_t width_;
};

/// The progress file of a quiz.
struct ProgressFile {
  std::string path{};  // empty: progress is not kept
  lab::QuizProgress progress{};
};

/// Reads the progress file; one that does not exist yet is empty.
Result<ProgressFile> read_progress_file(const QuizFlags& flags) {
  ProgressFile file{.path = flags.progress};
  if (file.path.empty() && flags.answers.empty()) file.path = find_default_progress();
  std::error_code ignored;
  if (file.path.empty() || !std::filesystem::exists(file.path, ignored)) return file;
  const Result<std::string> text = importer::read_file(file.path);
  if (!text) return fail(text.error());
  Result<lab::QuizProgress> progress = lab::read_progress(*text, file.path);
  if (!progress) return fail(progress.error());
  file.progress = std::move(*progress);
  return file;
}

/// Writes the progress file, and its folder if that is the default one.
int save_progress(const ProgressFile& file, bool is_default, const Options& options, const Io& io) {
  std::error_code ignored;
  if (is_default)
    std::filesystem::create_directories(std::filesystem::path(file.path).parent_path(), ignored);
  return options.save(write_progress(file.progress), file.path, io);
}

i64 find_today() {
  return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now())
      .time_since_epoch()
      .count();
}

/// Returns the last lines: the score, and when cards are due again.
std::string describe_score(i64 right, i64 asked, std::size_t questions, const ProgressFile& file) {
  std::string text = fmt::format("\nScore: {} of {} right.", right, asked);
  if (asked < i64(questions)) text += fmt::format(" {} not asked.", questions - std::size_t(asked));
  text += "\n";
  if (file.path.empty() || file.progress.empty()) return text;
  i64 due = file.progress.begin()->second.due;
  for (const auto& [id, card] : file.progress) due = std::min(due, card.due);
  return text + fmt::format("Next cards are due on {}.\n", lab::show_day(due));
}

int run_quiz(const QuizFlags& flags, i64 today, const Options& options, const Io& io) {
  Result<ProgressFile> file = read_progress_file(flags);
  if (!file) {
    print_findings({file.error()}, flags.progress, "", io);
    return kUnreadable;
  }
  std::istringstream typed;
  if (!flags.answers.empty()) {
    const Result<std::string> text = read_argument(flags.answers, io);
    if (!text) {
      print_findings({text.error()}, flags.answers, "", io);
      return kUnreadable;
    }
    typed.str(*text);
  }
  if (!flags.progress.empty())
    if (const int failed = options.refuse_unwritable({flags.progress}, io)) return failed;
  std::mt19937_64 random(flags.seed ? std::uint64_t(*flags.seed) : std::random_device()());
  const std::vector<QuizQuestion> questions =
      choose_questions(flags, file->progress, today, random);
  const Interrupt interrupt;  // Ctrl-C ends the input
  AnswerLines lines(flags.answers.empty() ? io.in : typed);
  Quiz quiz(lines, !flags.answers.empty(), options, io);
  i64 asked = 0, right = 0;
  for (const QuizQuestion& question : questions) {
    io.out << fmt::format("{}{} of {}\n", asked == 0 ? "" : "\n", asked + 1, questions.size());
    const Reply reply = quiz.ask(question);
    if (reply == Reply::ended || interrupt.asked()) break;
    ++asked;
    right += reply == Reply::right;
    if (!question.id().empty())
      record_answer(file->progress, question.id(), reply == Reply::right, today);
  }
  quiz.say(describe_score(right, asked, questions.size(), *file));
  if (file->path.empty() || asked == 0) return kOk;
  return save_progress(*file, flags.progress.empty(), options, io);
}

int print_cards(const QuizFlags& flags, const Options& options, const Io& io) {
  const std::span<const lab::QuizCard> all = lab::list_quiz_cards();
  const std::span<const lab::QuizCard> cards =
      all.first(flags.count ? std::min(all.size(), std::size_t(*flags.count)) : all.size());
  if (flags.print == "markdown") return options.write(print_cards_markdown(cards), io);
  if (flags.print == "html") return options.write(print_cards_html(cards), io);
  return print_usage_fault(kVerb.name,
                           fmt::format("unknown format '{}'", make_excerpt(flags.print)),
                           "--print markdown or --print html", io);
}

}  // namespace
}  // namespace lab_quiz_impl

int lab_quiz(Args args, const Io& io) {
  Options options(lab_quiz_impl::kVerb);
  lab_quiz_impl::QuizFlags flags;
  lab_quiz_impl::add_flags(options, flags);
  if (const std::optional<int> done = options.parse(args, io)) return *done;
  const auto refuse = [&](std::string what, std::string help) {
    return print_usage_fault(lab_quiz_impl::kVerb.name, std::move(what), std::move(help), io);
  };
  if (options.json()) return refuse("the quiz has no JSON form", "leave out --json");
  if (!flags.print.empty()) {
    options.keep_lines();
    return lab_quiz_impl::print_cards(flags, options, io);
  }
  if (!options.output().empty())
    return refuse("-o is for --print", "leave out -o, or add --print html");
  if (flags.progress == "-") return refuse("--progress cannot be -", "name a file");
  const std::optional<i64> today =
      flags.date.empty() ? std::optional(lab_quiz_impl::find_today()) : lab::parse_day(flags.date);
  if (!today)
    return refuse(fmt::format("--date '{}' is not a day", make_excerpt(flags.date)),
                  "--date 2026-11-17");
  return lab_quiz_impl::run_quiz(flags, *today, options, io);
}

}  // namespace rankwright::cli
