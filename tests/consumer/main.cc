// Reads a plan and prints the seconds of its step, as `rankwright explain --json` has them.
#include <fmt/format.h>

#include <cstdio>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/import/plan_format.h"
#include "rankwright/plan/misfit.h"

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  const rankwright::Result<std::string> text = rankwright::read_file(argv[1]);
  if (!text) return 1;
  const rankwright::PlanFile file =
      rankwright::read_any_plan(*text, argv[1], rankwright::read_file);
  if (rankwright::has_errors(file.findings)) return 1;
  const rankwright::Setup setup = rankwright::resolve(file.draft);
  if (!rankwright::misfits(setup).empty()) return 2;
  fmt::print("{}\n",
             rankwright::close_estimate(setup, rankwright::calibration(setup)).time().value);
}
