#include "rankwright/validate/score.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <tuple>

#include "rankwright/cost/step.h"
#include "rankwright/model/flops.h"
#include "rankwright/validate/calculon.h"

namespace rankwright::validate {
namespace {

constexpr std::size_t kMinLayouts = 4;  // distinct layouts in a sweep
constexpr double kShrink = 0.5;         // part of the calibration row's log error that is applied

double mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

/// Computes the rank of each value; ties share their mean rank.
std::vector<double> rank_values(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> rank(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t j = i;
    while (j + 1 < order.size() && values[order[j + 1]] == values[order[i]]) ++j;
    for (std::size_t k = i; k <= j; ++k) rank[order[k]] = double(i + j) / 2;
    i = j + 1;
  }
  return rank;
}

using Key = std::tuple<std::string, std::string, std::string, bool>;
Key calibration_key(const Run& run) { return {run.family, run.gpu, run.precision, run.sparse}; }

double model_flops(const Run& run) {
  const plan::Job& job = run.config.job;
  return training_flops_per_token(run.config.model, job.sequence,
                                  model::FlopsConvention::megatron_causal)
             .value *
         double(job.global_batch) * double(job.sequence) / double(run.config.world);
}

/// Returns the median of sorted values without the one at index `out`. Requires: at least two
/// values.
double median_without(const std::vector<double>& sorted, std::size_t out) {
  const auto other = [&](std::size_t k) { return sorted[k < out ? k : k + 1]; };
  const std::size_t others = sorted.size() - 1, half = others / 2;
  return others % 2 == 1 ? other(half) : (other(half - 1) + other(half)) / 2;
}

/// Sets the errors of the constant-MFU baseline (V6): model FLOPs at the median rate of the other
/// rows with the same device and precision.
void set_baselines(std::vector<ScoredRun>& rows) {
  const auto rate = [](const ScoredRun& row) {
    return model_flops(*row.run) / row.run->measured.value;
  };
  std::map<std::pair<std::string, plan::Matmul>, std::vector<ScoredRun*>> kinds;
  for (ScoredRun& row : rows)
    if (row.timed())
      kinds[{row.run->config.cluster.device.name, row.run->config.job.matmul}].push_back(&row);
  for (auto& [kind, members] : kinds) {
    if (members.size() < 2) continue;
    std::stable_sort(members.begin(), members.end(),
                     [&](const ScoredRun* a, const ScoredRun* b) { return rate(*a) < rate(*b); });
    std::vector<double> rates;
    for (const ScoredRun* row : members) rates.push_back(rate(*row));
    for (std::size_t i = 0; i < members.size(); ++i)
      members[i]->baseline = rates[i] / median_without(rates, i) - 1;
  }
}

Sweep score_sweep(std::string name, const std::vector<const ScoredRun*>& rows) {
  const auto faster = [](const ScoredRun* a, const ScoredRun* b) {
    return a->run->measured < b->run->measured;
  };
  const auto predicted = [](const ScoredRun* a, const ScoredRun* b) { return a->step < b->step; };
  const ScoredRun* best = *std::min_element(rows.begin(), rows.end(), faster);
  const ScoredRun* pick = *std::min_element(rows.begin(), rows.end(), predicted);
  std::vector<double> a, b;
  for (const ScoredRun* row : rows) {
    a.push_back(row->step.value);
    b.push_back(row->run->measured.value);
  }
  return {.family = rows.front()->run->family,
          .name = std::move(name),
          .sparse = rows.front()->run->sparse,
          .rows = rows.size(),
          .spearman = spearman(a, b),
          .regret = pick->run->measured / best->run->measured - 1,
          .picked = pick->run->id,
          .fastest = best->run->id};
}

void add_sweeps(Score& score, const std::vector<const ScoredRun*>& rows) {
  std::map<std::string, std::vector<const ScoredRun*>> sweeps;
  for (const ScoredRun* row : rows) {
    const Run& run = *row->run;
    sweeps[run.family + " · " + run.model + " · " + run.gpu + " x " +
           std::to_string(run.config.world) + " · " + std::to_string(run.config.job.global_batch) +
           " x " + std::to_string(run.config.job.sequence)]
        .push_back(row);
  }
  std::vector<double> regrets, sparse_regrets, correlations;
  for (const auto& [name, members] : sweeps) {
    std::set<std::string> layouts;
    for (const ScoredRun* row : members) layouts.insert(row->run->layout);
    if (layouts.size() < kMinLayouts) continue;
    score.sweeps.push_back(score_sweep(name, members));
    const Sweep& sweep = score.sweeps.back();
    regrets.push_back(sweep.regret);
    if (sweep.sparse) sparse_regrets.push_back(sweep.regret);
    correlations.push_back(sweep.spearman);
  }
  score.mean_regret = mean(regrets);
  score.mean_sparse_regret = mean(sparse_regrets);
  score.mean_spearman = mean(correlations);
}

void add_errors(Score& score, const std::vector<const ScoredRun*>& rows) {
  std::vector<Error> all, dense, sparse;
  std::map<std::pair<std::string, bool>, std::vector<Error>> families;
  for (const ScoredRun* row : rows) {
    const Error error{row->run->id, row->error()};
    all.push_back(error);
    (row->run->sparse ? sparse : dense).push_back(error);
    families[{row->run->family, row->run->sparse}].push_back(error);
  }
  score.all = compute_error_stats("all", all);
  score.dense = compute_error_stats("dense", dense);
  score.sparse = compute_error_stats("MoE", sparse);
  std::vector<ErrorStats> each, each_dense, each_sparse;
  for (const auto& [key, list] : families) {
    const auto& [family, is_sparse] = key;
    const ErrorStats one = compute_error_stats(family + (is_sparse ? " MoE" : ""), list);
    score.families.push_back({family, is_sparse, one});
    each.push_back(one);
    (is_sparse ? each_sparse : each_dense).push_back(one);
  }
  score.over_families = average_families("all", each);
  score.dense_over_families = average_families("dense", each_dense);
  score.sparse_over_families = average_families("MoE", each_sparse);
}

struct Mechanism {
  std::string_view name;
  std::string (*value)(const plan::TrainingConfig&);
};
constexpr Mechanism kMechanisms[] = {
    {"GPU", [](const plan::TrainingConfig& s) { return std::string(s.cluster.device.name); }},
    {"software of", [](const plan::TrainingConfig& s) { return std::to_string(s.software.year); }},
    {"matmuls",
     [](const plan::TrainingConfig& s) {
       return std::string(s.job.matmul == plan::Matmul::same ? name(s.job.param_dtype)
                                                             : name(s.job.matmul));
     }},
    {"dispatcher",
     [](const plan::TrainingConfig& s) {
       return std::string(s.plan.ep == 1 ? "none" : name(s.plan.dispatcher));
     }},
    {"dispatch overlap",
     [](const plan::TrainingConfig& s) { return std::string(s.plan.overlap.ep ? "on" : "off"); }},
    {"kernel launch",
     [](const plan::TrainingConfig& s) { return std::string(name(s.software.launch)); }},
    {"expert kernel",
     [](const plan::TrainingConfig& s) { return std::string(name(s.software.experts)); }},
    {"ZeRO",
     [](const plan::TrainingConfig& s) { return std::string(s.plan.zero == 3 ? "3" : "0 to 2"); }},
    {"recomputation",
     [](const plan::TrainingConfig& s) { return std::string(name(s.plan.recompute)); }},
};

/// Adds the errors of the MoE rows by the value of each mechanism.
void add_mechanisms(Score& score, const std::vector<const ScoredRun*>& rows) {
  for (const Mechanism& mechanism : kMechanisms) {
    std::map<std::string, std::vector<Error>> by_value;
    for (const ScoredRun* row : rows)
      if (row->run->sparse)
        by_value[mechanism.value(*row->config)].push_back({row->run->id, row->error()});
    for (const auto& [value, list] : by_value)
      score.sparse_mechanisms.push_back({mechanism.name, compute_error_stats(value, list)});
  }
}

/// Adds the relative errors of runs that could be two plans of one job; batches and number formats
/// may differ. Models are compared by shape, because different models may have the same name.
void add_pairs(Score& score, const std::vector<const ScoredRun*>& rows) {
  using Place = std::tuple<bool, std::string, std::string, std::string, i64, i64>;
  struct Group {
    const model::Model* model;
    std::vector<double> logs{};
  };
  std::map<Place, std::vector<Group>> places;
  for (const ScoredRun* row : rows) {
    const Run& run = *row->run;
    const plan::TrainingConfig& config = run.config;
    std::vector<Group>& groups =
        places[{run.sparse, run.family, run.model, run.gpu, config.world, config.job.sequence}];
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& group) { return *group.model == config.model; });
    if (found == groups.end()) found = groups.insert(found, {&config.model});
    found->logs.push_back(std::log(row->step / run.measured));
  }
  std::vector<std::vector<double>> dense, sparse;
  for (const auto& [place, groups] : places)
    for (const Group& group : groups)
      (std::get<bool>(place) ? sparse : dense).push_back(group.logs);
  score.dense_pairs = compute_pair_errors(std::move(dense));
  score.sparse_pairs = compute_pair_errors(std::move(sparse));
}

