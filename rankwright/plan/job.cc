#include "rankwright/plan/job.h"

#include "rankwright/base/check.h"

namespace rankwright::plan {
namespace {

constexpr DtypeRow kDtypes[] = {
    {Dtype::fp32, "fp32", 4}, {Dtype::bf16, "bf16", 2}, {Dtype::fp16, "fp16", 2},
    {Dtype::fp8, "fp8", 1},   {Dtype::fp64, "fp64", 8},
};

// bitsandbytes: one byte, and an fp32 scale per block of 256.
constexpr double kEightBits = 1 + 4.0 / 256;

constexpr OptimizerRow kOptimizers[] = {
    {Optimizer::adam, "adam", 2, 0},           {Optimizer::sgd, "sgd", 1, 0},
    {Optimizer::lion, "lion", 1, 0},           {Optimizer::adam_8bit, "adam-8bit", 2, kEightBits},
    {Optimizer::adafactor, "adafactor", 0, 0}, {Optimizer::muon, "muon", 1, 0},
};

constexpr std::string_view kBaseDtypes[] = {"same", "nf4", "int8", "fp32"};

constexpr LoraModuleRow kLoraModules[] = {
    {"q_proj", &LoraModules::q_proj},       {"k_proj", &LoraModules::k_proj},
    {"v_proj", &LoraModules::v_proj},       {"o_proj", &LoraModules::o_proj},
    {"gate_proj", &LoraModules::gate_proj}, {"up_proj", &LoraModules::up_proj},
    {"down_proj", &LoraModules::down_proj},
};

constexpr std::string_view kMatmuls[] = {"same", "fp8", "mxfp8", "fp4"};

// GRPO's weight of the reference model is 0 by default in TRL and verl.
constexpr MethodRow kMethods[] = {
    {Method::lm, "lm", 1, false}, {Method::dpo, "dpo", 2, true}, {Method::grpo, "grpo", 1, false}};

const DtypeRow& row(Dtype dtype) { return kDtypes[std::size_t(dtype)]; }

}  // namespace

std::span<const DtypeRow> dtypes() { return kDtypes; }
i64 size(Dtype dtype) { return row(dtype).bytes; }
std::string_view name(Dtype dtype) { return row(dtype).name; }

std::span<const std::string_view> matmul_names() { return kMatmuls; }
std::string_view name(Matmul matmul) { return kMatmuls[std::size_t(matmul)]; }

std::span<const OptimizerRow> optimizers() { return kOptimizers; }
const OptimizerRow& row(Optimizer optimizer) { return kOptimizers[std::size_t(optimizer)]; }
std::string_view name(Optimizer optimizer) { return row(optimizer).name; }

std::span<const std::string_view> base_dtype_names() { return kBaseDtypes; }
std::string_view name(BaseDtype dtype) { return kBaseDtypes[std::size_t(dtype)]; }

std::span<const MethodRow> methods() { return kMethods; }
const MethodRow& row(Method method) { return kMethods[std::size_t(method)]; }
std::string_view name(Method method) { return row(method).name; }

std::span<const LoraModuleRow> lora_modules() { return kLoraModules; }
std::string show(const LoraModules& modules, std::string_view separator) {
  std::string text;
  for (const LoraModuleRow& row : kLoraModules) {
    if (!(modules.*row.field)) continue;
    if (!text.empty()) text += separator;
    text += row.name;
  }
  return text;
}

double Job::base_bytes() const {
  // One 8-bit scale per 64 weights, and an fp32 scale per 256 of those (double quantization).
  constexpr double kNf4 = 0.5 + 1.0 / 64 + 4.0 / (64 * 256);
  switch (base_dtype) {
    case BaseDtype::same:
      return double(param_bytes());
    case BaseDtype::nf4:
      return kNf4;
    case BaseDtype::int8:
      return 1;
    case BaseDtype::fp32:
      return 4;
  }
  return double(param_bytes());
}

i64 Job::master_bytes() const {
  if (frozen()) return 0;
  const bool copy = master_dtype != param_dtype && size(master_dtype) >= param_bytes();
  return copy ? size(master_dtype) : 0;
}

double Job::moment_bytes() const {
  const double stated = plan::row(optimizer).moment_bytes;
  if (stated > 0) return stated;
  return size(param_dtype) > 4 ? 8 : double(size(moment_dtype));
}

double Job::optimizer_bytes() const {
  return double(plan::row(optimizer).moments) * moment_bytes() + double(master_bytes());
}

}  // namespace rankwright::plan
