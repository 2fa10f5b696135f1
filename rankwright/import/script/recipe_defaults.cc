#include "rankwright/import/script/recipe_defaults.h"

#include <algorithm>

#include "rankwright/base/embedded.h"

namespace rankwright::importer {

extern const std::span<const EmbeddedFile> kRecipeFiles;

namespace {

/// A name in the tables, and the flag that it is.
constexpr std::pair<std::string_view, std::string_view> kFlags[] = {
    {"tp", "tensor-model-parallel-size"},
    {"pp", "pipeline-model-parallel-size"},
    {"cp", "context-parallel-size"},
    {"ep", "expert-model-parallel-size"},
    {"etp", "expert-tensor-parallel-size"},
    {"vpp", "num-virtual-stages-per-pipeline-rank"},
    {"sp", "sequence-parallel"},
    {"recompute", "recompute-granularity"},
    {"recompute_method", "recompute-method"},
    {"recompute_layers", "recompute-num-layers"},
    {"global_batch", "global-batch-size"},
    {"micro_batch", "micro-batch-size"},
    {"sequence", "seq-length"},
    {"nodes", "nodes"},
    {"overlap_grad", "overlap-grad-reduce"},
    {"overlap_param", "overlap-param-gather"},
    {"distributed_optimizer", "use-distributed-optimizer"},
};

std::string_view find_flag(std::string_view name) {
  for (const auto& [known, flag] : kFlags)
    if (known == name) return flag;
  return {};
}

/// Returns the first word of a text, and removes it with the blank behind it.
std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

}  // namespace

std::string_view find_recipe_model(std::string_view recipe) {
  for (const std::string_view end :
       {"_pretrain_config", "_finetune_config", "_sft_config", "_peft_config"})
    if (recipe.ends_with(end)) return recipe.substr(0, recipe.size() - end.size());
  return {};
}

RecipeDefaults find_recipe_defaults(std::string_view name) {
  constexpr std::string_view kRevision = " at ";
  RecipeDefaults found;
  for (const EmbeddedFile& file : kRecipeFiles) {
    std::string_view text = file.text;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.starts_with('#'))
        found.source = line.substr(line.find(kRevision) + kRevision.size());
      if (take_word(line) != name) continue;
      while (!line.empty()) {
        const std::string_view word = take_word(line);
        const std::size_t equals = word.find('=');
        if (const std::string_view flag = find_flag(word.substr(0, equals)); !flag.empty())
          found.settings.emplace_back(flag, word.substr(equals + 1));
      }
      return found;
    }
  }
  return {};
}

}  // namespace rankwright::importer
