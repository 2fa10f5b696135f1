// `plan` for Python.
#include "rankwright/planner/plan.h"

#include <memory>

#include "python/verbs.h"
#include "rankwright/planner/plan/plan_options.h"
#include "rankwright/planner/plan/source_files.h"
#include "rankwright/report/page/report_sentences.h"
#include "rankwright/report/plan/counts_text.h"
#include "rankwright/report/plan/plan_file_text.h"
#include "rankwright/report/plan/plan_json.h"
#include "rankwright/report/plan/plan_text.h"

namespace rankwright::python {
namespace {

planner::Outcome<planner::PlanRequest> read_request(const Arguments& args) {
  planner::OptionTexts texts;
  for (const auto& [name, value] : args.options) texts[name] = value.value_or("true");
  planner::Outcome<planner::PlanRequest> request = planner::read_plan_options(texts);
  if (!request) return request;
  request->files = args.reader();
  if (!args.files.empty()) request->plan_file = args.source(args.files.front());
  read_named_files(*request, request->files);
  return request;
}

Answer forms(planner::PlanAnswer found, const std::string& command) {
  const auto answer = std::make_shared<const planner::PlanAnswer>(std::move(found));
  return {.json = [answer] { return report::make_plan_json(*answer); },
          .text = [answer] { return report::render_answer_text(*answer, {}, kTextWidth); },
          .markdown =
              [answer] { return answer->answer.best ? report::render_plan_markdown(*answer) : ""; },
          .plan = [answer, command] { return report::render_plan_file(*answer, command); }};
}

Answer forms(planner::PlansByCount found, const std::string& command) {
  const auto answer = std::make_shared<const planner::PlansByCount>(std::move(found));
  return {.json = [answer] { return report::make_counts_json(*answer); },
          .text = [answer] { return report::render_counts_text(*answer, {}, kTextWidth); },
          .markdown = [answer] { return report::render_counts_markdown(*answer); },
          .plan = [answer, command] { return report::render_plan_file(*answer, command); }};
}

}  // namespace

planner::Outcome<Answer> plan(const Arguments& args, const planner::SearchControl& control) {
  planner::Outcome<planner::PlanRequest> request = read_request(args);
  if (!request) return tl::unexpected(std::move(request.error()));
  const std::string command = report::format_command_line(args.verb, args.words());
  const auto made = [&](auto answer) -> planner::Outcome<Answer> {
    if (!answer) return tl::unexpected(std::move(answer.error()));
    return forms(std::move(*answer), command);
  };
  return request->several_counts() ? made(find_plans_by_count(*request, control))
                                   : made(find_plan(*request, control));
}

}  // namespace rankwright::python
