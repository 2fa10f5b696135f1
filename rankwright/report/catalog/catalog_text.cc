#include "rankwright/report/catalog/catalog_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "rankwright/base/format.h"
#include "rankwright/base/suggest.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/catalog/failures.h"
#include "rankwright/catalog/glossary.h"
#include "rankwright/import/cluster/cluster_file.h"
#include "rankwright/import/plan/plan_keys.h"
#include "rankwright/model/flops.h"
#include "rankwright/model/parameters.h"
#include "rankwright/rules/rule.h"

namespace rankwright::report {
namespace {

using nlohmann::ordered_json;

std::string format_or_dash(FlopsPerSecond rate) { return rate.value > 0 ? show(rate) : "-"; }

Result<Table> refuse_unknown(std::string_view what, std::string_view name,
                             const std::vector<std::string>& known) {
  const std::optional<std::string> near = nearest(name, known);
  return fail({.code = "RW0908",
               .message = "unknown name",
               .detail = fmt::format("no {} is named '{}'", what, make_excerpt(name)),
               .hint = near ? fmt::format("did you mean {}?", *near)
                            : fmt::format("rankwright catalog {}s lists them", what)});
}

Table list_models() {
  Table table{{{"model"},
               {"parameters", kRight},
               {"active", kRight},
               {"layers", kRight},
               {"hidden", kRight},
               {"heads", kRight},
               {"kv", kRight},
               {"vocabulary", kRight},
               {"architecture"}}};
  for (const catalog::KnownModel& known : catalog::list_known_models()) {
    const model::Model& m = known.model;
    const model::Attention& a = m.layer(0).attention;
    table.rows.push_back({known.name, format_short_count(double(count_parameters(m).total())),
                          format_short_count(double(count_active_parameters(m))), count(m.layers()),
                          count(m.hidden), count(a.heads),
                          a.kind == model::Attention::Kind::latent ? "latent" : count(a.kv_heads),
                          count(m.vocab), m.architecture});
  }
  return table;
}

/// Shows parameters by layer and by kind, and FLOPs in both conventions.
Result<Table> show_model(std::string_view name) {
  const Result<model::Model> found = catalog::find_model(name);
  if (!found) return fail(found.error());
  const model::Model& m = *found;
  const model::Parameters all = count_parameters(m);
  Table table{{{m.name}, {"value", kRight}}};
  const auto add = [&](std::string what, std::string value) {
    table.rows.push_back({std::move(what), std::move(value)});
  };
  add("parameters", count(all.total()));
  add("  active per token", count(count_active_parameters(m)));
  add("  embedding", count(all.embedding));
  add("  attention", count(all.attention));
  add("  mlp", count(all.mlp));
  if (all.experts > 0) add("  experts", count(all.experts));
  if (all.router > 0) add("  router", count(all.router));
  add("  norms", count(all.norms));
  add("  output head", m.tied ? "tied to the embedding" : count(all.head));
  if (m.mtp_layers > 0)
    add("MTP modules, not in the total", count(count_mtp_parameters(m).total()));
  i64 first = 0;
  for (const model::LayerRun& run : m.runs) {
    add(run.count == 1 ? fmt::format("layer {}{}", first, run.layer.ffn.sparse() ? ", MoE" : "")
                       : fmt::format("each of layers {} to {}{}", first, first + run.count - 1,
                                     run.layer.ffn.sparse() ? ", MoE" : ""),
        count(count_parameters(m, run.layer).total()));
    first += run.count;
  }
  for (const i64 sequence : {i64{4096}, i64{8192}})
    for (const model::FlopsConvention convention :
         {model::FlopsConvention::megatron_causal, model::FlopsConvention::palm_full})
      add(fmt::format("training FLOPs per token at {}, {}", count(sequence),
                      rankwright::model::name(convention)),
          show(training_flops_per_token(m, sequence, convention)));
  return table;
}

Table list_devices() {
  Table table{{{"device"},
               {"memory", kRight},
               {"bandwidth", kRight},
               {"fp16", kRight},
               {"bf16", kRight},
               {"fp8", kRight},
               {"source"}}};
  for (const cluster::Device& d : catalog::devices())
    table.rows.push_back({d.name, show_memory(d.memory), show(d.memory_bandwidth),
                          format_or_dash(d.fp16), format_or_dash(d.bf16), format_or_dash(d.fp8),
                          d.source});
  return table;
}

Result<Table> show_device(std::string_view name) {
  const Result<cluster::Device> d = catalog::find_device(name);
  if (!d) return fail(d.error());
  return Table{{{d->name}, {"value"}},
               {{"memory", show_memory(d->memory)},
                {"memory bandwidth", show(d->memory_bandwidth)},
                {"fp16, dense", format_or_dash(d->fp16)},
                {"bf16, dense", format_or_dash(d->bf16)},
                {"fp8, dense", format_or_dash(d->fp8)},
                {"fp4, dense", format_or_dash(d->fp4)},
                {"best matmul measured", format_or_dash(d->best_matmul)},
                {"generation", d->generation.empty() ? "-" : d->generation},
                {"board power", d->watts > 0 ? fmt::format("{} W", d->watts) : "-"},
                {"source", d->source}}};
}

Table list_systems() {
  Table table{{{"system"}, {"device"}, {"levels, innermost first"}, {"what it is"}}};
  for (const catalog::System& s : catalog::systems()) {
    std::string levels;
    for (std::size_t i = 0; i < s.unit.levels.size(); ++i) {
      const cluster::Level& level = s.unit.levels[i];
      const bool last = i + 1 == s.unit.levels.size();
      levels += fmt::format("{}{}{} {}{}", i == 0 ? "" : " · ", level.name,
                            last ? "" : fmt::format(" x {}", level.arity), show(level.bandwidth),
                            level.per == cluster::Level::Per::domain ? " shared" : "");
    }
    table.rows.push_back({s.name, s.unit.device.name, levels, s.summary});
  }
  return table;
}

/// Lists the levels of a cluster: as stated, and what a GPU and a domain get at each.
Table list_levels(const cluster::Cluster& c) {
  Table table{{{"level"},
               {"arity", kRight},
               {"GPUs", kRight},
               {"bandwidth", kRight},
               {"per"},
               {"oversubscription", kRight},
               {"effective per GPU", kRight},
               {"effective per domain", kRight},
               {"origin"},
               {"latency", kRight},
               {"origin of latency"}}};
  for (std::size_t k = 0; k < c.levels.size(); ++k) {
    const cluster::Level& level = c.levels[k];
    const BytesPerSecond uplink = c.uplink(int(k));
    table.rows.push_back(
        {level.name, count(level.arity), count(c.domain(int(k))), show(level.bandwidth),
         level.per == cluster::Level::Per::device ? "device" : "domain",
         fmt::format("{:.3g}", level.oversubscription), show(uplink / double(c.domain(int(k) - 1))),
         show(uplink), std::string(rankwright::cluster::name(level.origin)), show(level.latency),
         std::string(rankwright::cluster::name(level.latency_origin))});
  }
  return table;
}

Result<Table> show_system(std::string_view name) {
  const Result<cluster::Cluster> c = catalog::find_cluster(name);
  if (!c) return fail(c.error());
  return list_levels(*c);
}

/// Shows a cluster file; nothing if `name` is not a readable file.
std::optional<planner::Outcome<CatalogAnswer>> show_cluster_file(
    const std::string& name, const importer::FileReader& files) {
  const Result<std::string> text = files(name);
  if (!text) return std::nullopt;
  Diagnostics findings;
  const std::optional<cluster::Cluster> c = importer::read_any_cluster(*text, name, findings);
  if (c && !has_errors(findings)) return CatalogAnswer{"systems", list_levels(*c)};
  return tl::unexpected(planner::Refusal{.kind = planner::Refusal::Kind::unreadable,
                                         .findings = std::move(findings),
                                         .file = {name, *text}});
}

Table list_architectures() {
  Table table{{{"architecture"}, {"what it is"}}};
  for (const model::Architecture& a : model::architectures())
    table.rows.push_back({std::string(a.name), std::string(a.summary)});
  return table;
}

Result<Table> show_architecture(std::string_view name) {
  const model::Architecture* const a = model::find_architecture(name);
  std::vector<std::string> known;
  for (const model::Architecture& one : model::architectures()) known.emplace_back(one.name);
  if (a == nullptr) return refuse_unknown("architecture", name, known);
  const auto format_bool = [](bool value) { return std::string(value ? "yes" : "no"); };
  return Table{{{std::string(a->name)}, {"value"}},
               {{"feed-forward matrices", count(a->matrices)},
                {"norms per layer", count(a->norms)},
                {"norm bias", format_bool(a->norm_bias)},
                {"query, key, value bias", format_bool(a->qkv_bias)},
                {"attention output bias", format_bool(a->out_bias)},
                {"feed-forward bias", format_bool(a->ffn_bias)},
                {"latent attention (MLA)", format_bool(a->latent)},
                {"experts", format_bool(a->sparse)}}};
}

Table list_codes() {
  Table table{{{"code"}, {"severity"}, {"means"}}};
  for (const rules::Page* page : rules::pages())
    table.rows.push_back({std::string(page->code), std::string(rankwright::name(page->severity)),
                          std::string(page->title)});
  return table;
}

Result<Table> show_code(std::string_view name) {
  const rules::Page* const page = rules::find_page(name);
  std::vector<std::string> known;
  for (const rules::Page* one : rules::pages()) known.emplace_back(one->code);
  if (page == nullptr) return refuse_unknown("code", name, known);
  return Table{{{std::string(page->code)}, {"text"}},
               {{"title", std::string(page->title)},
                {"why", std::string(page->why)},
                {"what to do", std::string(page->remedy)},
                {"source", std::string(page->source)}}};
}

Table list_keys() {
  Table table{{{"key"}, {"values"}, {"where it is not given"}}};
  for (const importer::KeyRow& row : importer::key_rows())
    table.rows.push_back(
        {std::string(row.key.path), std::string(row.key.values), std::string(row.key.missing)});
  return table;
}

Result<Table> show_key(std::string_view name) {
  std::vector<std::string> known;
  for (const importer::KeyRow& row : importer::key_rows()) {
    known.emplace_back(row.key.path);
    if (row.key.path != name) continue;
    return Table{{{std::string(name)}, {"text"}},
                 {{"means", std::string(row.key.meaning)},
                  {"values", std::string(row.key.values)},
                  {"not given", std::string(row.key.missing)},
                  {"cost", std::string(row.key.cost)}}};
  }
  return refuse_unknown("key", name, known);
}

/// Formats a value with its unit: "0.82 ms", "0.9".
std::string format_figure(double value, const std::string& unit) {
  return fmt::format("{:.4g}{}{}", value, unit.empty() ? "" : " ", unit);
}

Table list_constants() {
  Table table{{{"constant"}, {"value", kRight}, {"band"}, {"how"}, {"what it is"}}};
  for (const catalog::ConstantRow& c : catalog::constants())
    table.rows.push_back({c.name, format_figure(c.value, c.unit),
                          fmt::format("{} to {}", c.low, c.high),
                          std::string(rankwright::catalog::name(c.found)), c.meaning});
  return table;
}

Result<Table> show_constant(std::string_view name) {
  std::vector<std::string> known;
  for (const catalog::ConstantRow& c : catalog::constants()) {
    known.push_back(c.name);
    if (c.name != name) continue;
    Table table{{{c.name}, {"value"}},
                {{"means", c.meaning},
                 {"shipped", format_figure(c.value, c.unit)},
                 {"band", fmt::format("{} to {}", c.low, c.high)},
                 {"how", std::string(rankwright::catalog::name(c.found))},
                 {"origin", c.origin}}};
    if (c.spread > 0)
      table.rows.push_back(
          {"prior of the fit", fmt::format("{} ± {}", c.prior, percent(c.spread))});
    return table;
  }
  return refuse_unknown("constant", name, known);
}

std::string format_bool(bool value) { return value ? "yes" : "no"; }

Table list_frameworks() {
  Table table{{{"framework"},
               {"attention"},
               {"launch"},
               {"loss"},
               {"fp32 shards"},
               {"tuned"},
               {"selective recompute"}}};
  for (const plan::Software& f : plan::frameworks())
    table.rows.push_back({std::string(f.name), std::string(rankwright::plan::name(f.attention)),
                          std::string(rankwright::plan::name(f.launch)),
                          std::string(rankwright::plan::name(f.loss)), format_bool(f.fsdp),
                          format_bool(f.tuned),
                          f.recomputes_ops ? "every second matmul" : "attention core"});
  return table;
}

Result<Table> show_framework(std::string_view name) {
  std::vector<std::string> known;
  for (const plan::Software& f : plan::frameworks()) {
    known.emplace_back(f.name);
    if (f.name != name) continue;
    Table table{{{std::string(name)}, {"value"}},
                {{"code from", std::to_string(f.year)},
                 {"attention", std::string(rankwright::plan::name(f.attention))},
                 {"launch", std::string(rankwright::plan::name(f.launch))},
                 {"loss", fmt::format("{}, {} bytes per logit", rankwright::plan::name(f.loss),
                                      bytes_per_logit(f.loss, plan::Job{}))},
                 {"DeepEP", format_bool(f.expert_features.deepep)},
                 {"HybridEP", format_bool(f.expert_features.hybridep)},
                 {"overlaps dispatch and combine", format_bool(f.expert_features.overlap)},
                 {"fused kernels of experts", format_bool(f.expert_features.fused)},
                 {"tuned by its vendor", format_bool(f.tuned)},
                 {"weight gradients accumulated in the matmul", format_bool(f.fused_accumulation)},
                 {"selective recomputation by operation", format_bool(f.recomputes_ops)},
                 {"ZeRO-3 gathers fp8", format_bool(f.gathers_fp8)},
                 {"data-parallel rings use one NIC", format_bool(f.single_rail)},
                 {"TP ranks send parts of a stage's output", format_bool(f.scatters_sends)},
                 {"ZeRO-1 and 2 all-reduce gradients", format_bool(f.all_reduces)},
                 {"TP sums norm gradients weight by weight", format_bool(f.dtensor)},
                 {"fp32 weights, sharded, cast when gathered", format_bool(f.fsdp)},
                 {"dropout masks", format_bool(f.dropout)},
                 {"operations run one by one", format_bool(f.eager_ops)},
                 {"models as transformers writes them", format_bool(f.hf_modeling)},
                 {"gradients freed after the update", format_bool(f.frees_gradients)},
                 {"optimizer updates operation by operation", format_bool(f.foreach_update)},
                 {"gradients offloaded with the optimizer", format_bool(f.offloads_gradients)},
                 {"optimizer on the host", std::string(rankwright::plan::name(f.host_update))},
                 {"FSDP's gradients between micro-batches",
                  std::string(rankwright::plan::name(f.accumulation))},
                 {"cached empty gradients", format_bool(f.empty_gradients)},
                 {"whole gradient of the embedding", format_bool(f.dense_embedding)},
                 {"outputs of stages kept", format_bool(f.keeps_outputs)},
                 {"fp32 copy of gradients at the step", format_bool(f.fp32_gradients)},
                 {"logits kept until backward", format_bool(f.keeps_logits)},
                 {"default gradient format", std::string(rankwright::plan::name(f.gradients))},
                 {"no memory besides its tensors", format_bool(f.bare)},
                 {"buckets", show_memory(f.buckets)},
                 {"driver's context", show_memory(f.context)}}};
    for (const plan::Release& one : plan::releases())
      if (one.framework == name)
        table.rows.push_back({fmt::format("release {}", one.name),
                              fmt::format("{}-{:02}{}{}", one.year, one.month,
                                          one.added.empty() ? "" : ", adds ", one.added)});
    return table;
  }
  return refuse_unknown("framework", name, known);
}

/// Returns the unit of a row's value.
std::string_view find_failure_unit(catalog::FailureRow::Kind kind) {
  constexpr std::string_view kUnits[] = {"per 1,000 node-days", "s", "GB/s per node", "s"};
  return kUnits[std::size_t(kind)];
}

Table list_failures() {
  Table table{{{"name"}, {"value", kRight}, {"unit"}, {"of"}, {"source"}}};
  for (const catalog::FailureRow& f : catalog::list_failure_rows())
    table.rows.push_back({f.name, fmt::format("{:.4g}", f.value),
                          std::string(find_failure_unit(f.kind)), f.system, f.source});
  return table;
}

Result<Table> show_failure(std::string_view name) {
  std::vector<std::string> known;
  for (const catalog::FailureRow& f : catalog::list_failure_rows()) {
    known.push_back(f.name);
    if (f.name != name) continue;
    return Table{{{f.name}, {"value"}},
                 {{"value", fmt::format("{:.4g} {}", f.value, find_failure_unit(f.kind))},
                  {"of", f.system},
                  {"source", f.source},
                  {"verified", f.verified},
                  {"notes", f.notes}}};
  }
  return refuse_unknown("failure", name, known);
}

Table list_terms() {
  Table table{{{"term"}, {"also"}, {"definition"}}};
  for (const catalog::Term& term : catalog::glossary())
    table.rows.push_back(
        {term.name, fmt::format("{}", fmt::join(term.also, ", ")), term.definition});
  return table;
}

Result<Table> show_term(std::string_view name) {
  if (const catalog::Term* const term = catalog::find_term(name))
    return Table{{{term->name}, {"value"}},
                 {{"also", fmt::format("{}", fmt::join(term->also, ", "))},
                  {"definition", term->definition}}};
  std::vector<std::string> known;
  for (const catalog::Term& term : catalog::glossary()) known.push_back(term.name);
  return refuse_unknown("term", name, known);
}

constexpr CatalogKind kKinds[] = {
    {"models", "models, with their parameters", list_models, show_model},
    {"devices", "GPUs and their data sheets", list_devices, show_device},
    {"systems", "clusters: \"dgx-h100 x 8\"", list_systems, show_system},
    {"architectures", "model architectures", list_architectures, show_architecture},
    {"constants", "constants of the cost model and their origin", list_constants, show_constant},
    {"frameworks", "framework defaults: kernels, launches, memory", list_frameworks,
     show_framework},
    {"failures", "published failure rates, restarts and storage", list_failures, show_failure},
    {"codes", "diagnostics of `check`", list_codes, show_code},
    {"keys", "keys of a plan file", list_keys, show_key},
    {"terms", "glossary", list_terms, show_term, true},
};

constexpr std::string_view kOverview = "kinds";

}  // namespace

std::span<const CatalogKind> list_catalog_kinds() { return kKinds; }

const CatalogKind* find_catalog_kind(std::string_view name) {
  const auto found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](const CatalogKind& row) { return row.name == name; });
  return found == std::end(kKinds) ? nullptr : found;
}

