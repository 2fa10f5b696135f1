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

namespace rw = rankwright;

int refuse(const rw::Refusal& refusal) {
  std::fputs(rw::refusal_text("plan", refusal).c_str(), stderr);
  return rw::exit_code(refusal);
}

int main(int argc, char** argv) {
  rw::OptionTexts options;
  for (int k = 1; k < argc; ++k) {
    const std::string_view argument = argv[k];
    const std::size_t at = argument.find('=');
    if (at == argument.npos) return refuse({.message = "arguments are NAME=VALUE"});
    options[std::string(argument.substr(0, at))] = argument.substr(at + 1);
  }

  rw::Outcome<rw::PlanRequest> request = rw::read_plan_options(options);
  if (!request) return refuse(request.error());
  request->files = rw::read_file;  // a model or a cluster may be the name of a file
  rw::read_named_files(*request);

  const rw::Outcome<rw::PlanAnswer> answer = rw::find_plan(*request);
  if (!answer) return refuse(answer.error());
  std::fputs(rw::plan_json(*answer).c_str(), stdout);
  return answer->answer.best ? 0 : 2;
}
