#include "rankwright/planner/plan/plan_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "rankwright/base/quantity.h"
#include "rankwright/planner/input/plan_input.h"
#include "rankwright/planner/plan/plan_amounts.h"

namespace rankwright::planner {
namespace {

constexpr std::string_view kLimitGroup = "Limits", kSearchGroup = "Search";

/// A number of the plan: NAME fixes it, max-NAME limits it, no-NAME sets it to 1.
struct NumberOption {
  std::string_view name, key;
  std::optional<i64> (*value)(const importer::Draft&);
  search::Range search::Limits::*range;
  bool max = false, no = false;
};
constexpr NumberOption kNumberOptions[] = {
    {"tp", "parallelism.tp_size", [](const importer::Draft& d) { return d.tp; },
     &search::Limits::tp, true, true},
    {"cp", "parallelism.cp_size", [](const importer::Draft& d) { return d.cp; },
     &search::Limits::cp, true, true},
    {"pp", "parallelism.pp_size", [](const importer::Draft& d) { return d.pp; },
     &search::Limits::pp, true, true},
    {"dp", "parallelism.dp_size", [](const importer::Draft& d) { return d.dp; },
     &search::Limits::dp, true, true},
    {"ep", "parallelism.ep_size", [](const importer::Draft& d) { return d.ep; },
     &search::Limits::ep, true, true},
    {"etp", "parallelism.etp_size", [](const importer::Draft& d) { return d.etp; },
     &search::Limits::etp},
    {"zero", "parallelism.zero_stage",
     [](const importer::Draft& d) { return d.zero ? std::optional<i64>(*d.zero) : std::nullopt; },
     &search::Limits::zero, true},
    {"micro-batch", "parallelism.micro_batch",
     [](const importer::Draft& d) { return d.micro_batch; }, &search::Limits::micro_batch},
    {"chunks", "parallelism.virtual_stages",
     [](const importer::Draft& d) { return d.virtual_stages; }, &search::Limits::chunks},
};

/// A choice of the plan that the search makes unless the option fixes it.
struct ChoiceOption {
  std::string_view name, key;
  void (*set)(const importer::Draft&, search::Limits&);
};
constexpr ChoiceOption kChoiceOptions[] = {
    {"recompute", "parallelism.recompute",
     [](const importer::Draft& d, search::Limits& l) {
       l.recompute = d.recompute;
       l.recompute_parts = false;
     }},
    {"schedule", "parallelism.schedule",
     [](const importer::Draft& d, search::Limits& l) { l.schedule = d.schedule; }},
    {"sequence-parallel", "parallelism.sequence_parallel",
     [](const importer::Draft& d, search::Limits& l) {
       l.sequence_parallel = d.sequence_parallel;
     }},
    {"cp-comm", "parallelism.cp_comm",
     [](const importer::Draft& d, search::Limits& l) { l.cp_comm = d.cp_comm; }},
    {"order", "parallelism.order",
     [](const importer::Draft& d, search::Limits& l) { l.order = d.order; }},
};

/// An option with its own kind of value, read in read_target(), read_amounts() and read_others().
struct TextOption {
  std::string_view name, type, help;
};
constexpr TextOption kTextOptions[] = {
    {"for", "TARGET",
     "search only layouts that this framework runs without a warning (default: the framework that "
     "a file names, else megatron); any: all layouts"},
    {"max-memory", "SIZE", "limit the memory per GPU: 72GiB, 90%"},
    {"nodes", "N", "use this many nodes of the system that --cluster names"},
    {"gpus-per-node", "N", "use this many GPUs of each node, with --nodes"},
    {"gpus", "N or A..B", "use this many GPUs; with a range, find the best plan for each count"},
    {"exclude-nodes", "LIST", "leave out these hosts, by position in the cluster: 3,17,120-123"},
    {"exclude-count", "N", "leave out this many hosts, if only their number is known"},
    {"tokens", "N", "estimate the days and GPU-hours of training on this many tokens: 15T"},
    {"price", "MONEY", "price of a GPU-hour, for the cost of training: 2.10, $2.10, 2.10EUR"},
    {"days", "N", "deadline, with --tokens; with --gpus A..B, find the fewest GPUs that meet it"},
    {"budget", "MONEY",
     "with --tokens and --price: say whether training costs more; with --gpus A..B, find the "
     "fastest count that does not"},
    {"calibrate", "LOG", "calibrate the estimate with the log of a run (Megatron-LM, torchtitan)"},
    {"ran", "PLAN", "with --calibrate: the plan of that run (default: the file's, or the log's)"},
    {"objective", "time, max-seq or max-batch",
     "find the fastest plan (default), or the longest sequence or the largest micro-batch that "
     "fits: with margin, or tightly if none does"},
    {"top", "N", "list the N best layouts in a table"},
    {"search-time", "TIME", "stop after this time with the best plan so far (default: 10min)"},
    {"search-memory", "SIZE", "stop at this memory use with the best plan so far (default: 4GiB)"},
    {"threads", "N", "threads of the search (default: all). The answer does not depend on it"},
};

/// An option without a value.
struct SwitchOption {
  std::string_view name, help;
};
constexpr SwitchOption kSwitches[] = {
    {"even-stages", "split the layers evenly over the stages"},
    {"no-hybrid", "shard over all DP ranks, never within a node"},
    {"allow-offload", "if nothing fits, keep states in host memory"},
    {"fit", "find the fewest GPUs of the cluster on which a plan fits with margin"},
    {"exhaustive", "evaluate every layout that fits, without lower bounds"},
};

using MaybeRefusal = std::optional<Refusal>;

std::vector<PlanOption> list_options() {
  std::vector<PlanOption> all;
  const auto add = [&](std::string name, std::string_view type, std::string help,
                       std::string_view group) {
    all.push_back({std::move(name), std::string(type), std::move(help), std::string(group)});
  };
  const auto add_switch = [&](std::string name, std::string_view help, std::string_view group) {
    add(std::move(name), "", std::string(help), group);
    all.back().takes_value = false;
  };
  add("model", "", "a name or a config.json", "");
  add("cluster", "", "\"dgx-h100 x 8\" or a cluster file", "");
  for (const KeyOption& row : key_options()) {
    const importer::PlanKey& key = find_key_row(row.key).key;
    add(std::string(row.name), key.values, std::string(key.meaning), kJobOptionGroup);
  }
  for (const NumberOption& row : kNumberOptions) {
    add(std::string(row.name), "N", fmt::format("fix it: {}", find_key_row(row.key).key.meaning),
        kLimitGroup);
    if (row.max)
      add(fmt::format("max-{}", row.name), "N", fmt::format("limit --{}", row.name), kLimitGroup);
    if (row.no)
      add_switch(fmt::format("no-{}", row.name), fmt::format("the same as --{} 1", row.name),
                 kLimitGroup);
  }
  for (const ChoiceOption& row : kChoiceOptions)
    add(std::string(row.name), find_key_row(row.key).key.values,
        fmt::format("fix it: {}", find_key_row(row.key).key.meaning), kLimitGroup);
  for (const TextOption& row : kTextOptions)
    add(std::string(row.name), row.type, std::string(row.help), kSearchGroup);
  for (const SwitchOption& row : kSwitches)
    add_switch(std::string(row.name), row.help, kSearchGroup);
  return all;
}

MaybeRefusal refuse_option(std::string_view name, const std::optional<Diagnostic>& fault) {
  if (!fault) return std::nullopt;
  return make_usage_refusal(fmt::format("--{}: {}", name, fault->detail), fault->hint);
}

/// Reads an option's value with the reader of the plan-file key that it replaces.
MaybeRefusal read_key(std::string_view name, std::string_view key, const std::string& value,
                      importer::Draft& draft) {
  return refuse_option(name, read_key_option(name, key, value, draft));
}

/// Reads the texts of options into a request, group by group, so that the same error is reported
/// for the same input.
class OptionReader {
 public:
  explicit OptionReader(const OptionTexts& texts) : texts_(texts) {}

