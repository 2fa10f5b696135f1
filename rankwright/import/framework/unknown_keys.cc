#include "rankwright/import/framework/unknown_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "rankwright/base/format.h"
#include "rankwright/base/suggest.h"

namespace rankwright::importer {
namespace {

/// Looking for the nearest of a thousand names takes time, and files are untrusted.
constexpr int kMaxSuggestions = 32;
constexpr std::size_t kMaxListed = 10;

bool decides(const ForeignKey& row) {
  return !row.plan_key.empty() || !row.not_modeled.empty() || row.read != nullptr;
}

std::string join_path(std::string_view map, std::string_view name) {
  return map.empty() ? std::string(name) : fmt::format("{}.{}", map, name);
}

/// Returns the part of `path` directly inside `map`; empty if it is elsewhere.
std::string_view find_child(std::string_view path, std::string_view map) {
  if (!map.empty()) {
    if (!path.starts_with(map) || path.size() <= map.size() || path[map.size()] != '.') return {};
    path.remove_prefix(map.size() + 1);
  }
  return path.substr(0, path.find('.'));
}

/// Returns whether an unknown key names a concept of layouts: an older or newer version's, or a
/// fork's.
bool sounds_like_layout(std::string_view path) {
  constexpr std::string_view kWords[] = {
      "parallel_size",   "parallel-size", "parallel_degree",  "_tp_degree",
      "_pp_degree",      "zero_stage",    "zero-stage",       "num_experts",
      "num-experts",     "micro_batch",   "micro-batch",      "accumulation_st",
      "accumulation-st", "recompute",     "checkpoint_activ", "checkpoint-activ"};
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view word) {
    return path.find(word) != std::string_view::npos;
  });
}

/// Returns whether the key is a remark, which files of some formats keep under such names.
bool is_remark(std::string_view name) {
  return name.starts_with('_') || name.starts_with("//") || lower(name).ends_with("comment");
}

std::vector<std::string_view> split_words(std::string_view name) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find_first_of("-_", begin), name.size());
    words.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

/// Returns whether `typed` leaves out words of `known`, or ends of words: seq_len for seq_length,
/// tensor-parallel-size for tensor-model-parallel-size.
bool is_shortened(std::string_view typed, std::string_view known) {
  const std::vector<std::string_view> some = split_words(typed), all = split_words(known);
  std::size_t found = 0;
  for (const std::string_view word : all)
    if (found < some.size() && some[found].size() > 1 && word.starts_with(some[found])) ++found;
  return some.size() > 1 && found == some.size() && all.size() <= some.size() + 1;
}

/// Returns the name that `typed` is a typo of: few letters differ, or it is shortened. The limit is
/// stricter than that of nearest(), because names of settings resemble each other.
std::optional<std::string> find_meant(std::string_view typed,
                                      const std::vector<std::string>& names) {
  const int limit = typed.size() < 8 ? 1 : typed.size() < 16 ? 2 : 3;
  std::optional<std::string> best;
  int min = limit + 1;
  for (const std::string& name : names) {
    // A known name with another word is another setting, of a fork or of a later version.
    if (typed.size() > name.size() + 1 && typed.starts_with(name) &&
        (typed[name.size()] == '-' || typed[name.size()] == '_'))
      continue;
    if (std::abs(int(name.size()) - int(typed.size())) >= min) continue;
    const int distance = compute_edit_distance(typed, name);
    if (distance < min && distance < int(name.size())) {
      min = distance;
      best = name;
    }
  }
  for (const std::string& name : names)
    if (!best && is_shortened(typed, name)) best = name;
  return best;
}

/// A setting that the framework has and that an unknown key may mean.
struct Suggestion {
  std::string path{};
  std::string_view plan_key{};
  bool decides = false;    // the layout or the estimate
  bool elsewhere = false;  // right name, wrong place
};

/// Walks the file beside the settings that the framework has.
class UnknownKeyReporter {
 public:
  UnknownKeyReporter(ForeignReading& reading, std::span<const ForeignKey> rows)
      : reading_(reading), rows_(rows) {}

  /// Returns the number of keys that resemble none that is known.
  std::size_t report_all() {
    walk(reading_.root, "");
    if (!others_.empty()) report_ignored_names(reading_, *first_other_, others_, kMaxListed);
    return others_.size();
  }

 private:
  void walk(const YamlNode& map, const std::string& path) {
    for (const YamlEntry& entry : map.entries) {
      const std::string inner = join_path(path, entry.key.scalar);
      if (is_read(inner) || is_remark(entry.key.scalar)) continue;
      if (is_map(inner))
        walk(entry.value, inner);
      else
        report_key(entry, path, inner);
    }
  }

  bool is_read(const std::string& path) const {
    const auto holds = [&](const auto& list) {
      return std::find(list.begin(), list.end(), path) != list.end();
    };
    return has_row(rows_, path) || reading_.known->contains(path) || holds(reading_.model_keys) ||
           holds(reading_.launcher_keys);
  }

  bool is_map(std::string_view path) const {
    const auto inside = [&](std::string_view known) { return !find_child(known, path).empty(); };
    return std::any_of(rows_.begin(), rows_.end(),
                       [&](const ForeignKey& row) { return inside(row.path); }) ||
           std::any_of(reading_.known->paths().begin(), reading_.known->paths().end(), inside);
  }

