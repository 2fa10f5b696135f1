// The Hugging Face model types that are read, one row each: which keys of config.json hold which
// shape, and what a config states in a way of its own. Private to hf_config.cc.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rankwright/model/architecture.h"

namespace rankwright::importer {

enum class Need : unsigned char {
  required,  // at least 1
  optional,  // absent, null, "auto", or at least 1
  or_none,   // absent, null, or at least 0
};

/// A key that holds a number, and the shape that it sets.
struct HfKey {
  std::string_view key;
  i64 model::Shapes::*member;
  Need need = Need::required;
  std::string_view also{};  // another name of the key
  bool listed = false;      // may list one number per layer, if all are equal
};

/// A key that holds a flag, and the shape that it overrides.
struct HfFlag {
  std::string_view key;
  std::optional<bool> model::Shapes::*member;
};

/// A setting that changes the network in a way that Model cannot express: only this value is
/// supported.
struct RequiredSetting {
  std::string_view key;
  std::string_view value;  // as JSON
};

/// A shape that transformers assumes if the config does not state it.
struct HfDefault {
  i64 model::Shapes::*member;
  i64 value;
};

/// A key whose value is not supported, and why.
struct HfFault {
  std::string_view key;
  std::string detail;
};

/// How a config states the width of the shared experts.
enum class SharedExperts : unsigned char {
  width,   // as a width
  number,  // as a number of experts as wide as the routed ones
  one,     // not at all: there is one, as wide as a routed one
};

/// How a config without a list of layer types states which layers have a window.
enum class WindowRule : unsigned char {
  pattern,            // the architecture's pattern
  max_window_layers,  // the layers from max_window_layers on
};

struct HfFamily {
  std::string_view model_type;
  std::string_view architecture;    // its row in model/architecture
  std::span<const HfKey> keys;      // common to similar families
  std::span<const HfKey> more{};    // of this family
  std::span<const HfFlag> flags{};  // besides tie_word_embeddings
  std::span<const RequiredSetting> only{};
  std::string_view window = "sliding_window";  // key of the window
  std::string_view every{};  // key of a number n: of n layers, the last has full attention
  WindowRule rule = WindowRule::pattern;
  bool window_off = false;  // without use_sliding_window: true there is no window
  SharedExperts shared = SharedExperts::width;
  std::span<const HfDefault> defaults{};
  // Reads what no key holds by itself.
  std::optional<HfFault> (*finish)(const nlohmann::json&, model::Shapes&) = nullptr;
};

/// Returns the rows in the order in which messages list them.
std::span<const HfFamily> list_hf_families();

/// Returns the model types that read_hf_config() reads.
std::string list_hf_model_types();

}  // namespace rankwright::importer