  Outcome<PlanRequest> read() {
    for (MaybeRefusal (OptionReader::*part)() :
         {&OptionReader::check_names, &OptionReader::read_numbers, &OptionReader::read_choices,
          &OptionReader::read_target, &OptionReader::read_amounts, &OptionReader::read_others,
          &OptionReader::check_combinations})
      if (MaybeRefusal fault = (this->*part)()) return tl::unexpected<Refusal>(std::move(*fault));
    return std::move(request_);
  }

 private:
  /// Returns the text of an option; empty if it is not given.
  const std::string& text(std::string_view name) const {
    static const std::string none;
    const auto found = texts_.find(std::string(name));
    return found == texts_.end() ? none : found->second;
  }
  bool is_set(std::string_view name) const { return text(name) == "true"; }

  MaybeRefusal check_names() {
    std::vector<std::string> names;
    for (const PlanOption& option : plan_options()) names.push_back(option.name);
    for (const auto& [name, value] : texts_) {
      const auto row = std::find(names.begin(), names.end(), name);
      if (row == names.end())
        return unknown_name({.what = "option", .word = name, .known = names, .otherwise = ""});
      const bool is_switch = !plan_options()[std::size_t(row - names.begin())].takes_value;
      if (is_switch && !value.empty() && value != "true" && value != "false")
        return make_usage_refusal(fmt::format("--{} takes no value", name), "");
    }
    return std::nullopt;
  }