/// Adds the errors of other predictors on the rows that they support, and ours on the same rows.
void add_others(Score& score, const std::vector<const ScoredRun*>& rows) {
  const auto compare = [&](std::string name, const auto& their_error) {
    std::vector<Error> theirs, ours;
    for (const ScoredRun* row : rows) {
      const std::optional<double> error = their_error(*row);
      if (!error) continue;
      theirs.push_back({row->run->id, *error});
      ours.push_back({row->run->id, row->error()});
    }
    return PredictorComparison{compute_error_stats(std::move(name), theirs),
                               compute_error_stats("here", ours)};
  };
  score.calculon =
      compare("Calculon", [](const ScoredRun& row) { return find_calculon_error(row.run->id); });
  score.baseline = compare("constant MFU", [](const ScoredRun& row) { return row.baseline; });
}

/// Adds the errors that are left of the MoE rows if each group that one row calibrates had its
/// predictions divided by the median of its own predicted / measured (V16).
void add_medians_removed(Score& score, const std::vector<const ScoredRun*>& rows) {
  std::map<Key, std::vector<double>> logs;
  for (const ScoredRun* row : rows)
    if (row->run->sparse) logs[calibration_key(*row->run)].push_back(std::log1p(row->error()));
  std::map<Key, double> medians;
  for (auto& [key, values] : logs) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    medians[key] = values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  }
  std::vector<Error> left, ours;
  for (const ScoredRun* row : rows) {
    if (!row->run->sparse) continue;
    const double rest = std::log1p(row->error()) - medians[calibration_key(*row->run)];
    left.push_back({row->run->id, std::expm1(rest)});
    ours.push_back({row->run->id, row->error()});
  }
  score.medians_removed = {compute_error_stats("MoE without medians", left),
                           compute_error_stats("here", ours)};
}

