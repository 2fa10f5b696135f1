#include "cli/plan_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "cli/plan_amounts.h"
#include "rankwright/base/check.h"
#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/base/suggest.h"
#include "rankwright/import/plan_keys.h"

namespace rankwright::cli {
namespace {

/// A flag that stands for a key of the plan file.
struct KeyFlag {
  std::string_view flag, key;
};
constexpr KeyFlag kKeyFlags[] = {
    {"--global-batch", "job.global_batch"},
    {"--seq", "job.sequence"},
    {"--param-dtype", "job.param_dtype"},
    {"--grad-dtype", "job.grad_dtype"},
    {"--matmul", "job.matmul"},
    {"--optimizer", "job.optimizer"},
    {"--framework", "software.framework"},
    {"--attention", "software.attention"},
    {"--launch", "software.launch"},
    {"--loss", "software.loss"},
    {"--tuned", "software.tuned"},
    {"--overlap-grad-reduce", "parallelism.overlap.grad_reduce"},
    {"--overlap-param-gather", "parallelism.overlap.param_gather"},
    {"--overlap-tp", "parallelism.overlap.tp"},
    {"--overlap-pp", "parallelism.overlap.pp"},
};

/// A number of the plan: --NAME says what it is, --max-NAME what it is at most, --no-NAME that it
/// is 1.
struct NumberFlag {
  std::string_view name, key;
  std::optional<i64> (*value)(const Draft&);
  Range Limits::*range;
  bool max = false, no = false;
};
constexpr NumberFlag kNumberFlags[] = {
    {"tp", "parallelism.tp_size", [](const Draft& d) { return d.tp; }, &Limits::tp, true, true},
    {"cp", "parallelism.cp_size", [](const Draft& d) { return d.cp; }, &Limits::cp, true, true},
    {"pp", "parallelism.pp_size", [](const Draft& d) { return d.pp; }, &Limits::pp, true, true},
    {"dp", "parallelism.dp_size", [](const Draft& d) { return d.dp; }, &Limits::dp, true, true},
    {"ep", "parallelism.ep_size", [](const Draft& d) { return d.ep; }, &Limits::ep, true, true},
    {"etp", "parallelism.etp_size", [](const Draft& d) { return d.etp; }, &Limits::etp},
    {"zero", "parallelism.zero_stage",
     [](const Draft& d) { return d.zero ? std::optional<i64>(*d.zero) : std::nullopt; },
     &Limits::zero, true},
    {"micro-batch", "parallelism.micro_batch", [](const Draft& d) { return d.micro_batch; },
     &Limits::micro_batch},
    {"chunks", "parallelism.virtual_stages", [](const Draft& d) { return d.virtual_stages; },
     &Limits::chunks},
};

/// A choice of the plan that is left open where it is not given.
struct ChoiceFlag {
  std::string_view flag, key;
  void (*set)(const Draft&, Limits&);
};
constexpr ChoiceFlag kChoiceFlags[] = {
    {"--recompute", "parallelism.recompute",
     [](const Draft& d, Limits& l) { l.recompute = d.recompute; }},
    {"--schedule", "parallelism.schedule",
     [](const Draft& d, Limits& l) { l.schedule = d.schedule; }},
    {"--sequence-parallel", "parallelism.sequence_parallel",
     [](const Draft& d, Limits& l) { l.sequence_parallel = d.sequence_parallel; }},
    {"--cp-comm", "parallelism.cp_comm", [](const Draft& d, Limits& l) { l.cp_comm = d.cp_comm; }},
    {"--order", "parallelism.order", [](const Draft& d, Limits& l) { l.order = d.order; }},
};

/// A flag with a value of its own, read in amounts().
struct TextFlag {
  std::string_view flag, type, help;
};
constexpr TextFlag kTextFlags[] = {
    {"--for", "TARGET", "only what this framework runs without a warning"},
    {"--max-memory", "SIZE", "of a device that a plan may take: 72GiB"},
    {"--gpus", "N or A..B", "use so many; of a range, the best plan on each count"},
    {"--exclude-nodes", "N or LIST", "hosts that are out: how many (4), or which (3,17,120-123)"},
    {"--tokens", "N", "to train on: 15T; steps, days and GPU-hours are said"},
    {"--price", "MONEY", "of a GPU-hour: 2.10, or with its currency"},
    {"--days", "N", "with --tokens: the deadline; of --gpus A..B the fewest that make it"},
    {"--calibrate", "LOG", "of a run (Megatron-LM, torchtitan) that prices start from"},
    {"--ran", "PLAN", "with --calibrate: the plan that ran; else the file's, or the log's own"},
    {"--threads", "N", "of the search; all there are if not given. The answer is the same"},
};

struct SwitchFlag {
  std::string_view flag, help;
};
constexpr SwitchFlag kSwitches[] = {
    {"--even-stages", "no stage split but the even one"},
    {"--no-hybrid", "ZeRO shards over all data ranks, never inside a level"},
    {"--fit", "the fewest GPUs of the cluster on which it fits"},
    {"--exhaustive", "price everything that fits: no bounds"},
    {"--markdown", "write Markdown"},
};

const KeyRow& key_row(std::string_view path) {
  const std::span<const KeyRow> rows = key_rows();
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const KeyRow& row) { return row.key.path == path; });
  RW_CHECK(found != rows.end());
  return *found;
}

