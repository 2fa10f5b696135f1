// A lab as a dialog: asks one question at a time, judges what is typed, and gives hints on request.
// Takes lines and returns text; the caller reads and prints. The text does not depend on the source
// of the lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/lab/lab_text.h"

namespace rankwright::lab {

/// The dialog of one lab.
class Session {
 public:
  /// Starts with the first question. `files` reads the plans that answers name.
  Session(const Lab& lab, TextStyle style, importer::FileReader files);

  /// Returns the introduction and the first question.
  std::string begin();

  /// Returns the reply to one typed line, with the next question where there is one. Requires:
  /// !done().
  std::string reply(std::string_view line);

  /// Returns whether all questions are settled, or the learner has quit.
  bool done() const { return quit_ || current_ >= lab_.questions.size(); }

  /// Returns the closing line with the score.
  std::string end() const;

  bool all_right() const;

 private:
  /// How a question was settled.
  enum class Settled : unsigned char { open, right, shown, skipped };

  const Question& question() const { return lab_.questions[current_]; }
  std::string ask() const;
  std::string judge_line(std::string_view line);
  std::string next_hint();
  /// Settles the question; returns the reveal if its step is done, and the next question.
  std::string settle(Settled how);

  const Lab& lab_;
  TextStyle style_;
  importer::FileReader files_;
  LabPage page_;
  std::size_t current_ = 0;
  int hints_ = 0;  // given for the current question
  bool quit_ = false;
  std::vector<Settled> settled_;
};

}  // namespace rankwright::lab
