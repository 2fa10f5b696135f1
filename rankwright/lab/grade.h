// Grades the answer files of a class: each file is one learner's answers to the lab that it states.
// A file that cannot be read is a row with its error and does not affect the others.
#pragma once

#include <string>
#include <vector>

#include "rankwright/lab/judge.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::lab {

/// The grade of one answer file.
struct Grade {
  std::string learner;              // the file's name, safe to show
  i64 lab = 0;                      // 0 if the file is unreadable
  std::vector<Verdict> verdicts{};  // one per question
  std::string fault{};              // why the file is unreadable; empty if it is not

  /// Counts the verdicts with this outcome.
  i64 number(LabOutcome outcome) const;
};

/// Grades one file. `files` reads the plans that its answers name.
Grade grade(const std::string& learner, std::string text, const std::string& path,
            const importer::FileReader& files);

/// Returns the row of a file that could not be opened.
Grade refuse_grade(const std::string& learner, const Diagnostic& why);

/// Returns a row per file, then the questions by the number of learners who missed them.
std::string grades_text(const std::vector<Grade>& grades, const report::Paint& paint,
                        std::size_t width);

/// Returns the schema rankwright.lab_grades/1.
std::string grades_json(const std::vector<Grade>& grades);

}  // namespace rankwright::lab