/// A flag's value as the key's reader reads it.
std::optional<UsageFault> read_key(std::string_view flag, std::string_view key,
                                   const std::string& value, Draft& draft) {
  Diagnostics findings;
  FieldReader fields(flag, findings);
  Reading reading{fields, draft, refuse_file};
  YamlNode node;
  node.kind = YamlNode::Kind::scalar;
  node.scalar = value;
  key_row(key).read(reading, node);
  if (findings.empty()) return std::nullopt;
  const Diagnostic& first = findings.front();
  return UsageFault{
      fmt::format("{}: {}", flag, first.detail),
      first.hint.empty() ? fmt::format("{} takes {}", flag, key_row(key).key.values) : first.hint};
}

std::string flag_name(std::string_view prefix, std::string_view name) {
  return fmt::format("--{}{}", prefix, name);
}

}  // namespace

void SearchFlags::add_to(Options& options) {
  options.add("file", file_,
              "a plan file or -: its model, cluster, job and software; its plan is compared");
  options.add("--model", model_, "a name or a config.json");
  options.add("--cluster", cluster_, "\"dgx-h100 x 8\" or a cluster file");
  const auto text = [&](const std::string& flag, const std::string& help,
                        const std::string& group) {
    return options.add(flag, typed_[flag], help).group(group);
  };
  for (const KeyFlag& row : kKeyFlags) {
    const PlanKey& key = key_row(row.key).key;
    text(std::string(row.flag), std::string(key.meaning), "Job and software")
        .type_name(std::string(key.values));
  }
  for (const NumberFlag& row : kNumberFlags) {
    text(flag_name("", row.name), fmt::format("just this: {}", key_row(row.key).key.meaning),
         "Limits")
        .type_name("N");
    if (row.max) text(flag_name("max-", row.name), "no more than this", "Limits").type_name("N");
    if (row.no) {
      const std::string flag = flag_name("no-", row.name);
      options.add_switch(flag, set_[flag], "none of it").group("Limits");
    }
  }
  for (const ChoiceFlag& row : kChoiceFlags)
    text(std::string(row.flag), "just this", "Limits")
        .type_name(std::string(key_row(row.key).key.values));
  for (const TextFlag& row : kTextFlags)
    text(std::string(row.flag), std::string(row.help), "Search").type_name(std::string(row.type));
  for (const SwitchFlag& row : kSwitches)
    options.add_switch(std::string(row.flag), set_[std::string(row.flag)], std::string(row.help))
        .group("Search");
}

const std::string& SearchFlags::typed(const std::string& flag) const {
  const auto found = typed_.find(flag);
  RW_CHECK(found != typed_.end());
  return found->second;
}

bool SearchFlags::set(const std::string& flag) const {
  const auto found = set_.find(flag);
  RW_CHECK(found != set_.end());
  return found->second;
}

std::optional<UsageFault> SearchFlags::override(Draft& draft) const {
  for (const KeyFlag& row : kKeyFlags) {
    const std::string& value = typed(std::string(row.flag));
    if (value.empty()) continue;
    if (std::optional<UsageFault> fault = read_key(row.flag, row.key, value, draft)) return fault;
  }
  return std::nullopt;
}