  MaybeRefusal read_numbers() {
    for (const NumberOption& row : kNumberOptions) {
      search::Range& range = request_.limits.*row.range;
      const std::string exact(row.name), max = fmt::format("max-{}", row.name),
                                         no = fmt::format("no-{}", row.name);
      std::string bound;  // the option that sets the upper limit
      const auto value = [&](const std::string& name, i64& into) -> MaybeRefusal {
        importer::Draft draft;
        if (MaybeRefusal fault = read_key(name, row.key, text(name), draft)) return fault;
        into = *row.value(draft);
        return std::nullopt;
      };
      if (row.max && !text(max).empty()) {
        if (MaybeRefusal fault = value(max, range.max)) return fault;
        bound = fmt::format("--{} {}", max, range.max);
      }
      if (row.no && is_set(no)) {
        range.max = 1;
        bound = "--" + no;
      }
      if (text(exact).empty()) continue;
      i64 n = 0;
      if (MaybeRefusal fault = value(exact, n)) return fault;
      if (n > range.max)
        return make_usage_refusal(fmt::format("--{} {} contradicts {}", exact, n, bound),
                                  fmt::format("--{} {} alone, or {} alone", exact, n, bound));
      range = {n, n};
    }
    return std::nullopt;
  }

  MaybeRefusal read_choices() {
    for (const ChoiceOption& row : kChoiceOptions) {
      if (text(row.name).empty()) continue;
      importer::Draft draft;
      if (MaybeRefusal fault = read_key(row.name, row.key, text(row.name), draft)) return fault;
      row.set(draft, request_.limits);
    }
    request_.limits.even = is_set("even-stages");
    request_.limits.hybrid = !is_set("no-hybrid");
    return std::nullopt;
  }

  MaybeRefusal read_target() {
    Outcome<std::optional<rules::Target>> target = rankwright::planner::read_target(text("for"));
    if (!target) return std::move(target.error());
    request_.target = *target;
    return std::nullopt;
  }

  MaybeRefusal read_amounts() {
    MaybeRefusal fault;
    // Reads the value of an option, unless it is not given or an earlier one had an error.
    const auto read = [&](std::string_view name, auto parse, auto take) {
      const std::string& value = text(name);
      if (value.empty() || fault) return;
      auto parsed = parse(value);
      if (parsed)
        take(std::move(*parsed));
      else
        fault = make_usage_refusal(fmt::format("--{}: {}", name, parsed.error().detail),
                                   parsed.error().hint);
    };
    PlanRequest& r = request_;
    read("max-memory", parse_memory_limit, [&](MemoryLimit limit) { r.max_memory = limit; });
    read("nodes", parse_nodes, [&](i64 n) { r.nodes = n; });
    read("gpus-per-node", parse_nodes, [&](i64 n) { r.gpus_per_node = n; });
    read("top", parse_top, [&](i64 n) { r.top = n; });
    read("budget", parse_budget, [&](Price price) { r.training.budget = std::move(price); });
    read("gpus", parse_gpus, [&](search::Range range) { r.gpus = range; });
    read("exclude-nodes", parse_excluded, [&](ExcludedHosts out) { r.excluded = std::move(out); });
    read("exclude-count", parse_excluded_count, [&](ExcludedHosts out) { r.excluded = out; });
    read("tokens", parse_tokens, [&](double n) { r.training.tokens = n; });
    read("price", parse_price, [&](Price price) { r.training.price = std::move(price); });
    read("days", parse_days, [&](Seconds time) { r.training.deadline = time; });
    read("search-time", parse_search_time, [&](Seconds time) { r.budget.time = time; });
    read("search-memory", parse_bytes, [&](Bytes size) { r.budget.memory = size; });
    read("threads", parse_threads, [&](int n) { r.threads = n; });
    return fault;
  }

