#include "rankwright/import/plan/safetensors_index.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "rankwright/base/format.h"
#include "rankwright/model/parameters.h"

namespace rankwright::importer {
namespace {

using Json = nlohmann::json;

constexpr int kMaxIndexDepth = 16;

/// Extracts metadata.total_size from an index without storing its map of weights, which may be
/// long.
class SizeFinder final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t n) override { return take(double(n)); }
  bool number_unsigned(number_unsigned_t n) override { return take(double(n)); }
  bool number_float(number_float_t n, const string_t&) override { return take(n); }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return ++depth_ <= kMaxIndexDepth; }
  bool key(string_t& name) override {
    if (depth_ == 1) in_metadata_ = name == "metadata";
    is_size_ = depth_ == 2 && in_metadata_ && name == "total_size";
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return ++depth_ <= kMaxIndexDepth; }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

  std::optional<double> size{};

 private:
  bool take(double n) {
    if (is_size_) size = n;
    is_size_ = false;
    return true;
  }
  bool close() {
    --depth_;
    return true;
  }

  int depth_ = 0;
  bool in_metadata_ = false, is_size_ = false;
};

struct DtypeSize {
  std::string_view name;
  double bytes;
};
constexpr DtypeSize kDtypes[] = {
    {"bfloat16", 2}, {"float16", 2}, {"float32", 4}, {"float64", 8}, {"float8_e4m3fn", 1}};

/// Returns the bytes per weight; nothing if the config does not state the dtype or mixes several.
std::optional<double> weight_bytes(std::string_view config_text) {
  const Json config = Json::parse(config_text, nullptr, false);
  if (!config.is_object() || config.contains("quantization_config")) return std::nullopt;
  for (const char* key : {"torch_dtype", "dtype"}) {
    const auto found = config.find(key);
    if (found == config.end() || !found->is_string()) continue;
    for (const DtypeSize& row : kDtypes)
      if (found->get_ref<const std::string&>() == row.name) return row.bytes;
  }
  return std::nullopt;
}

}  // namespace

bool claims_safetensors_index(std::string_view file, std::string_view) {
  return file.ends_with(".safetensors.index.json");
}

bool claims_hf_config(std::string_view file, std::string_view text) {
  return file.ends_with(".json") &&
         text.substr(0, 1 << 16).find("\"model_type\"") != std::string_view::npos;
}

Result<Bytes> read_safetensors_size(std::string_view text, std::string_view file) {
  SizeFinder finder;
  if (!Json::sax_parse(text, &finder))
    return fail({.code = "RW0901",
                 .message = "the file cannot be read as JSON",
                 .detail = "it is truncated or nested too deeply",
                 .where = {.file = std::string(file)}});
  if (!finder.size || !(*finder.size >= 1 && *finder.size <= 1e18))
    return fail({.code = "RW0912",
                 .message = "missing value",
                 .detail = "missing metadata.total_size",
                 .where = {.file = std::string(file)}});
  return Bytes{*finder.size};
}

std::optional<Diagnostic> check_size(const model::Model& model, std::string_view config_text,
                                     Bytes size, std::string_view index_file) {
  const i64 weights = count_parameters(model).total();
  const std::optional<double> each = weight_bytes(config_text);
  Diagnostic finding{.code = "RW0605",
                     .severity = Severity::warning,
                     .message = "the weights do not match the config",
                     .where = {.file = std::string(index_file)}};
  if (!each) {
    finding.severity = Severity::note;
    finding.detail = fmt::format(
        "the config gives no single dtype: {} of weights are {:.2f} bytes per parameter ({} "
        "parameters)",
        show(size), size.value / double(weights), count(weights));
    return finding;
  }
  const double expected = double(weights) * *each;
  if (expected == size.value) return std::nullopt;
  finding.detail =
      fmt::format("the weights have {} bytes, but {} parameters of {} bytes make {}: {:+.2f} %",
                  count(i64(size.value)), count(weights), *each, count(i64(expected)),
                  100 * (size.value / expected - 1));
  return finding;
}

}  // namespace rankwright::importer
