// Finds a plan and prints it as `rankwright plan --json` does. Arguments are options of that
// command:
//
//   embed model=llama-3.1-8b "cluster=dgx-h100 x 2" global-batch=64 seq=8192 no-pp=true
#include <cstdio>
#include <string>
#include <string_view>

#include "rankwright/planner/plan.h"
#include "rankwright/planner/plan/plan_options.h"
#include "rankwright/planner/plan/source_files.h"
#include "rankwright/report/explain/refusal_text.h"
#include "rankwright/report/plan/plan_json.h"

namespace importer = rankwright::importer;
namespace planner = rankwright::planner;
namespace report = rankwright::report;

int refuse(const planner::Refusal& refusal) {
  std::fputs(report::render_refusal_text("plan", refusal).c_str(), stderr);
  return report::exit_code(refusal);
}

int main(int argc, char** argv) {
  planner::OptionTexts options;
  for (int k = 1; k < argc; ++k) {
    const std::string_view argument = argv[k];
    const std::size_t at = argument.find('=');
    if (at == argument.npos) return refuse({.message = "arguments are NAME=VALUE"});
    options[std::string(argument.substr(0, at))] = argument.substr(at + 1);
  }

  planner::Outcome<planner::PlanRequest> request = planner::read_plan_options(options);
  if (!request) return refuse(request.error());
  request->files = importer::read_file;  // a model or a cluster may be the name of a file
  planner::read_named_files(*request);

  const planner::Outcome<planner::PlanAnswer> answer = planner::find_plan(*request);
  if (!answer) return refuse(answer.error());
  std::fputs(report::make_plan_json(*answer).c_str(), stdout);
  return answer->answer.best && !misses_target(answer->run, answer->training) ? 0 : 2;
}