  MaybeRefusal read_others() {
    request_.model = text("model");
    request_.cluster = text("cluster");
    if (!text("calibrate").empty()) request_.log = SourceFile{.name = text("calibrate")};
    if (!text("ran").empty()) request_.ran = SourceFile{.name = text("ran")};
    for (const KeyOption& row : key_options())
      if (!text(row.name).empty()) request_.overrides[std::string(row.name)] = text(row.name);
    request_.fit = is_set("fit");
    request_.allow_offload = is_set("allow-offload");
    if (const std::string& objective = text("objective"); !objective.empty()) {
      const std::span<const std::string_view> names = objective_names();
      const auto found = std::find(names.begin(), names.end(), objective);
      if (found == names.end())
        return make_usage_refusal(fmt::format("--objective: unknown objective '{}'", objective),
                                  "--objective max-seq, max-batch or time");
      request_.objective = Objective(found - names.begin());
    }
    request_.exhaustive = is_set("exhaustive");
    return std::nullopt;
  }

  MaybeRefusal check_combinations() {
    const PlanRequest& r = request_;
    if (!r.log && r.ran)
      return make_usage_refusal("--ran belongs to --calibrate",
                                "--calibrate run.log --ran plan.yaml");
    if (r.fit && r.gpus)
      return make_usage_refusal("--fit finds the number of GPUs, --gpus states it",
                                "use one of the two");
    if (!text("exclude-nodes").empty() && !text("exclude-count").empty())
      return make_usage_refusal("--exclude-nodes lists hosts, --exclude-count counts them",
                                "use one of the two");
    if (r.excluded && (r.fit || r.gpus))
      return make_usage_refusal(
          "--exclude-nodes and --gpus or --fit both state the size of the job",
          "use --exclude-nodes alone: it uses as many of the other hosts as is fastest");
    if (r.objective != Objective::time && (r.fit || r.several_counts()))
      return make_usage_refusal("--objective needs one number of GPUs", "--gpus with one number");
    if (r.nodes && r.gpus)
      return make_usage_refusal("--nodes and --gpus both state the size of the job",
                                "use one of the two");
    if (r.gpus_per_node && !r.nodes)
      return make_usage_refusal("--gpus-per-node needs the number of nodes",
                                fmt::format("--nodes 8 --gpus-per-node {}", *r.gpus_per_node));
    if (r.nodes && (r.fit || r.excluded))
      return make_usage_refusal(
          "--nodes states the size of the job, --fit and --exclude-nodes "
          "choose it",
          "use one of them");
    if (r.training.budget && !r.training.price)
      return make_usage_refusal("--budget needs the price of a GPU-hour", "--price 2.10");
    if (r.top > 0 && r.several_counts())
      return make_usage_refusal(
          "--top lists plans for one number of GPUs, --gpus A..B asks for "
          "several",
          "use --gpus with one number");
    if (!r.training.tokens && (r.training.deadline || r.training.price))
      return make_usage_refusal(fmt::format("{} needs the number of training tokens",
                                            r.training.deadline ? "--days" : "--price"),
                                "--tokens 15T");
    return std::nullopt;
  }

  const OptionTexts& texts_;
  PlanRequest request_{};
};

}  // namespace

std::span<const PlanOption> plan_options() {
  static const std::vector<PlanOption> rows = list_options();
  return rows;
}

Outcome<PlanRequest> read_plan_options(const OptionTexts& texts) {
  return OptionReader(texts).read();
}

std::optional<Refusal> apply_overrides(const OptionTexts& overrides, importer::Draft& draft) {
  const std::optional<Diagnostic> fault = apply_key_options(overrides, draft);
  return refuse_option(fault ? fault->where.file.substr(2) : std::string(), fault);
}

}  // namespace rankwright::planner
