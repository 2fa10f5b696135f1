// Mistyped keys of frameworks' files: what `check` prints about them.
#include <gtest/gtest.h>

#include "tests/support/golden.h"
#include "tests/support/run_command.h"

namespace rankwright::cli {
namespace typos_test {

TEST(Typos, EveryFramework_PrintsTheRightNameAndTheCost) {
  struct Case {
    const char* format;
    std::string text;
  };
  const Case cases[] = {
      {"megatron",
       "torchrun --nproc-per-node 8 pretrain_gpt.py --num-layers 24 --hidden-size 4096 \\\n"
       "  --num-attention-heads 32 --seq-length 2048 --max-position-embeddings 2048 \\\n"
       "  --micro-batch-size 1 --global-batch-size 64 --vocab-size 50257 --bf16 \\\n"
       "  --tensor-model-parallel-size 2 \\\n"
       "  --use-distributed-optimiser --sequence-paralel --frobnicate 3 --train-itres 9\n"},
      {"torchtitan-0.2",
       "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[parallelism]\ntensor_paralel_degree = 8\n"},
      {"deepspeed",
       "{\n  \"train_batch_size\": 64,\n  \"bf16\": {\"enabled\": true},\n"
       "  \"zero_optimization\": {\"stge\": 3}\n}\n"},
  };
  std::string all;
  for (const Case& one : cases) {
    const Scratch file(std::string("typo.") + (one.format == std::string("megatron")    ? "sh"
                                               : one.format == std::string("deepspeed") ? "json"
                                                                                        : "toml"));
    std::ofstream(file.path()) << one.text;
    const CommandResult said =
        run_command({"check", file.path(), "--cluster", "dgx-h100 x 1", "--quiet"});
    EXPECT_NE(said.code, kUnreadable) << one.format;
    std::string text = said.out;
    for (std::size_t at; (at = text.find(file.path())) != std::string::npos;)
      text.replace(at, file.path().size(), one.format);
    all += std::string("== ") + one.format + "\n" + text;
  }
  golden::expect("import/typos.txt", all);
}

}  // namespace typos_test
}  // namespace rankwright::cli
