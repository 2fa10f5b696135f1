#include "cli/explain/word.h"

#include <fmt/format.h>

#include "cli/io/print_refusal.h"
#include "rankwright/base/format.h"
#include "rankwright/planner/explain.h"
#include "rankwright/planner/learn/explain_concept.h"
#include "rankwright/report/catalog/collective_svg.h"
#include "rankwright/report/catalog/concept_text.h"
#include "rankwright/report/catalog/topic_text.h"

namespace rankwright::cli {
namespace {

/// Writes the drawing of a collective. Returns the exit code.
int save_picture(const planner::ExplainTermAnswer& answer, const std::string& word,
                 const std::string& path, const Options& options, const Io& io) {
  const planner::ConceptPage* const page = answer.concept_page;
  if (page == nullptr || !page->collective)
    return print_refusal("explain",
                         planner::make_usage_refusal(
                             fmt::format("--svg: '{}' is not a collective", make_excerpt(word, 60)),
                             "rankwright explain all-reduce --svg all-reduce.svg"),
                         io);
  return options.save(report::draw_collective_svg(*page), path, io);
}

}  // namespace

int show_word(const std::string& word, const std::string& svg, const Options& options,
              const Io& io) {
  const planner::Outcome<planner::ExplainTermAnswer> answer = planner::explain_term(word);
  if (!answer) return print_refusal("explain", answer.error(), io);
  if (!svg.empty())
    if (const int failed = save_picture(*answer, word, svg, options, io)) return failed;
  const report::Paint paint = options.paint(io);
  const auto write = [&](const auto& page, auto json, auto text) {
    return options.write(options.json() ? json(page) : text(page, paint, io.prose()), io);
  };
  if (answer->page != nullptr)
    return write(*answer->page, report::make_page_json, report::render_page_text);
  if (answer->key != nullptr)
    return write(*answer->key, report::make_key_json, report::render_key_text);
  if (answer->concept_page != nullptr)
    return options.write(options.json()
                             ? report::make_concept_json(*answer->concept_page)
                             : render_concept_text(*answer->concept_page, paint, io.prose()),
                         io);
  return write(*answer->term, report::make_term_json, report::render_term_text);
}

int show_word_in_plan(const std::string& word, const PlanFlags& plan, bool mixed,
                      const Options& options, const Io& io) {
  if (mixed)
    return print_refusal("explain",
                         planner::make_usage_refusal(
                             "a term with a plan takes no other plan and no view",
                             fmt::format("rankwright explain tp {}", make_excerpt(plan.plan, 60))),
                         io);
  const planner::Outcome<planner::ConceptAnswer> answer =
      planner::explain_concept(word, plan.source(io));
  if (!answer) return print_refusal("explain", answer.error(), io);
  const std::string text = options.json()
                               ? report::make_concept_json(*answer)
                               : render_concept_text(*answer, options.paint(io), io.prose());
  if (const int failed = options.write(text, io)) return failed;
  return print_finding_counts(answer->plan, options.quiet(), io);
}

}  // namespace rankwright::cli