std::optional<UsageFault> SearchFlags::limit(Limits& limits) const {
  for (const NumberFlag& row : kNumberFlags) {
    Range& range = limits.*row.range;
    const std::string exact = flag_name("", row.name), max = flag_name("max-", row.name),
                      no = flag_name("no-", row.name);
    std::string bound;  // the flag that says what it is at most
    const auto value = [&](const std::string& flag, i64& into) -> std::optional<UsageFault> {
      Draft draft;
      if (std::optional<UsageFault> fault = read_key(flag, row.key, typed(flag), draft))
        return fault;
      into = *row.value(draft);
      return std::nullopt;
    };
    if (row.max && !typed(max).empty()) {
      if (std::optional<UsageFault> fault = value(max, range.most)) return fault;
      bound = fmt::format("{} {}", max, range.most);
    }
    if (row.no && set(no)) {
      range.most = 1;
      bound = no;
    }
    if (typed(exact).empty()) continue;
    i64 n = 0;
    if (std::optional<UsageFault> fault = value(exact, n)) return fault;
    if (n > range.most)
      return UsageFault{fmt::format("{} {} contradicts {}", exact, n, bound),
                        fmt::format("{} {} alone, or {} alone", exact, n, bound)};
    range = {n, n};
  }
  return std::nullopt;
}

std::optional<UsageFault> SearchFlags::choose(Limits& limits) const {
  for (const ChoiceFlag& row : kChoiceFlags) {
    const std::string& value = typed(std::string(row.flag));
    if (value.empty()) continue;
    Draft draft;
    if (std::optional<UsageFault> fault = read_key(row.flag, row.key, value, draft)) return fault;
    row.set(draft, limits);
  }
  limits.even = set("--even-stages");
  limits.hybrid = !set("--no-hybrid");
  const std::string& target = typed("--for");
  if (target.empty()) return std::nullopt;
  if (const TargetRow* const row = find_target(target)) {
    limits.target = row->target;
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (const TargetRow& row : targets()) names.emplace_back(row.name);
  const std::optional<std::string> near = nearest(target, names);
  return UsageFault{fmt::format("there is no target '{}'", excerpt(target)),
                    near ? fmt::format("did you mean {}?", *near)
                         : fmt::format("--for takes {}", fmt::join(names, ", "))};
}

std::optional<UsageFault> SearchFlags::amounts(Wishes& wishes) const {
  std::optional<UsageFault> fault;
  // Reads the value of a flag that was given, unless one before it was at fault.
  const auto read = [&](std::string_view flag, auto parse, auto take) {
    const std::string& value = typed(std::string(flag));
    if (value.empty() || fault) return;
    auto parsed = parse(value);
    if (parsed)
      take(std::move(*parsed));
    else
      fault = UsageFault{fmt::format("{}: {}", flag, parsed.error().detail), parsed.error().hint};
  };
  read("--max-memory", parse_bytes, [&](Bytes size) { wishes.memory = size; });
  read("--gpus", parse_gpus, [&](Range range) { wishes.gpus = range; });
  read("--exclude-nodes", parse_excluded, [&](Excluded out) { wishes.excluded = std::move(out); });
  read("--tokens", parse_tokens, [&](double n) { wishes.training.tokens = n; });
  read("--price", parse_price, [&](Price price) { wishes.training.price = std::move(price); });
  read("--days", parse_days, [&](Seconds time) { wishes.training.deadline = time; });
  read("--threads", parse_threads, [&](int n) { wishes.threads = n; });
  return fault;
}

std::optional<UsageFault> SearchFlags::read(Wishes& wishes) const {
  if (std::optional<UsageFault> fault = limit(wishes.limits)) return fault;
  if (std::optional<UsageFault> fault = choose(wishes.limits)) return fault;
  if (std::optional<UsageFault> fault = amounts(wishes)) return fault;
  wishes.calibrate = typed("--calibrate");
  wishes.ran = typed("--ran");
  if (wishes.calibrate.empty() && !wishes.ran.empty())
    return UsageFault{"--ran belongs to --calibrate", "--calibrate run.log --ran plan.yaml"};
  wishes.fit = set("--fit");
  wishes.exhaustive = set("--exhaustive");
  wishes.markdown = set("--markdown");
  if (wishes.fit && wishes.gpus)
    return UsageFault{"--fit finds the number of GPUs, --gpus states it", "one of the two"};
  if (wishes.excluded && (wishes.fit || wishes.gpus))
    return UsageFault{
        "--exclude-nodes says which GPUs are left, --gpus and --fit how many are used",
        "--exclude-nodes alone takes as many of what is left as it can"};
  const TrainingAsk& training = wishes.training;
  if (!training.tokens && (training.deadline || training.price))
    return UsageFault{fmt::format("{} needs to know how much is trained",
                                  training.deadline ? "--days" : "--price"),
                      "--tokens 15T"};
  return std::nullopt;
}

}  // namespace rankwright::cli