/// Adds the rank correlation for each model of vTrain's multi-node rows, and the mean over models.
void add_models(Score& score, const std::vector<const ScoredRun*>& rows) {
  std::map<std::string, std::vector<const ScoredRun*>> models;
  for (const ScoredRun* row : rows)
    if (row->run->family == "vtrain") models[row->run->model].push_back(row);
  std::vector<double> correlations;
  for (const auto& [name, members] : models) {
    score.models.push_back(score_sweep(name, members));
    correlations.push_back(score.models.back().spearman);
  }
  score.mean_model_spearman = mean(correlations);
}

void add_memory(Score& score, const std::vector<ScoredRun>& rows) {
  std::vector<Error> all, allocated, reserved, dense, sparse, eight_bits;
  std::map<std::string, std::vector<Error>> families;
  for (const ScoredRun& row : rows) {
    if (!row.weighed()) continue;
    const Error error{row.run->id, row.memory_error()};
    all.push_back(error);
    (row.run->memory_figure == MemoryFigure::allocated ? allocated : reserved).push_back(error);
    (row.run->sparse ? sparse : dense).push_back(error);
    const plan::Matmul format = row.config->job.matmul;
    if (format == plan::Matmul::fp8 || format == plan::Matmul::mxfp8) eight_bits.push_back(error);
    families[row.run->family].push_back(error);
  }
  score.memory_dense = compute_error_stats("dense", dense);
  score.memory_sparse = compute_error_stats("MoE", sparse);
  score.memory_eight_bits = compute_error_stats("8-bit matmuls", eight_bits);
  score.memory = compute_error_stats("all", all);
  score.allocated = compute_error_stats("allocated", allocated);
  score.reserved = compute_error_stats("reserved", reserved);
  for (const auto& [name, list] : families)
    score.memory_families.push_back(compute_error_stats(name, list));
}

void add_slowdowns(Score& score, const std::vector<ScoredRun>& rows) {
  for (const ScoredRun& row : rows)
    if (row.slowdown > 0)
      score.slowdowns.push_back({row.run->id, row.run->measured_slowdown, row.slowdown});
}

/// Returns the seconds of one device per token.
double device_time(const ScoredRun& row, Seconds step) {
  return step.value /
         (double(row.run->config.job.global_batch) * double(row.run->config.job.sequence)) *
         double(row.run->config.world);
}

/// Predicts the slowdown of a run by offload (V13): the time that offload adds, over the measured
/// step without it or, if only the ratio is published, the predicted one.
double predict_slowdown(const Run& run, const plan::TrainingConfig& config, Seconds step,
                        const cluster::Calibration& values) {
  plan::TrainingConfig plain = config;
  plain.plan.offload = {};
  const Seconds without = cost::estimate_step_time(plain, values).total();
  return 1 + (step - without) / (run.measured_base.value > 0 ? run.measured_base : without);
}

