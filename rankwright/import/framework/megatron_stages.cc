#include <algorithm>

#include "rankwright/base/quantity.h"
#include "rankwright/import/framework/megatron_model.h"
#include "rankwright/import/syntax/lines.h"

namespace rankwright::importer {
namespace {

/// The flags that determine the split of the layers over pp ranks.
struct LayoutSplit {
  i64 layers = 0;
  i64 pp = 1;
  i64 chunks = 1;
  std::optional<i64> first{}, last{};  // layers of the first and of the last pp rank
  bool embedding = false;              // counts as a layer
  bool loss = false;
};

/// Returns the layers of a pp rank, including embedding and loss if they count as layers.
i64 layers_of_rank(const LayoutSplit& s, i64 rank) {
  if (!s.first && !s.last) return (s.layers + s.embedding + s.loss) / s.pp;
  if (rank == 0 && s.first) return *s.first;
  if (rank == s.pp - 1 && s.last) return *s.last;
  const i64 middle = s.pp - s.first.has_value() - s.last.has_value();
  const i64 left = s.layers - s.first.value_or(0) - s.last.value_or(0);
  return middle < 1 ? 0 : std::max<i64>(0, left / middle);
}

/// Returns the layers of every stage. Remainders are dropped, as Megatron-LM does.
std::vector<i64> split_into_stages(const LayoutSplit& s) {
  std::vector<i64> layers;
  for (i64 chunk = 0; chunk < s.chunks; ++chunk)
    for (i64 rank = 0; rank < s.pp; ++rank) layers.push_back(layers_of_rank(s, rank) / s.chunks);
  if (s.embedding) layers.front() = std::max<i64>(0, layers.front() - 1);
  if (s.loss) layers.back() = std::max<i64>(0, layers.back() - 1);
  return layers;
}

/// Launchers that pass a layout on to another shell escape its characters: "Et\\|tL".
void read_layout(ForeignReading& r, const YamlNode& node, i64 pp) {
  r.fields.under("parallelism.stages", node, [&] {
    std::string text = node.scalar;
    std::erase(text, '\\');
    const std::optional<plan::Stages> stages = r.fields.take(node, plan::parse_layout(text));
    if (!stages) return;
    r.draft.stages = *stages;
    const i64 count = i64(stages->size());
    if (count > pp && divides(pp, count)) r.draft.virtual_stages = count / pp;
  });
}

}  // namespace

std::vector<i64> read_noop_layers(ForeignReading& r) {
  std::vector<i64> layers;
  const YamlNode* const node = find_path(r.root, "noop-layers");
  if (node == nullptr) return layers;
  for (const std::string_view part : split_at_commas(node->scalar))
    for (const TextWord& word : split_words(part))
      if (const Result<i64> n = parse_count(word.text, 0); n && layers.size() < model::kMaxLayers)
        layers.push_back(*n);
  return layers;
}

namespace {

/// Reads MindSpeed's list of the layers of each stage: "11,12,12,11".
void read_layer_list(ForeignReading& r, const YamlNode& node, i64 layers, i64 pp) {
  std::vector<i64> counts;
  i64 sum = 0;
  for (const std::string_view part : split_at_commas(node.scalar))
    for (const TextWord& word : split_words(part))
      if (const Result<i64> n = parse_count(word.text, 0);
          n && *n <= model::kMaxLayers && counts.size() < std::size_t(plan::kMaxStages)) {
        counts.push_back(*n);
        sum += *n;
      }
  if (i64(counts.size()) == pp && sum == layers)
    r.draft.stage_layers = std::move(counts);
  else
    report_left_out(r, node, "the layers are estimated as an even split");
}

}  // namespace

void read_megatron_stages(ForeignReading& r) {
  LayoutSplit s{.layers = read_whole_at(r, "num-layers", 1, model::kMaxLayers).value_or(0),
                .pp = r.draft.pp.value_or(1)};
  if (const YamlNode* const layout = find_path(r.root, "pipeline-model-parallel-layout"))
    return read_layout(r, *layout, s.pp);
  if (const YamlNode* const list = find_path(r.root, "num-layer-list"); list != nullptr && s.pp > 1)
    return read_layer_list(r, *list, s.layers, s.pp);
  s.embedding = is_on(r, "account-for-embedding-in-pipeline-split");
  s.loss = is_on(r, "account-for-loss-in-pipeline-split");
  // Megatron-DeepSpeed's "type:transformer|embedding" counts both.
  const YamlNode* const method = find_path(r.root, "pp-partition-method");
  if (method != nullptr && method->scalar.find("embedding") != std::string::npos)
    s.embedding = s.loss = true;
  s.first = read_whole_at(r, "decoder-first-pipeline-num-layers", 1, model::kMaxLayers);
  s.last = read_whole_at(r, "decoder-last-pipeline-num-layers", 1, model::kMaxLayers);
  const std::optional<i64> each =
      read_whole_at(r, "num-layers-per-virtual-pipeline-stage", 1, model::kMaxLayers);
  s.chunks = read_whole_at(r, "num-virtual-stages-per-pipeline-rank", 1, kMaxChunks).value_or(1);
  // A log also prints the derived value.
  s.chunks =
      read_whole_at(r, "virtual-pipeline-model-parallel-size", 1, kMaxChunks).value_or(s.chunks);
  bool dropped = false;
  if (each && s.layers > 0) {
    const i64 on_rank = (s.layers + s.embedding + s.loss) / s.pp;
    s.chunks = std::clamp<i64>(on_rank / *each, 1, kMaxChunks);
    dropped = s.chunks * *each != on_rank;
  }
  if (s.chunks > 1) r.draft.virtual_stages = s.chunks;
  const std::vector<i64> empty = read_noop_layers(r);
  const bool uneven = s.first || s.last || s.embedding || s.loss || !empty.empty();
  const std::optional<i64> count = product({s.pp, s.chunks});
  if (s.layers == 0 || s.pp == 1 || !(uneven || dropped) || !count || *count > plan::kMaxStages)
    return;
  r.draft.stage_layers =
      dropped ? std::vector<i64>(std::size_t(*count), *each) : split_into_stages(s);
  if (!divides(*count, s.layers)) return;
  for (const i64 layer : empty) {
    if (layer >= s.layers) continue;
    i64& stage = (*r.draft.stage_layers)[std::size_t(layer / (s.layers / *count))];
    stage = std::max<i64>(0, stage - 1);
  }
}

}  // namespace rankwright::importer
