// Megatron-LM's own checks of its flags, reimplemented from its sources and independent of our
// code: validate_args (training/arguments.py), TransformerConfig, initialize_model_parallel, the
// pipeline schedules, PipelineParallelLayerLayout, the MoE layer. Includes nothing of the library.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

namespace megatron_judge {

using Number = std::int64_t;

/// The flags and variables of a shell file that has one flag per line.
struct Script {
  std::map<std::string, std::string> flags{};        // "" for a switch
  std::map<std::string, std::string> environment{};  // variables that are set

  bool has(const std::string& flag) const { return flags.count(flag) > 0; }
  std::string word(const std::string& flag) const { return has(flag) ? flags.at(flag) : ""; }
  Number number(const std::string& flag, Number otherwise) const {
    return has(flag) ? std::stoll(flags.at(flag)) : otherwise;
  }
};

inline Script parse(const std::string& text) {
  Script script;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find_first_not_of(' ');
    if (first == std::string::npos || line[first] == '#') continue;
    line.erase(0, first);
    if (line.rfind("export ", 0) == 0) line.erase(0, 7);
    const std::size_t equals = line.find('=');
    if (line.rfind("--", 0) == 0) {
      const std::size_t blank = line.find(' ');
      std::string value = blank == std::string::npos ? "" : line.substr(blank + 1);
      if (value.size() > 1 && value[0] == '\'') value = value.substr(1, value.size() - 2);
      script.flags[line.substr(2, blank == std::string::npos ? blank : blank - 2)] = value;
    } else if (equals != std::string::npos) {
      script.environment[line.substr(0, equals)] = line.substr(equals + 1);
    }
  }
  return script;
}

/// Expands repeats as parse_str_to_list does: groups first, then single symbols.
inline std::string unfolded(std::string layout) {
  for (std::size_t star = layout.find(")*"); star != std::string::npos; star = layout.find(")*")) {
    const std::size_t open = layout.rfind('(', star);
    std::size_t end = star + 2;
    while (end < layout.size() && std::isdigit(static_cast<unsigned char>(layout[end]))) ++end;
    const std::string group = layout.substr(open + 1, star - open - 1);
    std::string all;
    for (Number i = std::stoll(layout.substr(star + 2, end - star - 2)); i > 0; --i) all += group;
    layout.replace(open, end - open, all);
  }
  std::string out;
  for (std::size_t i = 0; i < layout.size(); ++i) {
    if (layout[i] == ',') continue;
    if (i + 1 < layout.size() && layout[i + 1] == '*') {
      std::size_t end = i + 2;
      while (end < layout.size() && std::isdigit(static_cast<unsigned char>(layout[end]))) ++end;
      out.append(std::size_t(std::stoll(layout.substr(i + 2, end - i - 2))), layout[i]);
      i = end - 1;
    } else {
      out += layout[i];
    }
  }
  return out;
}

inline std::vector<std::string> list_stages(const std::string& layout) {
  std::vector<std::string> stages(1);
  for (const char c : unfolded(layout))
    if (c == '|')
      stages.emplace_back();
    else
      stages.back() += c;
  return stages;
}

/// Returns why validate_layer_layout fails; empty if it passes.
inline std::string layout_fault(const std::vector<std::string>& stages, Number pp, Number layers,
                                Number mtp) {
  std::string flat;
  for (const std::string& stage : stages) flat += stage;
  const auto count = [&](char c) { return Number(std::count(flat.begin(), flat.end(), c)); };
  if (flat.empty() || flat.front() != 'E' || flat.back() != 'L') return "E first, L last";
  if (count('E') != 1 || count('L') != 1) return "E and L once";
  if (count('t') != layers) return "as many t as layers";
  if (count('m') != mtp) return "as many m as MTP modules";
  const std::size_t first = flat.find('m');
  if (first != std::string::npos && flat.find('t', first) != std::string::npos) return "t behind m";
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const Number here = Number(std::count(stages[i].begin(), stages[i].end(), 'm'));
    if (here > 0 && Number(i) < Number(stages.size()) - pp) return "m before the last chunk";
    if (here > 0 && here != mtp) return "m on two stages";
  }
  return "";
}

/// Returns the stride of the pipeline axis: the product of the sizes of the axes that vary faster.
inline Number stride_before(Number tp, Number cp, Number ep, Number dp, bool pp_last) {
  return tp * cp * ep * (pp_last ? dp : 1);
}

