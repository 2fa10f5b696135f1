#include "rankwright/lab/quiz/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "rankwright/base/check.h"
#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/lab/lab.h"
#include "rankwright/lab/worksheet/words.h"
#include "rankwright/model/parameters.h"
#include "rankwright/planner/plan/plan_problem.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/report/render/table.h"

namespace rankwright::lab {
namespace cases_impl {
namespace {

using search::Range;

constexpr i64 kMany = cluster::kMaxDevices;
constexpr Range kOne{1, 1}, kAny{1, kMany}, kSome{2, kMany};
constexpr Range kWhole{0, 0}, kSharded{1, 3}, kWholeOrZero1{0, 1}, kWholeOrSharded{0, 3};

constexpr SchemeRow kSchemes[] = {
    {Scheme::dp, "DP", "dp|ddp|data|data parallel|data parallelism",
     "every rank holds a full copy of the model", kOne, kOne, kAny, kWhole},
    {Scheme::fsdp, "FSDP/ZeRO", "fsdp|zero|fsdp zero|zero fsdp|zero 3|zero 1|zero 2|sharded",
     "DP, with states sharded over its ranks", kOne, kOne, kSome, kSharded},
    {Scheme::tp, "TP", "tp|tensor|tensor parallel|tensor parallelism|tp dp|tp fsdp|tp zero",
     "every layer is split; DP on top, sharded or not", kSome, kOne, kAny, kWholeOrSharded},
    {Scheme::pp, "PP", "pp|pipeline|pipeline parallel|pipeline parallelism|pp dp",
     "layers are in stages; DP on top", kOne, kSome, kAny, kWholeOrZero1},
    {Scheme::tp_pp, "TP + PP", "tp pp|pp tp|tp and pp",
     "layers are split and in stages; one replica", kSome, kSome, kOne, kWhole},
    {Scheme::three_d, "3D", "3 d|tp pp dp|dp tp pp|three d|3 d parallelism", "TP, PP and DP", kSome,
     kSome, kSome, kWholeOrZero1},
};

/// A job of the course: a plan file of the labs, or a model and a cluster of the catalog.
struct CourseCase {
  std::string_view id, file, text;
  std::span<const Scheme> choices;  // empty: all
};
constexpr Scheme kWithoutModelParallelism[] = {Scheme::dp, Scheme::fsdp};
constexpr CourseCase kCourse[] = {
    {"case:1b", "examples/labs/dp-1b.yaml", "", {}},
    {"case:30b", "examples/labs/case-30b.yaml", "", {}},
    {"case:200b", "examples/labs/case-200b.yaml", "", {}},
    {"case:13b-two-nodes", "",
     "model: llama-2-13b\ncluster: dgx-a100 x 2\njob: {global_batch: 256, sequence: 4096}\n",
     kWithoutModelParallelism},
};

constexpr i64 kGpuCounts[] = {1, 2, 4, 8, 16, 32, 64};
constexpr std::string_view kSystems[] = {"dgx-h100", "dgx-a100", "hgx-a100-100g"};
constexpr double kSmallestModel = 0.3e9;
// States of 16 bytes per parameter that fill at most this share of all GPUs leave room for
// activations.
constexpr double kStateBytes = 16, kStateShare = 0.6;

/// Makes a case of a job, given as a plan file. Nothing if the planner refuses the job.
std::optional<QuizCase> make_case(std::string id, std::string text, std::optional<i64> gpus,
                                  std::span<const Scheme> choices) {
  planner::PlanRequest request{.plan_file = planner::SourceFile{"quiz.yaml", std::move(text)},
                               .target = rules::Target::any};
  if (gpus) request.gpus = Range{*gpus, *gpus};
  planner::Outcome<planner::PlanProblem> read = planner::read_plan_problem(request);
  if (!read) return {};
  QuizCase one{std::move(id), std::move(read->problem), {choices.begin(), choices.end()}};
  if (one.choices.empty())
    for (const SchemeRow& scheme : kSchemes) one.choices.push_back(scheme.scheme);
  // The schemes differ in what they split; everything else is as usual, which keeps searches short.
  search::Limits& limits = one.problem.limits;
  limits.cp = limits.ep = limits.etp = limits.chunks = kOne;
  limits.micro_batch = {1, 4};
  limits.hybrid = false;
  limits.schedule = pipeline::Schedule::one_f_one_b;
  limits.order = mesh::kDefaultOrder;
  limits.even = true;
  return one;
}

/// Returns whether every layer has full attention and a dense feed-forward.
bool is_dense(const model::Model& model) {
  return std::none_of(model.runs.begin(), model.runs.end(), [](const model::LayerRun& run) {
    return run.layer.ffn.sparse() || run.layer.attention.window > 0;
  });
}

/// Returns whether a model is worth asking about on these GPUs.
bool is_suitable(const model::Model& model, const cluster::Device& device, i64 gpus) {
  const double parameters = double(count_parameters(model).total());
  return is_dense(model) && parameters >= kSmallestModel &&
         Bytes{kStateBytes * parameters} < kStateShare * double(gpus) * device.memory;
}

bool is_allowed(const SchemeRow& scheme, i64 world) {
  return scheme.tp.min * scheme.pp.min * scheme.dp.min <= world;
}

std::string describe_result(const EvaluatedScheme& one) {
  if (!one.plan) return one.least ? "does not fit" : "no such layout";
  if (one.slower <= 0) return "accepted: fastest";
  const std::string slower = format_signed_percent(one.slower);
  return one.right ? fmt::format("accepted: {}", slower) : slower;
}

}  // namespace
}  // namespace cases_impl

std::span<const SchemeRow> list_schemes() { return cases_impl::kSchemes; }

const SchemeRow& row(Scheme scheme) {
  const SchemeRow& found = cases_impl::kSchemes[std::size_t(scheme)];
  RW_CHECK(found.scheme == scheme);
  return found;
}

std::vector<QuizCase> list_course_cases() {
  std::vector<QuizCase> cases;
  for (const cases_impl::CourseCase& one : cases_impl::kCourse) {
    const std::string_view text = one.file.empty() ? one.text : find_lab_file(one.file);
    std::optional<QuizCase> made =
        cases_impl::make_case(std::string(one.id), std::string(text), {}, one.choices);
    RW_CHECK(made.has_value());
    cases.push_back(std::move(*made));
  }
  return cases;
}

QuizCase draw_case(std::mt19937_64& random) {
  const auto pick = [&](const auto& from) { return from[random() % std::size(from)]; };
  while (true) {  // ends: the planner refuses few models
    const std::string system(pick(cases_impl::kSystems));
    const i64 gpus = pick(cases_impl::kGpuCounts);
    const Result<cluster::Cluster> cluster = catalog::find_cluster(system);
    RW_CHECK(cluster.has_value());
    std::vector<std::string> names;
    for (const catalog::KnownModel& known : catalog::list_known_models())
      if (cases_impl::is_suitable(known.model, cluster->device, gpus)) names.push_back(known.name);
    RW_CHECK(!names.empty());
    const std::string job =
        fmt::format("model: {}\ncluster: {} x {}\njob: {{global_batch: 256, sequence: 2048}}\n",
                    pick(names), system, ceil_div(gpus, cluster->host_devices));
    if (std::optional<QuizCase> made = cases_impl::make_case("", job, gpus, {})) return *made;
  }
}

std::vector<EvaluatedScheme> evaluate_case(const QuizCase& one) {
  const cluster::Calibration& calibration = select_calibration(one.problem.config);
  const search::SearchOptions options{.split_cache = std::make_shared<search::StageSplitCache>()};
  std::vector<EvaluatedScheme> all;
  for (const Scheme scheme : one.choices) {
    const SchemeRow& limits = row(scheme);
    EvaluatedScheme evaluated{.scheme = scheme};
    if (cases_impl::is_allowed(limits, one.problem.config.world)) {
      search::Problem problem = one.problem;
      problem.limits.tp = limits.tp;
      problem.limits.pp = limits.pp;
      problem.limits.dp = limits.dp;
      problem.limits.zero = limits.zero;
      evaluated.plan = find_fastest_plan(problem, calibration, options);
      if (!evaluated.plan)
        if (const search::Answer none = find_answer(problem, calibration, options); none.leanest)
          evaluated.least = none.leanest->memory;
    }
    all.push_back(std::move(evaluated));
  }
  Seconds best = search::kInfiniteTime;
  for (const EvaluatedScheme& e : all)
    if (e.plan) best = std::min(best, e.plan->time());
  for (EvaluatedScheme& e : all)
    if (e.plan) {
      e.slower = e.plan->time() / best - 1;
      e.right = e.slower <= kCloseEnough;
    }
  return all;
}

std::optional<Scheme> parse_scheme(const QuizCase& one, std::string_view typed) {
  const std::string given = normalize_answer(make_excerpt(typed, 100));
  const std::string_view words = std::string_view(given).substr(1, given.size() - 1);
  for (std::size_t k = 0; k < one.choices.size(); ++k)
    if (given == fmt::format(" {} ", k + 1)) return one.choices[k];
  for (const Scheme scheme : one.choices) {
    std::string_view names = row(scheme).also;
    if (given == normalize_answer(row(scheme).name)) return scheme;
    while (!names.empty()) {
      const std::size_t end = std::min(names.find('|'), names.size());
      if (words == std::string(names.substr(0, end)) + " ") return scheme;
      names.remove_prefix(std::min(end + 1, names.size()));
    }
  }
  return {};
}

std::string render_case_question(const QuizCase& one, std::size_t width) {
  std::string links;
  for (const cluster::Level& level : one.problem.config.cluster.levels)
    links += fmt::format("{}{} {}", links.empty() ? "" : ", ", level.name, show(level.bandwidth));
  std::string out = report::wrap_text(
      fmt::format("{}; {}. Which scheme?", report::format_headline(one.problem.config), links),
      width, "");
  for (std::size_t k = 0; k < one.choices.size(); ++k)
    out += report::wrap_text(
        fmt::format("{}. {}: {}", k + 1, row(one.choices[k]).name, row(one.choices[k]).means),
        width - 2, "  ");
  return out;
}

std::string render_case_answer(const std::vector<EvaluatedScheme>& schemes,
                               const report::Paint& paint, std::size_t width) {
  report::Table table{{{"scheme"},
                       {"result"},
                       {"step", report::kRight},
                       {"memory", report::kRight},
                       {"fastest layout"}}};
  for (const EvaluatedScheme& one : schemes) {
    const std::string memory = one.plan    ? show_memory(one.plan->estimate.memory.total())
                               : one.least ? show_memory(*one.least)
                                           : "-";
    table.rows.push_back({std::string(row(one.scheme).name), cases_impl::describe_result(one),
                          one.plan ? show(one.plan->time()) : "-", memory,
                          one.plan ? report::format_placed_degrees(one.plan->config) : "-"});
  }
  return table.text(paint, "  ", width);
}

}  // namespace rankwright::lab