/// Fits the constants without each publication in turn.
void refit(Validation& out, const std::vector<Case>& cases, const std::vector<Case>& also,
           const Progress& progress) {
  std::set<std::string> publications;
  for (const Case& one : cases) publications.insert(one.run.publication);
  for (const std::string& publication : publications) {
    progress(out.refits.size(), publications.size(), publication);
    std::vector<const Case*> others;
    for (const std::vector<Case>* list : {&cases, &also})
      for (const Case& one : *list)
        if (one.run.publication != publication) others.push_back(&one);
    if (others.empty()) out.at_priors.push_back(publication);
    out.refits[publication] = fit(others);
  }
}

}  // namespace

double spearman(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = rank_values(a), y = rank_values(b);
  const double mx = mean(x), my = mean(y);
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mx) * (y[i] - my);
    xx += (x[i] - mx) * (x[i] - mx);
    yy += (y[i] - my) * (y[i] - my);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

Score compute_score(const std::vector<ScoredRun>& rows) {
  Score score;
  std::vector<const ScoredRun*> timed;
  for (const ScoredRun& row : rows)
    if (row.timed() && !row.calibrates) timed.push_back(&row);
  add_errors(score, timed);
  add_mechanisms(score, timed);
  add_pairs(score, timed);
  add_others(score, timed);
  if (std::ranges::any_of(rows, &ScoredRun::calibrates)) add_medians_removed(score, timed);
  add_sweeps(score, timed);
  add_models(score, timed);
  add_memory(score, rows);
  add_slowdowns(score, rows);
  return score;
}

std::vector<Effect> score_effects(const std::vector<EffectPair>& pairs,
                                  const std::vector<ScoredRun>& rows) {
  std::map<std::string_view, const ScoredRun*> by_id;
  for (const ScoredRun& row : rows) by_id.emplace(row.run->id, &row);
  std::vector<Effect> effects;
  for (const EffectPair& pair : pairs) {
    const auto base = by_id.find(pair.base), changed = by_id.find(pair.changed);
    if (base == by_id.end() || changed == by_id.end()) continue;
    const ScoredRun &before = *base->second, &after = *changed->second;
    Effect effect{
        .kind = pair.kind, .base = pair.base, .changed = pair.changed, .figure = pair.figure};
    if (pair.figure == Figure::memory) {
      if (!before.weighed() || !after.weighed()) continue;
      effect.measured = after.run->measured_memory / before.run->measured_memory;
      effect.predicted = after.memory / before.memory;
    } else {
      if (!before.timed() || !after.timed()) continue;
      effect.measured =
          device_time(before, before.run->measured) / device_time(after, after.run->measured);
      effect.predicted = device_time(before, before.step) / device_time(after, after.step);
    }
    effects.push_back(std::move(effect));
  }
  return effects;
}

void calibrate_one(std::vector<ScoredRun>& rows) {
  std::map<Key, ScoredRun*> first;
  for (ScoredRun& row : rows) {
    if (!row.timed()) continue;
    ScoredRun*& best = first[calibration_key(*row.run)];
    if (best == nullptr || row.run->id < best->run->id) best = &row;
  }
  std::map<Key, double> factor;
  for (auto& [key, row] : first) {
    factor[key] = std::pow(row->run->measured / row->step, kShrink);
    row->calibrates = true;
  }
  for (ScoredRun& row : rows)
    if (const auto found = factor.find(calibration_key(*row.run)); found != factor.end())
      row.step = found->second * row.step;
}

Validation validate(const std::vector<Case>& cases, const std::vector<Case>& also,
                    ValidateOptions options, const Progress& progress) {
  Validation out{.options = options};
  if (options.mode == Mode::leave_one_family_out) refit(out, cases, also, progress);
  for (const Case& one : cases) {
    const auto found = out.refits.find(one.run.publication);
    const cluster::Calibration& values =
        found == out.refits.end() ? catalog::get_calibration() : found->second;
    const Prediction predicted = predict(one, values);
    const plan::TrainingConfig& config = one.options[predicted.option];
    ScoredRun row{.run = &one.run, .config = &config, .step = predicted.step};
    if (one.run.measured_memory.value > 0) row.memory = memory_figure(one.run, config, values);
    if (one.run.measured_slowdown > 0)
      row.slowdown = predict_slowdown(one.run, config, predicted.step, values);
    out.rows.push_back(row);
  }
  set_baselines(out.rows);
  if (options.calibrate_one) calibrate_one(out.rows);
  out.score = compute_score(out.rows);
  return out;
}

}  // namespace rankwright::validate
