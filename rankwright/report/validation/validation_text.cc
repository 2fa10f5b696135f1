#include "rankwright/report/validation/validation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/report/render/table.h"

namespace rankwright::report {
namespace {

constexpr std::size_t kProseWidth = 96;  // of prose
constexpr std::size_t kId = 42;          // of a row's ID
constexpr std::size_t kMaxSweeps =
    20;  // more sweeps of a family are summarized unless all are requested

Table make_error_table(std::string_view title) {
  return {{{std::string(title)},
           {"rows", kRight},
           {"MAPE", kRight},
           {"bias", kRight},
           {"p90", kRight},
           {"worst", kRight},
           {"which"}}};
}

/// Adds a row of errors. Over families the worst is a MAPE, which has no sign.
void add_errors(Table& table, std::string label, const validate::ErrorStats& e,
                bool families = false) {
  if (e.rows == 0) return;
  table.rows.push_back({std::move(label), count(e.rows), format_exact_percent(e.mean_absolute),
                        format_signed_percent(e.bias), format_exact_percent(e.p90),
                        families ? format_exact_percent(e.worst) : format_signed_percent(e.worst),
                        make_excerpt(e.worst_id, kId)});
}

std::string write_heading(const validate::Validation& v, const planner::ValidationSource& source) {
  const std::size_t rows = v.rows.size();
  std::string text;
  if (v.options.mode == validate::Mode::shipped)
    text = fmt::format("{} with the shipped constants.", plural(i64(rows), "run", "runs"));
  else
    text = fmt::format("{}, each with constants fitted without its publication.",
                       plural(i64(rows), "run", "runs"));
  if (v.options.calibrate_one)
    text +=
        " The first row of each family, GPU and precision calibrates the others by half of its "
        "error and is not scored.";
  text += fmt::format(
      " {} have quality A or B; {} of them can be predicted ({}). Error: predicted / measured - 1. "
      "MAPE: mean absolute error. p90: nine of ten rows are within it.",
      plural(i64(rows + source.excluded.size()), "row", "rows"), count(i64(rows)),
      format_exact_percent(source.share(rows)));
  std::string out = wrap_text(text, kProseWidth, "");
  for (const std::string& family : v.at_priors)
    out += wrap_text(fmt::format("{}: no other publication to fit on, so the constants keep their "
                                 "priors. Add rows with --with FILE.",
                                 make_excerpt(family)),
                     kProseWidth, "");
  return out;
}

std::string describe_sweep(const validate::Score& s) {
  std::string text = fmt::format(
      "{} of layouts: the predicted best is {} slower than the measured best on average",
      plural(i64(s.sweeps.size()), "sweep", "sweeps"), format_exact_percent(s.mean_regret));
  const auto sparse = std::count_if(s.sweeps.begin(), s.sweeps.end(),
                                    [](const validate::Sweep& one) { return one.sparse; });
  if (sparse > 0 && sparse < i64(s.sweeps.size()))
    text += fmt::format(", of the {} with experts {}", sparse,
                        format_exact_percent(s.mean_sparse_regret));
  text += fmt::format("; rank correlation (Spearman) {:.3f}", s.mean_spearman);
  if (!s.models.empty())
    text +=
        fmt::format(", {:.3f} over the models of vTrain's multi-node runs", s.mean_model_spearman);
  return text + ".";
}

/// Describes how well the difference of two plans of one job is predicted.
std::string describe_pairs(std::string_view kind, const validate::PairErrors& e) {
  if (e.groups == 0) return {};
  const std::string text = fmt::format(
      "Comparing two plans of one {} model on the same GPUs: the predicted ratio is within {} for "
      "half of the pairs, and within {} for nine of ten ({} in {}).",
      kind, format_exact_percent(e.median), format_exact_percent(e.p90),
      plural(e.pairs, "pair", "pairs"), plural(e.groups, "group", "groups"));
  return "\n" + wrap_text(text, kProseWidth, "");
}

std::string write_totals(const validate::Validation& v, const Paint& paint) {
  const validate::Score& s = v.score;
  Table table = make_error_table("step time");
  add_errors(table, "all", s.all);
  add_errors(table, "dense", s.dense);
  add_errors(table, "MoE", s.sparse);
  add_errors(table, "families", s.over_families, true);
  add_errors(table, "dense families", s.dense_over_families, true);
  add_errors(table, "MoE families", s.sparse_over_families, true);
  std::string out = table.rows.empty() ? "no step times to score\n" : table.text(paint);

  Table beside{{{"on the same rows"},
                {"rows", kRight},
                {"MAPE", kRight},
                {"bias", kRight},
                {"here", kRight},
                {"bias", kRight}}};
  for (const validate::PredictorComparison* other : {&s.calculon, &s.baseline, &s.medians_removed})
    if (other->theirs.rows > 0)
      beside.rows.push_back({other->theirs.name, count(other->theirs.rows),
                             format_exact_percent(other->theirs.mean_absolute),
                             format_signed_percent(other->theirs.bias),
                             format_exact_percent(other->ours.mean_absolute),
                             format_signed_percent(other->ours.bias)});
  if (!beside.rows.empty()) out += "\n" + beside.text(paint);

  Table memory = make_error_table("memory");
  add_errors(memory, "all", s.memory);
  if (s.memory_sparse.rows > 0) {
    add_errors(memory, "dense", s.memory_dense);
    add_errors(memory, "MoE", s.memory_sparse);
  }
  if (s.memory_eight_bits.rows > 0) add_errors(memory, "8-bit matmuls", s.memory_eight_bits);
  add_errors(memory, "allocated", s.allocated);
  add_errors(memory, "reserved", s.reserved);
  if (!memory.rows.empty()) out += "\n" + memory.text(paint);
  out += describe_pairs("dense", s.dense_pairs) + describe_pairs("MoE", s.sparse_pairs);
  if (!s.sweeps.empty()) out += "\n" + wrap_text(describe_sweep(s), kProseWidth, "");
  return out;
}

std::string write_mechanisms(const validate::Score& s, const Paint& paint) {
  if (s.sparse_mechanisms.empty()) return {};
  Table table{
      {{"MoE by"}, {""}, {"rows", kRight}, {"MAPE", kRight}, {"bias", kRight}, {"p90", kRight}}};
  std::string_view last;
  for (const validate::MechanismErrors& m : s.sparse_mechanisms) {
    table.rows.push_back({m.mechanism == last ? "" : std::string(m.mechanism), m.errors.name,
                          count(m.errors.rows), format_exact_percent(m.errors.mean_absolute),
                          format_signed_percent(m.errors.bias),
                          format_exact_percent(m.errors.p90)});
    last = m.mechanism;
  }
  return "\n" + table.text(paint);
}

/// Writes the slowdowns by offload, and how many are right.
std::string write_slowdowns(const validate::Score& s, const Paint& paint) {
  if (s.slowdowns.empty()) return {};
  Table table{
      {{"slowdown by offload"}, {"measured", kRight}, {"predicted", kRight}, {"ratio", kRight}}};
  i64 right = 0, near = 0;
  for (const validate::Slowdown& one : s.slowdowns) {
    right += one.right_sign() ? 1 : 0;
    near += one.within_factor() ? 1 : 0;
    table.rows.push_back({make_excerpt(one.id, 40), fmt::format("{:.2f}x", one.measured),
                          fmt::format("{:.2f}x", one.predicted),
                          fmt::format("{:.2f}", one.predicted / one.measured)});
  }
  const i64 all = i64(s.slowdowns.size());
  const std::string sum = fmt::format(
      "Of {} slowdowns by offload {} are right in sign (more than 2 % slower, or not) "
      "and {} within a factor of 1.5 ({}).",
      count(all), count(right), count(near), format_exact_percent(double(near) / double(all)));
  return "\n" + table.text(paint) + "\n" + wrap_text(sum, kProseWidth, "");
}

/// Writes the effects of settings on one figure, and how many are right; with `all` each of them.
std::string write_effects(const validate::Score& s, validate::Figure figure, bool all,
                          const Paint& paint) {
  struct Sum {
    i64 pairs = 0, signs = 0, sizes = 0;
  };
  std::map<std::string, Sum> kinds;
  Sum total;
  Table each{{{"effect"}, {"from"}, {"to"}, {"measured", kRight}, {"predicted", kRight}}};
  const bool memory = figure == validate::Figure::memory;
  const auto ratio = [&](double value) {  // peaks differ by less than steps
    return memory ? fmt::format("{:.3f}x", value) : fmt::format("{:.2f}x", value);
  };
  for (const validate::Effect& one : s.effects) {
    if (one.figure != figure) continue;
    for (Sum* sum : {&kinds[one.kind], &total}) {
      ++sum->pairs;
      sum->signs += one.right_sign() ? 1 : 0;
      sum->sizes += one.right_size() ? 1 : 0;
    }
    each.rows.push_back({make_excerpt(one.kind, 17), make_excerpt(one.base, 36),
                         make_excerpt(one.changed, 36), ratio(one.measured), ratio(one.predicted)});
  }
  if (total.pairs == 0) return {};
  Table table{{{memory ? "effect on memory of" : "effect of"},
               {"pairs", kRight},
               {"right sign", kRight},
               {"within 2x", kRight}}};
  const auto share = [](i64 part, i64 of) {
    return format_exact_percent(double(part) / double(of));
  };
  const auto add = [&](std::string name, const Sum& sum) {
    table.rows.push_back({std::move(name), count(sum.pairs), share(sum.signs, sum.pairs),
                          share(sum.sizes, sum.pairs)});
  };
  for (const auto& [kind, sum] : kinds) add(make_excerpt(kind, 20), sum);
  add("all", total);
  const std::string out = "\n" + table.text(paint);
  return all ? out + "\n" + each.text(paint) : out;
}

std::string write_families(const validate::Score& s, const Paint& paint) {
  Table table = make_error_table("family");
  for (const validate::FamilyErrors& f : s.families)
    add_errors(table, make_excerpt(f.errors.name, 20), f.errors);
  std::string out = table.rows.empty() ? "" : "\n" + table.text(paint);
  Table memory = make_error_table("memory of");
  for (const validate::ErrorStats& f : s.memory_families)
    add_errors(memory, make_excerpt(f.name, 20), f);
  return out + (memory.rows.empty() ? "" : "\n" + memory.text(paint));
}

std::string write_sweeps(const validate::Score& s, bool all, const Paint& paint) {
  Table table{{{"sweep"}, {"rows", kRight}, {"Spearman", kRight}, {"regret", kRight}}};
  const auto line = [&](const std::string& name, std::size_t rows, double rank, double regret) {
    table.rows.push_back({make_excerpt(name, 66), count(i64(rows)), fmt::format("{:.3f}", rank),
                          format_exact_percent(regret)});
  };
  for (auto begin = s.sweeps.begin(); begin != s.sweeps.end();) {
    const auto end = std::find_if(begin, s.sweeps.end(), [&](const validate::Sweep& one) {
      return one.family != begin->family;
    });
    const std::size_t size = std::size_t(end - begin);
    if (all || size <= kMaxSweeps) {
      for (auto one = begin; one != end; ++one)
        line(one->name, one->rows, one->spearman, one->regret);
    } else {
      std::size_t rows = 0;
      double rank = 0, regret = 0;
      for (auto one = begin; one != end; ++one) {
        rows += one->rows;
        rank += one->spearman / double(size);
        regret += one->regret / double(size);
      }
      line(fmt::format("{}: mean of {} sweeps, --all lists them", begin->family, size), rows, rank,
           regret);
    }
    begin = end;
  }
  return table.rows.empty() ? "" : "\n" + table.text(paint);
}

/// Returns the range of a constant over all refits.
std::string format_range(const validate::Validation& v, const catalog::ConstantRow& row) {
  double low = INFINITY, high = -INFINITY;
  for (const auto& [publication, values] : v.refits) {
    low = std::min(low, values[row.constant]);
    high = std::max(high, values[row.constant]);
  }
  return fmt::format("{:.4g} to {:.4g}", low, high);
}

std::string write_constants(const validate::Validation& v, const Paint& paint) {
  Table table{{{"fitted constant"}, {"shipped"}, {"prior", kRight}}};
  if (!v.refits.empty()) table.columns.push_back({"refits", kRight});
  table.columns.push_back({"from"});
  std::string others;
  for (const catalog::ConstantRow& row : catalog::constants()) {
    if (row.found != catalog::Found::fitted) {
      others += fmt::format("{}{} {:.4g}{}{} ({})", others.empty() ? "" : ", ", row.name, row.value,
                            row.unit.empty() ? "" : " ", row.unit, name(row.found));
      continue;
    }
    std::vector<std::string> cells{row.name, fmt::format("{:.4g} {}", row.value, row.unit),
                                   fmt::format("{:.4g}", row.prior)};
    if (!v.refits.empty())
      cells.push_back(catalog::is_fitted_to_runs(row.data) ? format_range(v, row) : "not refitted");
    // With the refits there is no room for the source of the prior.
    cells.push_back(make_excerpt(
        v.refits.empty() ? row.origin : row.origin.substr(0, row.origin.find(';')), 59));
    table.rows.push_back(std::move(cells));
  }
  const std::string rest =
      fmt::format("Not fitted: {}, and the data sheets of `rankwright catalog devices`.", others);
  return fmt::format("\n{}\n{}", table.text(paint), wrap_text(rest, kProseWidth, ""));
}

/// Lists the excluded rows by reason.
std::string write_excluded(const planner::ValidationSource& source) {
  std::vector<std::pair<std::string, std::string>> reasons;  // reason and row IDs
  for (const validate::Excluded& one : source.excluded) {
    const auto found = std::find_if(reasons.begin(), reasons.end(),
                                    [&](const auto& reason) { return reason.first == one.why; });
    if (found == reasons.end())
      reasons.push_back({one.why, make_excerpt(one.id, kId)});
    else
      found->second += ", " + make_excerpt(one.id, kId);
  }
  std::string out;
  for (const auto& [why, ids] : reasons)
    out += wrap_text(fmt::format("{}: {}", why, ids), kProseWidth, "  ");
  return out.empty() ? "\nexcluded: none\n" : "\nexcluded\n" + out;
}

/// Lists the settings that the model chose because the run does not state them: "mb2 v4".
std::string list_chosen(const validate::ScoredRun& row) {
  const plan::Plan& plan = row.config->plan;
  std::string text;
  const auto say = [&](bool open, const std::string& words) {
    if (open) text += (text.empty() ? "" : " ") + words;
  };
  say(row.run->open_micro_batch, fmt::format("mb{}", plan.micro_batch));
  say(row.run->open_chunks, fmt::format("v{}", plan.virtual_stages));
  say(row.run->open_recompute, std::string(name(plan.recompute)));
  say(row.run->open_zero, fmt::format("zero{}", plan.zero));
  return text;
}

std::string write_rows(const validate::Validation& v, const Paint& paint) {
  Table table{{{"run"},
               {"predicted", kRight},
               {"measured", kRight},
               {"error", kRight},
               {"memory", kRight},
               {"blanks"}}};
  for (const validate::ScoredRun& row : v.rows) {
    const bool timed = row.timed();
    table.rows.push_back({make_excerpt(row.run->id, kId - 2), timed ? show(row.step) : "",
                          timed ? show(row.run->measured) : "",
                          row.calibrates ? "calibrates"
                          : timed        ? format_signed_percent(row.error())
                                         : "",
                          row.memory.value > 0 ? format_signed_percent(row.memory_error()) : "",
                          list_chosen(row)});
  }
  return "\n" + table.text(paint);
}

}  // namespace

std::string render_validation_text(const validate::Validation& v,
                                   const planner::ValidationSource& source, bool all,
                                   const Paint& paint) {
  std::string out =
      write_heading(v, source) + "\n" + write_totals(v, paint) + write_slowdowns(v.score, paint) +
      write_effects(v.score, validate::Figure::speed, all, paint) +
      write_effects(v.score, validate::Figure::memory, all, paint) +
      write_families(v.score, paint) + write_mechanisms(v.score, paint) +
      write_sweeps(v.score, all, paint) + write_constants(v, paint) + write_excluded(source);
  if (all) out += write_rows(v, paint);
  return out;
}

std::string write_fitted_csv(const cluster::Calibration& fitted) {
  std::string text = "constant,shipped,fitted\n";
  for (const catalog::ConstantRow& row : catalog::constants())
    if (catalog::is_fitted_to_runs(row.data))
      text += fmt::format("{},{:.4g},{:.4g}\n", row.name, row.value, fitted[row.constant]);
  return text;
}

}  // namespace rankwright::report
