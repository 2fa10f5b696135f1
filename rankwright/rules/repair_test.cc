// Property test of the fixes: lints random plan files, applies each proposed fix to the file, then
// reads and lints the file again.
#include "rankwright/rules/repair.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/support/typed_plans.h"

namespace rankwright::rules {
namespace repair_test {

using typed_plans::diagnose;
using typed_plans::typed;

template <class T>
T one_of(std::vector<T> values) {
  return *rc::gen::elementOf(std::move(values));
}

/// Returns "key: value, " with a probability of one third, otherwise "".
std::string maybe(std::string_view key, const std::vector<std::string>& values) {
  if (one_of<int>({0, 1, 2}) > 0) return "";
  return fmt::format("{}: {}, ", key, one_of(values));
}

std::string random_model() {
  return one_of<std::string>(
      {"llama-3.2-1b", "tinyllama-1.1b", "qwen2-0.5b", "pythia-70m", "mixtral-8x7b",
       "deepseek-v2-lite", "deepseek-v3",
       "{architecture: mixtral, hidden: 512, layers: 6, heads: 12, kv_heads: 6, head_dim: 64, "
       "expert_ffn: 768, vocab: 1000, experts: 12, active_experts: 2}"});
}

std::string random_parallelism() {
  const std::vector<std::string> degrees{"1", "2", "3", "4", "6", "8"};
  const std::vector<std::string> flags{"true", "false"};
  std::string text;
  for (const std::string_view key : {"tp_size", "cp_size", "pp_size", "dp_size", "ep_size",
                                     "etp_size", "micro_batch", "virtual_stages"})
    text += maybe(key, degrees);
  text += maybe("zero_stage", {"0", "1", "2", "3"});
  text += maybe("shard_size", degrees);
  text += maybe("order", {"tp-pp-dp", "dp-tp-pp", "pp-dp-tp"});
  text += maybe("sequence_parallel", flags);
  text += maybe("cp_comm", {"p2p", "all_gather", "a2a"});
  text += maybe("microbatch_group", degrees);
  text += maybe("schedule", {"gpipe", "1f1b", "interleaved-1f1b", "looped-bfs", "zb-h1", "zb-v",
                             "interleaved-zb", "dualpipe", "dualpipe-v"});
  text += maybe("stages", {"[4, 4]", "[3, 3, 3, 3]", "[8, 8, 0]", "Et|tL", "Ettt|(tt|)*2tttL"});
  text += maybe("recompute", {"none", "selective", "full", "{full: 2}"});
  text += maybe("overlap", {"{grad_reduce: false}", "{param_gather: true}", "{tp: true}"});
  return text;
}

std::string random_plan() {
  const std::string world = one_of<std::string>({"8", "12", "16", "24", "64"});
  const std::string batch = maybe("global_batch", {"1", "6", "16", "36", "96"});
  const std::string sequence = maybe("sequence", {"1000", "1024", "4099", "4104"});
  const std::string dtype = maybe("param_dtype", {"fp16", "fp32"});
  return fmt::format("world_size: {}\nmodel: {}\nplacement: {}\nparallelism: {{{}}}\njob: {{{}}}\n",
                     world, random_model(), one_of<std::string>({"block", "cyclic"}),
                     random_parallelism(), batch + sequence + dtype);
}

/// Keeps the findings of arithmetic (RW01) and target (RW05) rules. Whether a fixed plan fits in
/// memory is tested elsewhere.
Diagnostics without_memory(Diagnostics all) {
  std::erase_if(all, [](const Diagnostic& d) {
    return !d.code.starts_with("RW01") && !d.code.starts_with("RW05");
  });
  return all;
}

RC_GTEST_PROP(Fixes, RemoveTheFindingFromRandomPlansForEveryTarget, ()) {
  const std::string text = random_plan();
  const TargetRow& target = targets()[*rc::gen::inRange<std::size_t>(0, targets().size())];
  const Diagnostics before = without_memory(diagnose(text, target.target));
  RC_CLASSIFY(before.empty());
  for (const Diagnostic& d : before) {
    RC_ASSERT(d.severity != Severity::error || !help(d).empty());
    if (d.fix.empty()) continue;
    const std::string fixed = typed(text, d.fix);
    RC_LOG() << d.code << " for " << target.name << " in\n" << text << "fixed:\n" << fixed;
    const Diagnostics after = without_memory(diagnose(fixed, target.target));
    // The rules of a target run only on plans without violations, so their findings may appear now.
    const bool was_hidden = d.code.starts_with("RW01");
    const std::string left = typed_plans::unhealed(before, after, d.code);
    RC_ASSERT(left.empty() || (was_hidden && left.starts_with("RW05")));
  }
}

}  // namespace repair_test
}  // namespace rankwright::rules
