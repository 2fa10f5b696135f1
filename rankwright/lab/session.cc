#include "rankwright/lab/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/base/trim.h"
#include "rankwright/report/render/table.h"

namespace rankwright::lab {
namespace session_impl {
namespace {

constexpr std::string_view kPrompt = "Type your answer, or hint, show, skip or quit:";
constexpr std::size_t kMaxLine = 4096;

/// Returns why a typed answer cannot be read, without positions in a file that does not exist.
std::string describe_faults(const Diagnostics& faults) {
  std::string text;
  for (const Diagnostic& d : faults) {
    if (d.severity != Severity::error) continue;
    text += fmt::format("{}{}", text.empty() ? "" : "; ", d.message);
    if (!d.detail.empty()) text += ": " + d.detail;
    if (const std::string typed = help(d); !typed.empty()) text += ": " + typed;
  }
  return text;
}

}  // namespace
}  // namespace session_impl

Session::Session(const Lab& lab, TextStyle style, importer::FileReader files)
    : lab_(lab),
      style_(std::move(style)),
      files_(std::move(files)),
      page_(read_lab_page(lab)),
      settled_(lab.questions.size(), Settled::open) {}

std::string Session::begin() {
  return report::make_bold(report::wrap_text(fmt::format("Lab {}. {}", lab_.number, page_.title),
                                             style_.width, ""),
                           style_.paint) +
         "\n" + render_markdown(page_.introduction, style_) + ask();
}

/// Returns the current question, after the task of its step if it is the step's first.
std::string Session::ask() const {
  if (done()) return "";
  const LabStep* const step = page_.find_step(question().key);
  std::string out = "\n";
  if (step != nullptr && step->questions.front().first == question().key) {
    out += style_.paint.bold(step->title) + "\n\n";
    if (!step->task.empty()) out += render_markdown(step->task, style_) + "\n";
  }
  return out + question_text(question(), page_, style_) +
         report::wrap_text(session_impl::kPrompt, style_.width, "");
}

std::string Session::reply(std::string_view line) {
  line = trim(line);
  const std::string word = lower(line.substr(0, 8));
  if (word == "quit" || word == "q" || word == "exit") {
    quit_ = true;
    return "";
  }
  if (word == "hint") return next_hint();
  if (word == "skip") return settle(Settled::skipped);
  if (word == "show") {
    const std::string solution = solution_text(question(), style_);  // before settle() moves on
    return solution + settle(Settled::shown);
  }
  if (line.empty()) return report::wrap_text(session_impl::kPrompt, style_.width, "");
  return judge_line(line);
}

std::string Session::judge_line(std::string_view line) {
  const auto refuse = [&](const std::string& why) {
    return report::wrap_text(fmt::format("cannot read this answer: {}", why), style_.width, "") +
           report::wrap_text(session_impl::kPrompt, style_.width, "");
  };
  if (line.size() > session_impl::kMaxLine)
    return refuse(fmt::format("it is longer than {} characters", count(session_impl::kMaxLine)));
  const GivenAnswers all =
      read_answers(lab_, fmt::format("{}: {}\n", question().key, line), "answer", files_);
  if (has_errors(all.findings)) return refuse(session_impl::describe_faults(all.findings));
  const GivenAnswer& answer = all.answers[current_];
  if (!answer.faults.empty()) return refuse(session_impl::describe_faults(answer.faults));
  if (!answer.given) return report::wrap_text(session_impl::kPrompt, style_.width, "");
  const Verdict verdict = judge(answer);
  const std::string text = verdict_text(verdict, question().key.size(), style_);
  if (verdict.outcome == LabOutcome::right) return text + settle(Settled::right);
  return text + report::wrap_text("Try again, or type hint, show, skip or quit:", style_.width, "");
}

std::string Session::next_hint() {
  std::string hint;
  ++hints_;
  if (hints_ == 1) hint = question().hint_1;
  if (hints_ == 2) hint = question().hint_2;
  if (hints_ == 3) hint = solve(question()).hidden;
  const std::string text = hint.empty() ? "No more hints: show prints the answer."
                                        : fmt::format("hint {}: {}", hints_, hint);
  return report::wrap_text(text, style_.width, "") +
         report::wrap_text(session_impl::kPrompt, style_.width, "");
}

std::string Session::settle(Settled how) {
  settled_[current_] = how;
  const LabStep* const step = page_.find_step(question().key);
  const bool last = step != nullptr && step->questions.back().first == question().key;
  ++current_;
  hints_ = 0;
  return (last ? "\n" + render_markdown(step->reveal, style_) : "") + ask();
}

std::string Session::end() const {
  const auto number = [&](Settled how) {
    return std::count(settled_.begin(), settled_.end(), how);
  };
  std::string text =
      fmt::format("lab {}: {} of {} right", lab_.number, number(Settled::right), settled_.size());
  const auto add = [&](Settled how, std::string_view word) {
    if (number(how) > 0) text += fmt::format(", {} {}", number(how), word);
  };
  add(Settled::shown, "shown");
  add(Settled::skipped, "skipped");
  add(Settled::open, "open");
  return "\n" + text + "\n";
}

bool Session::all_right() const {
  return std::all_of(settled_.begin(), settled_.end(),
                     [](Settled how) { return how == Settled::right; });
}

}  // namespace rankwright::lab