  Suggestion describe(std::string path) const {
    Suggestion meant{.path = std::move(path)};
    for (const ForeignKey& row : rows_) {
      const bool same = row.path == meant.path;
      if (!decides(row) || (!same && find_child(row.path, meant.path).empty())) continue;
      meant.decides = true;
      if (same && meant.plan_key.empty()) meant.plan_key = row.plan_key;
    }
    const std::span<const std::string_view> shapes = reading_.model_keys;
    if (std::find(shapes.begin(), shapes.end(), meant.path) != shapes.end()) {
      meant.decides = true;
      meant.plan_key = "model";
    }
    return meant;
  }

  /// Returns the setting of the same map with the nearest name, or the only one of this name
  /// elsewhere. A setting that decides something comes first among equally near ones.
  std::optional<Suggestion> suggest(const std::string& name, const std::string& map) {
    if (++suggestions_ > kMaxSuggestions) return std::nullopt;
    std::vector<std::string> names;
    const auto add = [&](std::string_view path) {
      const std::string_view child = find_child(path, map);
      if (!child.empty() && child != "*") names.emplace_back(child);
    };
    for (const ForeignKey& row : rows_) add(row.path);
    if (map.empty())
      names.insert(names.end(), reading_.model_keys.begin(), reading_.model_keys.end());
    for (const std::string_view path : reading_.known->paths()) add(path);
    // A setting that is given too is not the one that was meant.
    if (const std::optional<std::string> near = find_meant(name, names);
        near && find_path(reading_.root, join_path(map, *near)) == nullptr)
      return describe(join_path(map, *near));
    const ForeignKey* only = nullptr;
    for (const ForeignKey& row : rows_) {
      if (!decides(row) || !row.path.ends_with("." + name)) continue;
      if (only != nullptr) return std::nullopt;
      only = &row;
    }
    if (only == nullptr) return std::nullopt;
    return Suggestion{std::string(only->path), only->plan_key, true, true};
  }

  void report_key(const YamlEntry& entry, const std::string& map, const std::string& path) {
    const std::optional<Suggestion> meant = suggest(entry.key.scalar, map);
    if (meant && meant->decides) return report_typo(entry.key, path, *meant);
    const std::size_t before = reading_.fields.findings().size();
    report_layout_words(entry.value, entry.key, path);
    if (reading_.fields.findings().size() > before) return;
    if (others_.empty()) first_other_ = &entry.key;
    others_.push_back(spell(path) + (meant ? fmt::format(" ({}?)", spell(meant->path)) : ""));
  }

  void report_typo(const YamlNode& key, const std::string& path, const Suggestion& meant) {
    Diagnostic found = warn(path);
    if (!meant.plan_key.empty())
      found.detail += fmt::format("; {} sets {}", spell(meant.path), meant.plan_key);
    found.hint = meant.elsewhere ? fmt::format("it belongs to {}", spell(meant.path))
                                 : fmt::format("did you mean {}?", spell(meant.path));
    found.key = meant.plan_key;
    if (!meant.elsewhere) {
      const std::string_view name = std::string_view(meant.path).substr(meant.path.rfind('.') + 1);
      found.respelling = Respelling{fmt::format("{}{}", reading_.dashes, key.scalar),
                                    fmt::format("{}{}", reading_.dashes, name)};
    }
    reading_.fields.report(key, std::move(found));
  }

  /// Reports the settings of an unknown map that speak of a layout.
  void report_layout_words(const YamlNode& value, const YamlNode& key, const std::string& path) {
    const bool leaf = value.kind != YamlNode::Kind::map || value.entries.empty();
    if (leaf && sounds_like_layout(path) && !is_off(value) && !is_null(value)) {
      Diagnostic found = warn(path);
      found.hint = "use the name of this setting in your version, or a plan file";
      reading_.fields.report(key, std::move(found));
    }
    for (const YamlEntry& entry : value.entries)
      report_layout_words(entry.value, entry.key, join_path(path, entry.key.scalar));
  }

  Diagnostic warn(const std::string& path) const {
    return {.code = "RW0617",
            .severity = Severity::warning,
            .message = "an unknown setting may change the layout",
            .detail = fmt::format("{} is ignored", spell(path))};
  }

  std::string spell(std::string_view path) const {
    return fmt::format("{}{}", reading_.dashes, make_excerpt(path, kLongestLabel));
  }

  ForeignReading& reading_;
  std::span<const ForeignKey> rows_;
  int suggestions_ = 0;
  std::vector<std::string> others_{};
  const YamlNode* first_other_ = nullptr;
};

}  // namespace

void report_ignored_names(ForeignReading& reading, const YamlNode& first,
                          const std::vector<std::string>& names, std::size_t most) {
  const std::size_t shown = std::min(names.size(), most);
  std::string list =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + std::ptrdiff_t(shown), ", "));
  if (shown < names.size()) list += fmt::format(", and {} more", names.size() - shown);
  reading.fields.report(first, {.code = "RW0618",
                                .severity = Severity::note,
                                .message = "unknown settings are ignored",
                                .detail = std::move(list)});
}

std::size_t report_unknown_keys(ForeignReading& reading, std::span<const ForeignKey> rows) {
  return UnknownKeyReporter(reading, rows).report_all();
}

}  // namespace rankwright::importer