/// Returns why Megatron-LM would stop on `world` ranks; empty if it trains. `hopper`: the device is
/// older than Blackwell.
inline std::string refusal(const Script& s, Number world, bool hopper) {
  const Number tp = s.number("tensor-model-parallel-size", 1);
  const Number pp = s.number("pipeline-model-parallel-size", 1);
  const Number cp = s.number("context-parallel-size", 1);
  const Number ep = s.number("expert-model-parallel-size", 1);
  const Number etp = s.number("expert-tensor-parallel-size", tp);
  const Number experts = s.number("num-experts", 0);
  const Number layers = s.number("num-layers", 0);
  const Number heads = s.number("num-attention-heads", 0);
  const bool latent = s.has("multi-latent-attention");
  const Number groups = s.has("group-query-attention") ? s.number("num-query-groups", 1) : heads;
  const Number sequence = s.number("seq-length", 0);
  const Number mtp = s.number("mtp-num-layers", 0);
  const bool fsdp = s.has("use-megatron-fsdp");

  // initialize_model_parallel
  if (world % (tp * pp * cp) != 0) return "world / (tp pp cp)";
  const Number dp = world / (tp * pp * cp);
  if (world % (etp * ep * pp) != 0) return "world / (etp ep pp)";
  const Number edp = world / (etp * ep * pp);
  const bool pp_last = !s.has("use-tp-pp-dp-mapping");
  if (!pp_last && pp > 1 && edp != dp) return "dp of both meshes";
  if (pp > 1 && stride_before(tp, cp, 1, dp, pp_last) != stride_before(etp, 1, ep, edp, pp_last))
    return "pipelines of both meshes";
  const Number instances = s.number("num-distributed-optimizer-instances", 1);
  if (dp * cp % instances != 0 || edp % instances != 0) return "instances";

  // shapes
  if (heads % tp != 0) return "heads";
  if (!latent && groups % tp != 0 && tp % groups != 0) return "query groups";
  const std::string pattern = s.word("moe-layer-freq");
  const bool any_dense = experts == 0 || pattern.find("[0]") != std::string::npos;
  if (any_dense && s.number("ffn-hidden-size", 0) % tp != 0) return "ffn";
  if (experts > 0 && s.number("moe-ffn-hidden-size", 0) % etp != 0) return "expert ffn";
  if (experts > 0 && s.number("moe-shared-expert-intermediate-size", 0) % tp != 0) return "shared";
  if (ep > 1 && (experts == 0 || experts % ep != 0)) return "experts";
  if (s.number("max-position-embeddings", 0) < sequence) return "positions";
  if (mtp > 0 && s.word("position-embedding-type") == "learned_absolute") return "mtp positions";

  // batch
  const Number at_once = s.number("micro-batch-size", 1) * dp;
  const Number batch = s.number("global-batch-size", at_once);
  if (batch % at_once != 0) return "batch";
  const Number microbatches = batch / at_once;

  // pipeline
  Number chunks = s.number("num-virtual-stages-per-pipeline-rank", 1);
  if (s.has("pipeline-model-parallel-layout")) {
    if (s.has("num-virtual-stages-per-pipeline-rank")) return "two ways to state chunks";
    const std::vector<std::string> stages = list_stages(s.word("pipeline-model-parallel-layout"));
    if (Number(stages.size()) % pp != 0) return "stages / pp";
    chunks = Number(stages.size()) / pp;
    const std::string fault = layout_fault(stages, pp, layers, mtp);
    if (!fault.empty()) return fault;
  } else {
    if (layers % pp != 0) return "layers / pp";
    if (layers / pp % chunks != 0) return "layers / pp / chunks";
  }
  if (chunks > 1) {
    if (pp < (s.has("no-overlap-p2p-communication") ? 3 : 2)) return "chunks need pp";
    const Number group = s.number("microbatch-group-size-per-virtual-pipeline-stage", pp);
    if (group < pp || group > microbatches) return "group out of range";
    const Number left = microbatches % group;
    if (left > 0 && left < pp) return "last group";
  }

  // sequence
  const bool sp = s.has("sequence-parallel") && tp > 1;
  if (cp > 1 && sequence % (2 * cp) != 0) return "sequence / 2 cp";
  const Number share = cp > 1 ? cp * std::lcm(Number{2}, tp) : tp;
  if (sp && sequence % share != 0) return "sequence / tp";
  if (s.has("tp-comm-overlap") && !sp) return "tp overlap";
  if (experts > 0 && tp > 1 && !sp) return "experts without sp";
  if (cp > 1 && s.word("cp-comm-type") == "a2a") {  // TransformerEngine
    if (heads / tp % cp != 0) return "a2a heads";
    if (!latent && groups % (tp * cp) != 0) return "a2a query groups";
  }

  // data parallelism, recompute, environment
  if (s.has("overlap-param-gather") &&
      (!(s.has("use-distributed-optimizer") || fsdp) || !s.has("overlap-grad-reduce")))
    return "param gather";
  if (fsdp && s.word("ckpt-format") != "fsdp_dtensor") return "fsdp checkpoints";
  const bool full = s.word("recompute-granularity") == "full";
  if (full && !(s.has("recompute-method") && s.has("recompute-num-layers"))) return "full";
  if (!full && (s.has("recompute-method") || s.has("recompute-num-layers"))) return "selective";
  const std::string modules = " " + s.word("recompute-modules") + " ";
  const auto has_module = [&](std::string_view name) {
    return modules.find(" " + std::string(name) + " ") != std::string::npos;
  };
  if (has_module("moe_act") && !s.has("moe-grouped-gemm")) return "moe_act";
  if (has_module("mla_up_proj") && !s.has("multi-latent-attention")) return "mla_up_proj";
  if ((has_module("moe_act") || has_module("layernorm")) && s.word("fp8-recipe") == "delayed")
    return "delayed scaling with recomputed modules";
  const auto connections = s.environment.find("CUDA_DEVICE_MAX_CONNECTIONS");
  const bool one = connections != s.environment.end() && connections->second == "1";
  if (fsdp && one) return "fsdp and one connection";
  if (!fsdp && (tp > 1 || cp > 1) && hopper && !one) return "one connection";
  if (s.has("fp16") && s.has("bf16")) return "two formats";
  return "";
}

}  // namespace megatron_judge
