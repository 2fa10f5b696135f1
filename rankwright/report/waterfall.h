// Where a step's time goes, largest things first in sight: one bar an item of StepTime, with its
// share and a remark that carries numbers of the plan. Bars add up to the step.
#pragma once

#include <string>
#include <vector>

#include "rankwright/report/paint.h"
#include "rankwright/report/table.h"
#include "rankwright/report/worksheet.h"

namespace rankwright {

struct Waterfall {
  struct Bar {
    Item item{};
    std::string name{};
    Seconds time{};
    double share = 0;  // of the step
    bool computes = false;
    Origin origin = Origin::calibrated;
    std::string level{};                     // that its collectives cross; empty where it has none
    std::vector<std::size_t> collectives{};  // of the worksheet
    std::string remark{};
  };
  std::vector<Bar> bars{};  // items that take time, in the order of a step
  Seconds total{};
  ErrorBand band{};
};

/// The setup has no misfit.
Waterfall waterfall(const Setup& setup, const Worksheet& sheet);

/// "step 12.3 s ±13 %   840 tokens/s/GPU   MFU 41 %   68.1 of 79.1 GiB on pp rank 0": what a plan
/// comes to. Of a model that is not named nothing is said about memory.
std::string figures(const Setup& setup, const Estimate& estimate);

/// "±13 %", and where nothing measured says so "±35 % assumed".
std::string band_text(const ErrorBand& band);

/// Items of less than a five-hundredth are one bar, "other", so that what is shown adds up.
std::string waterfall_text(const Waterfall& fall, const Paint& paint, std::size_t width);
Table waterfall_table(const Waterfall& fall);

}  // namespace rankwright