Table make_catalog_overview() {
  Table table{{{"kind"}, {"known", kRight}, {"what they are"}}};
  for (const CatalogKind& kind : kKinds)
    table.rows.push_back(
        {std::string(kind.name), count(i64(kind.list().rows.size())), std::string(kind.summary)});
  return table;
}

planner::Outcome<CatalogAnswer> show_catalog(const std::string& kind, const std::string& name,
                                             const importer::FileReader& files) {
  if (kind.empty()) return CatalogAnswer{kOverview, make_catalog_overview()};
  const CatalogKind* const row = find_catalog_kind(kind);
  if (row == nullptr) {
    std::vector<std::string> names;
    for (const CatalogKind& known : kKinds) names.emplace_back(known.name);
    planner::Refusal unknown = planner::unknown_name(
        {"kind", kind, std::move(names), "rankwright catalog lists the kinds"});
    unknown.kind = planner::Refusal::Kind::unreadable;
    return tl::unexpected(std::move(unknown));
  }
  if (name.empty()) return CatalogAnswer{row->name, row->list(), row->prose};
  Result<Table> one = row->show(name);
  if (one) return CatalogAnswer{row->name, std::move(*one), row->prose};
  if (row->show == show_system)
    if (std::optional<planner::Outcome<CatalogAnswer>> answer = show_cluster_file(name, files))
      return std::move(*answer);
  const Diagnostic& fault = one.error();
  return tl::unexpected(
      planner::Refusal{.kind = planner::Refusal::Kind::unreadable,
                       .message = fmt::format("{}: {}", fault.message, fault.detail),
                       .hint = help(fault)});
}

std::string render_catalog_text(const CatalogAnswer& answer, const Paint& paint,
                                std::size_t width) {
  return (answer.prose ? format_remarked_table(answer.table, paint, "", width)
                       : answer.table.text(paint, "", width)) +
         (answer.kind == kOverview ? "\n"
                                     "List a kind: rankwright catalog models. Show one entry: "
                                     "rankwright catalog models llama-3.1-8b.\n"
                                   : "");
}

std::string make_table_json(std::string_view kind, const Table& table) {
  ordered_json rows = ordered_json::array();
  for (const std::vector<std::string>& row : table.rows) {
    ordered_json object = ordered_json::object();
    for (std::size_t c = 0; c < table.columns.size(); ++c) object[table.columns[c].name] = row[c];
    rows.push_back(object);
  }
  const ordered_json json = {{"schema", "rankwright.catalog/1"}, {"kind", kind}, {"rows", rows}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rankwright::report
