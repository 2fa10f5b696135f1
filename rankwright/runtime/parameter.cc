#include "rankwright/runtime/parameter.h"

#include <ATen/CPUGeneratorImpl.h>

#include <string_view>

namespace rankwright::runtime {
namespace {

using torch::Tensor;

/// Returns FNV-1a of the name mixed with the seed: the same on every machine.
std::uint64_t seed_of(std::string_view name, std::uint64_t seed) {
  std::uint64_t hash = 0xcbf29ce484222325ULL ^ (seed * 0x9e3779b97f4a7c15ULL);
  for (const char c : name) hash = (hash ^ std::uint8_t(c)) * 0x100000001b3ULL;
  return hash;
}

Tensor full(const Block& block, std::uint64_t seed, torch::ScalarType format) {
  std::vector<i64> shape{block.rows};
  if (block.columns > 0) shape.push_back(block.columns);
  // Drawn in fp32 or wider, so that all formats start from the same model.
  const torch::ScalarType drawn = format == torch::kFloat64 ? format : torch::kFloat32;
  if (block.deviation == 0) return torch::full(shape, block.mean, drawn);
  const at::Generator generator =
      at::make_generator<at::CPUGeneratorImpl>(seed_of(block.name, seed));
  return torch::empty(shape, drawn).normal_(block.mean, block.deviation, generator);
}

Tensor slice_block(const Tensor& all, Cut cut, i64 tp, i64 tp_rank) {
  if (cut == Cut::none || tp == 1) return all;
  const i64 dim = cut == Cut::rows ? 0 : 1;
  const i64 each = ceil_div(all.size(dim), tp);
  const i64 first = std::min(all.size(dim), each * tp_rank);
  const Tensor part = all.narrow(dim, first, std::min(each, all.size(dim) - first));
  if (part.size(dim) == each) return part;
  std::vector<i64> missing = part.sizes().vec();
  missing[std::size_t(dim)] = each - part.size(dim);
  return torch::cat({part, torch::zeros(missing, part.options())}, dim);
}

}  // namespace

i64 Parameter::size() const {
  i64 n = 1;
  for (const i64 extent : shape) n *= extent;
  return n;
}

Parameter make_parameter(std::string name, std::vector<Block> blocks, Cut cut, i64 tp) {
  Parameter made{.name = std::move(name), .blocks = std::move(blocks), .cut = cut};
  i64 rows = 0;
  for (const Block& block : made.blocks)
    rows += cut == Cut::rows ? ceil_div(block.rows, tp) : block.rows;
  made.shape = {rows};
  const i64 columns = made.blocks.front().columns;
  if (columns > 0) made.shape.push_back(cut == Cut::columns ? ceil_div(columns, tp) : columns);
  made.decays = columns > 0;
  return made;
}

Tensor slice(const Parameter& parameter, const Tensor& full, i64 tp, i64 tp_rank) {
  std::vector<Tensor> slices;
  i64 first = 0;
  for (const Block& block : parameter.blocks) {
    slices.push_back(slice_block(full.narrow(0, first, block.rows), parameter.cut, tp, tp_rank));
    first += block.rows;
  }
  return torch::cat(slices, 0);
}

Tensor initial(const Parameter& parameter, std::uint64_t seed, i64 tp, i64 tp_rank,
               torch::ScalarType format) {
  std::vector<Tensor> slices;
  for (const Block& block : parameter.blocks)
    slices.push_back(slice_block(full(block, seed, format), parameter.cut, tp, tp_rank));
  return torch::cat(slices, 0).to(format).contiguous();
}

}  // namespace rankwright::runtime
