#include "rankwright/planner/explain.h"

#include <fmt/format.h>

#include <vector>

#include "rankwright/base/format.h"
#include "rankwright/base/suggest.h"
#include "rankwright/planner/explain_timeline.h"

namespace rankwright::planner {
namespace {

/// Returns the key called `name`, or null. "zero_stage", "plan.zero_stage" and
/// "parallelism.zero_stage" are the same key.
const importer::PlanKey* find_key(std::string_view name) {
  if (name.starts_with("plan.")) name.remove_prefix(5);
  for (const importer::KeyRow& row : importer::key_rows()) {
    const std::string_view path = row.key.path;
    if (path == name || path.substr(path.rfind('.') + 1) == name ||
        path.substr(path.find('.') + 1) == name)
      return &row.key;
  }
  return nullptr;
}

std::string upper(std::string word) {
  for (char& c : word)
    if (c >= 'a' && c <= 'z') c = char(c - 'a' + 'A');
  return word;
}

/// Returns whether a word is written like a diagnostic code: RW and digits.
bool looks_like_code(const std::string& word) {
  return word.size() > 2 && upper(word.substr(0, 2)) == "RW" &&
         word.find_first_not_of("0123456789", 2) == std::string::npos;
}

Refusal refuse_word(const std::string& word) {
  std::vector<std::string> known;
  for (const rules::Page* page : rules::pages()) known.emplace_back(page->code);
  for (const importer::KeyRow& row : importer::key_rows())
    known.emplace_back(row.key.path.substr(row.key.path.rfind('.') + 1));
  for (const catalog::Term& term : catalog::glossary()) {
    known.push_back(term.name);
    known.insert(known.end(), term.also.begin(), term.also.end());
  }
  std::optional<std::string> near = nearest(word, known);
  // Codes differ in few digits: only one wrong digit makes the nearest one likely.
  const bool code = looks_like_code(word);
  if (near && code && compute_edit_distance(upper(word), *near) > 1) near.reset();
  return {.kind = Refusal::Kind::unreadable,
          .message = fmt::format("no such file, diagnostic code, plan key or term: '{}'",
                                 make_excerpt(word, 60)),
          .hint = near   ? fmt::format("did you mean {}?", *near)
                  : code ? "rankwright catalog codes lists the codes"
                         : "rankwright catalog codes, keys or terms lists the known names"};
}

}  // namespace

Outcome<ExplainAnswer> explain_plan(const PlanSource& source) {
  Outcome<ValidPlan> plan = read_valid_plan(source);
  if (!plan) return tl::unexpected(std::move(plan.error()));
  ExplainView view = make_explain_view(plan->config());
  return ExplainAnswer{std::move(*plan), std::move(view)};
}

Outcome<ExplainRankAnswer> explain_rank(const PlanSource& source, i64 rank) {
  Outcome<ValidPlan> plan = read_valid_plan(source);
  if (!plan) return tl::unexpected(std::move(plan.error()));
  const i64 world = plan->config().world;
  if (rank < 0 || rank >= world)
    return refuse_usage(fmt::format("no rank {}: the plan has ranks 0 to {}", rank, world - 1),
                        fmt::format("--rank {}", world - 1));
  RankView view = make_rank_view(plan->config(), rank);
  return ExplainRankAnswer{std::move(*plan), std::move(view)};
}

Outcome<ExplainStagesAnswer> explain_stages(const PlanSource& source) {
  Outcome<ValidPlan> plan = read_valid_plan(source);
  if (!plan) return tl::unexpected(std::move(plan.error()));
  StagesView view = make_stages_view(plan->config());
  return ExplainStagesAnswer{std::move(*plan), std::move(view)};
}

Outcome<ExplainSensitivityAnswer> explain_sensitivity(const PlanSource& source) {
  Outcome<ValidPlan> plan = read_valid_plan(source);
  if (!plan) return tl::unexpected(std::move(plan.error()));
  SensitivityView view = make_sensitivity_view(plan->config());
  return ExplainSensitivityAnswer{std::move(*plan), std::move(view)};
}

Outcome<ExplainRivalsAnswer> explain_rivals(const PlanSource& source, const SourceFile& against) {
  Outcome<ValidPlan> plan = read_valid_plan(source);
  if (!plan) return tl::unexpected(std::move(plan.error()));
  PlanSource other_source = source;
  other_source.plan = against;
  Outcome<ValidPlan> other = read_valid_plan(other_source);
  if (!other) return tl::unexpected(std::move(other.error()));
  RivalsView view = make_rivals_view(plan->config(), other->config());
  return ExplainRivalsAnswer{std::move(*plan), std::move(*other), std::move(view)};
}

std::optional<Refusal> check_views(const ExplainViews& views) {
  if (int(views.rank) + int(views.stages) + int(views.timeline) + int(views.faults) +
          int(views.sensitivity) + int(views.sweep) >
      1)
    return make_usage_refusal(
        "--rank, --stages, --timeline, --sensitivity, --sweep, --slow, --slow-link and --fail "
        "cannot be combined",
        "use one of them per command");
  if (views.against && !views.sensitivity)
    return make_usage_refusal("--against needs --sensitivity",
                              "--sensitivity --against OTHER_PLAN");
  return std::nullopt;
}

std::optional<Refusal> check_schedule_views(const ExplainViews& views, const PlanSource& source) {
  if (!views.rank && !views.stages && !views.faults && !views.sensitivity && !views.sweep &&
      !source.overrides())
    return std::nullopt;
  return refuse_plan_options(
             "--rank, --stages, --sensitivity, --sweep, --slow, --fail, --model and --cluster")
      .value();
}

Outcome<ExplainTermAnswer> explain_term(const std::string& word) {
  if (const rules::Page* code = rules::find_page(upper(word)))
    return ExplainTermAnswer{.page = code};
  const ConceptPage* const page = find_concept(word);
  // Before keys: "tp" is also the last part of parallelism.overlap.tp.
  if (page != nullptr && page->typed == lower(word)) return ExplainTermAnswer{.concept_page = page};
  if (const importer::PlanKey* key = find_key(word)) return ExplainTermAnswer{.key = key};
  if (page != nullptr) return ExplainTermAnswer{.concept_page = page};
  if (const catalog::Term* term = catalog::find_term(word)) return ExplainTermAnswer{.term = term};
  return tl::unexpected(refuse_word(word));
}

}  // namespace rankwright::planner
