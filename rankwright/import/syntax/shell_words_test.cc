#include "rankwright/import/syntax/shell_words.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

namespace rankwright::importer {
namespace shell_words_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

std::string join(const std::vector<ShellWord>& words) {
  std::string text;
  for (const ShellWord& word : words)
    text += (text.empty() ? "" : " ") + (word.unknown.empty() ? word.text : "?" + word.unknown);
  return text;
}

/// Returns the last command with flags.
std::string last_command(std::string_view text) {
  const ShellScript script = read_shell(text);
  return script.commands.empty() ? "" : join(script.commands.back().words);
}

std::string value_of(std::string_view text, const std::string& name) {
  const ShellScript script = read_shell(text);
  const auto found = script.variables.find(name);
  if (found == script.variables.end()) return "<none>";
  return found->second.unknown.empty() ? found->second.text : "?" + found->second.unknown;
}

TEST(ShellWords, ExpandVariables) {
  EXPECT_EQ(last_command("TP=8\nexport PP='4'\nrun --tp $TP --pp=${PP}x\n"), "run --tp 8 --pp=4x");
  EXPECT_EQ(last_command("run --a ${A:-4} --b ${1:-7} --c ${TP} --d \"$B\"\n"),
            "run --a 4 --b 7 --c ?TP --d ?B");
  EXPECT_EQ(last_command("A=2;B=3\nrun --n $((A*B + ${B})) --m $(( ($A+1)**2 / 2 ))"),
            "run --n 9 --m 4");  // 2 x 3 + 3; 3^2 / 2
  EXPECT_EQ(last_command("G=64\nN=2\nrun --n $[$G / (N * 4)] --m 3"), "run --n 8 --m 3");
  EXPECT_EQ(value_of("X=a\nY=${X:+b}\n", "Y"), "b");
  EXPECT_EQ(value_of("Y=${X:=5}\n", "X"), "5");
  EXPECT_TRUE(value_of("N=$(wc -l < hosts)\nM=$((N*8))\n", "M").starts_with("?"));
}

TEST(ShellWords, ReadListsWithCommentsAndJoinedLines) {
  const std::string_view script =
      "ARGS=(\n  --layers 32  # of them\n  # --hidden 1\n  --hidden \"4096\"\n)\n"
      "ARGS+=( --bf16 )\n"
      "torchrun \\\n  --nnodes 4 \\ \n  train.py ${ARGS[@]} \"${MORE[@]}\"\n";
  EXPECT_EQ(last_command(script),
            "torchrun --nnodes 4 train.py --layers 32 --hidden 4096 --bf16 ?MORE");
}

TEST(ShellWords, ReadFlagsInStrings) {
  const std::string_view script =
      "TP=2\nGPT=\"\n  --tp $TP \\\n  --seq 4096\"\nGPT=\"$GPT --bf16\"\n"
      "eval python train.py $GPT\n";
  EXPECT_EQ(last_command(script), "eval python train.py --tp 2 --seq 4096 --bf16");
  EXPECT_EQ(last_command("X=3\nsrun bash -c 'train --x $X'"), "srun bash -c train --x 3");
}

TEST(ShellWords, EveryWordHasItsOffset) {
  const std::string script = "TP=8\nA=( --tp ${TP}\n    --bf16 )\nrun ${A[@]}\n";
  const ShellScript read = read_shell(script);
  const std::vector<ShellWord>& words = read.commands.back().words;
  ASSERT_EQ(words.size(), 4u);
  EXPECT_EQ(words[2].at, script.find("${TP}"));   // a value is located where it is used
  EXPECT_EQ(words[3].at, script.find("--bf16"));  // a flag is located where it is written
}

TEST(ShellWords, KnownCondition_TakesItsBranch) {
  const std::string_view script =
      "S=7B\nif [ $S = 13B ]; then\n L=40\nelif [[ \"$S\" == \"7B\" ]]; then\n L=32\n"
      "else\n L=1\nfi\n[ $L -gt 30 ] && M=big || M=small\n";
  EXPECT_EQ(value_of(script, "L"), "32");
  EXPECT_EQ(value_of(script, "M"), "big");
  EXPECT_THAT(read_shell(script).guesses, IsEmpty());
  EXPECT_EQ(value_of("S=b\ncase $S in\n a) X=1 ;;\n b|c) X=2 ;;\n *) X=3 ;;\nesac\n", "X"), "2");
  EXPECT_EQ(value_of("if [ 1 -gt 2 ] || [ a = a ]; then X=1; else X=2; fi", "X"), "1");
  EXPECT_EQ(value_of("[ a = b ]\nwhile ((i < 3)); do\n X=1\ndone\n", "X"), "1");
  EXPECT_EQ(value_of("X=2\nif [ a = b ]; # never\n\nthen\n X=1\nfi\n", "X"), "2");
}

TEST(ShellWords, UnknownCondition_GuessesTheFirstBranch) {
  const std::string_view script = "if [ $1 = big ]; then\n L=96\nelse\n L=12\nfi\n";
  EXPECT_EQ(value_of(script, "L"), "96");
  ASSERT_EQ(read_shell(script).guesses.size(), 1u);
  // A guess without effect is not recorded.
  EXPECT_THAT(read_shell("if [ -z $1 ]; then echo usage; fi\n").guesses, IsEmpty());
}

TEST(ShellWords, SbatchLines_SetSlurmVariables) {
  const std::string_view script =
      "#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --gres=gpu:h100:8\n#SBATCH -J job\n"
      "N=$((SLURM_NNODES * SLURM_GPUS_ON_NODE))\n";
  EXPECT_EQ(value_of(script, "N"), "32");
}

TEST(ShellWords, DefaultOfAnUnsetVariable_IsNamed) {
  const ShellScript script =
      read_shell("N=${NODES:-1}\nW=$((N * 8))\nM=4\nrun --n $N --w $W --m ${M:-2}\n");
  const std::vector<ShellWord>& words = script.commands.back().words;
  ASSERT_EQ(words.size(), 7u);
  EXPECT_EQ(words[2].text, "1");
  EXPECT_EQ(words[2].default_of, "NODES");
  EXPECT_EQ(words[4].text, "8");
  EXPECT_EQ(words[4].default_of, "NODES");
  EXPECT_EQ(words[6].text, "4");  // the script sets it
  EXPECT_EQ(words[6].default_of, "");
}

TEST(ShellWords, WordsOfAGuessedBranch_NameTheCondition) {
  const ShellScript script = read_shell(
      "TP=4\nif [ $BATCH -eq 0 ]; then\n N=1\n run --n $N --tp $TP --g 8\nelse\n N=2\nfi\n"
      "run --n $N --m 3\n");
  ASSERT_GE(script.commands.size(), 2u);
  const std::vector<ShellWord>& inside = script.commands[script.commands.size() - 2].words;
  EXPECT_EQ(inside[2].default_of, "?BATCH");
  EXPECT_EQ(inside[4].default_of, "");  // set before
  EXPECT_EQ(inside[6].default_of, "?BATCH");
  const std::vector<ShellWord>& after = script.commands.back().words;
  EXPECT_EQ(after[2].default_of, "?BATCH");
  EXPECT_EQ(after[4].default_of, "");
}

TEST(ShellWords, GivenVariables_ReplaceDefaults) {
  const ShellInput input{.variables = {{"NODES", "4"}, {"1", "7B"}, {"SLURM_NNODES", "2"}}};
  const ShellScript script =
      read_shell("#SBATCH --nodes=1\nrun --n ${NODES:-1} --size $1 --slurm $SLURM_NNODES\n", input);
  EXPECT_EQ(join(script.commands.back().words), "run --n 4 --size 7B --slurm 2");
  EXPECT_EQ(script.commands.back().words[2].default_of, "");
  EXPECT_THAT(script.used, ElementsAre("1", "NODES", "SLURM_NNODES"));
}

TEST(ShellWords, ManyAppends_AreNotCut) {
  std::string script = "A=\"\"\nB=\"\"\n";
  for (int i = 0; i < 200; ++i) {
    script += "A+=\" --flag-number-" + std::to_string(i) + " some-value\"\n";
    script += "B=\"$B --flag-number-" + std::to_string(i) + " some-value\"\n";
  }
  const ShellScript read = read_shell(script + "run $A $B\n");
  EXPECT_FALSE(read.cut);
  EXPECT_EQ(read.commands.back().words.size(), 801u);  // 1 + 2 x 2 x 200
}

TEST(ShellWords, SourcedFile_SetsVariables) {
  ShellInput input{.file = "jobs/train.sh"};
  std::vector<std::string> asked;
  input.files = [&](const std::string& path) -> Result<std::string> {
    asked.push_back(path);
    if (path == "jobs/env.sh") return "TP=4\nsource deeper.sh\n";
    if (path == "jobs/deeper.sh") return "PP=2\nsource env.sh\n";  // and so on
    return fail({.code = "RW0910", .message = "gone"});
  };
  const std::string text = "source env.sh\n. ./gone.sh\nrun --tp $TP --pp $PP\n";
  const ShellScript script = read_shell(text, input);
  EXPECT_EQ(join(script.commands.back().words), "run --tp 4 --pp 2");
  EXPECT_THAT(script.sources, ElementsAre("./gone.sh"));
  for (const ShellWord& word : script.commands.back().words) EXPECT_LT(word.at, text.size());
}

TEST(ShellWords, Functions_RunWhereTheyAreCalled) {
  EXPECT_EQ(last_command("train() {\n  local TP=$1\n  run --tp $TP --all \"$@\"\n}\n"
                         "TP=1\ntrain 8 x\n"),
            "run --tp 8 --all 8 x");
  EXPECT_EQ(last_command("function go {\n run --a ${A}\n}\nA=2\ngo\n"), "run --a 2");
  // Another program may call it.
  EXPECT_EQ(last_command("go() {\n run --a 3\n}\nexport -f go\nsrun bash -c go\n"), "run --a 3");
}

TEST(ShellWords, LoopOverArguments_IsNotRun) {
  EXPECT_EQ(last_command("TP=2\nwhile [ $# -gt 0 ]; do\n case $1 in\n --tp) TP=$2; shift ;;\n"
                         " esac\n shift\ndone\nrun --tp $TP\n"),
            "run --tp 2");
  EXPECT_EQ(last_command("for TP in 4 8; do\n run --tp $TP\ndone\n"), "run --tp 4");
  EXPECT_EQ(last_command("TP=2\nfor arg in \"$@\"; do\n case $arg in\n --tp=*) TP=${arg#*=} ;;\n"
                         " esac\ndone\nrun --tp $TP\n"),
            "run --tp 2");
}

TEST(ShellWords, NestedDefaultsWithoutEnd_AreTriedOnce) {
  std::string script = "run --tp ";
  for (int i = 0; i < 400; ++i) script += "${A:-";
  EXPECT_FALSE(read_shell(script).cut);
}

TEST(ShellWords, ExponentialExpansion_IsCut) {
  std::string script = "A=xxxxxxxxxxxxxxxx\n";
  for (int i = 0; i < 60; ++i) script += "A=\"$A$A\"\n";
  EXPECT_TRUE(read_shell(script).cut);
  EXPECT_EQ(value_of("A=$A-\nA=${A}\n", "A"), "?A");
}

TEST(ShellArithmetic, Overflow_Fails) {
  i64 n = 0;
  EXPECT_TRUE(evaluate_arithmetic("2*(3+4)%5", n));
  EXPECT_EQ(n, 4);  // 14 mod 5
  EXPECT_FALSE(evaluate_arithmetic("9223372036854775807+1", n));
  EXPECT_FALSE(evaluate_arithmetic("1/0", n));
  EXPECT_FALSE(evaluate_arithmetic("", n));
  EXPECT_FALSE(evaluate_arithmetic("2 3", n));
}

// Evaluation of any text ends, with offsets inside the text.
TEST(ShellWords, AnyText_Terminates) {
  constexpr std::string_view kPieces[] = {"\"",    "'",   "$",  "{",  "}",  "(",    ")",
                                          "A=",    "$A",  "\n", "if", "[ ", " ]",   "then",
                                          "case ", " in", ";;", "`",  "\\", "#",    "--",
                                          "${A:-", "$((", "))", "fi", " ",  "esac", "run --a "};
  int words = 0;
  EXPECT_TRUE(rc::check("offsets are inside the text", [&] {
    std::string text;
    const int n = *rc::gen::inRange(0, 60);
    for (int i = 0; i < n; ++i)
      text += kPieces[*rc::gen::inRange<std::size_t>(0, std::size(kPieces))];
    const ShellScript script = read_shell(text);
    for (const ShellCommand& command : script.commands)
      for (const ShellWord& word : command.words) {
        RC_ASSERT(word.at < text.size());
        ++words;
      }
  }));
  EXPECT_GT(words, 0);
}

TEST(ReadShell, ManyHereDocumentsOnALine_TakeLinearTime) {
  // Scanning to the end of the line for each of them would take minutes.
  std::string line;
  for (int i = 0; i < 1'000'000; ++i) line += "<<a";
  EXPECT_TRUE(read_shell(line + "\n{\n").commands.empty());
}

TEST(ShellWords, FolderOfTheScript_IsKnown) {
  ShellInput input{.file = "jobs/train.sh"};
  input.files = [&](const std::string& path) -> Result<std::string> {
    if (path == "jobs/./models/a.sh") return "TP=4\nHERE=$(dirname \"$0\")\n";
    return fail({.code = "RW0910", .message = "gone"});
  };
  const ShellScript script = read_shell(
      "DIR=\"$(cd -- \"$(dirname -- \"${BASH_SOURCE[0]}\")\" &>/dev/null && pwd)\"\n"
      "source \"${DIR}/models/a.sh\"\nrun --tp $TP --at $HERE\n",
      input);
  EXPECT_EQ(join(script.commands.back().words), "run --tp 4 --at ?a command's output");
  EXPECT_EQ(value_of("D=$(dirname $0)/../x\n", "D"), "./../x");
  EXPECT_EQ(value_of("D=$(realpath \"$(dirname \"$0\")/..\")\n", "D"), "./..");
  EXPECT_EQ(value_of("D=$(dirname \"$(dirname \"$0\")\")\n", "D"), "./..");
  EXPECT_TRUE(value_of("D=$(dirname $(which python))\n", "D").starts_with("?"));
  EXPECT_TRUE(value_of("D=$(cd $(dirname $0) && ls)\n", "D").starts_with("?"));
}

TEST(ShellWords, FolderOfTheCommand_IsThatOfTheScript) {
  EXPECT_EQ(value_of("D=$(pwd)/models\n", "D"), "./models");
  EXPECT_EQ(value_of("D=`pwd`/models\n", "D"), "./models");
}

TEST(ShellWords, BranchThatADefaultDecides_NamesItsVariable) {
  const ShellScript script = read_shell(
      "R=${1:-1}\nif [ \"$R\" -eq 0 ]; then\n A=\nelif [ \"$R\" -eq 1 ]; then\n A=full\nfi\n"
      "case ${SIZE:-7B} in\n 13B) L=40 ;;\n 7B) L=32 ;;\nesac\n"
      "if [ $L -gt 1 ]; then B=4; fi\nT=2\nrun --a $A --l $L --b $B --t $T\n");
  const std::vector<ShellWord>& words = script.commands.back().words;
  ASSERT_EQ(words.size(), 9u);
  EXPECT_EQ(words[2].text, "full");
  EXPECT_EQ(words[2].default_of, "1");
  EXPECT_EQ(words[4].text, "32");
  EXPECT_EQ(words[4].default_of, "SIZE");
  EXPECT_EQ(words[6].default_of, "SIZE");  // L is that of the size
  EXPECT_EQ(words[8].default_of, "");
  EXPECT_THAT(script.guesses, IsEmpty());
  EXPECT_EQ(script.defaults.at("SIZE"), "7B");
}

TEST(ShellWords, DefaultOfABranchNotTaken_IsNotUsed) {
  const ShellScript script = read_shell(
      "M=7\nif [ $M = 80 ]; then\n L=${LAYERS:-80}\nelse\n L=${LAYERS:-40}\nfi\nrun --l $L\n");
  EXPECT_EQ(script.defaults.at("LAYERS"), "40");
}

TEST(ShellWords, LetEvaluatesArithmetic) {
  EXPECT_EQ(value_of("N=4\nlet BATCH=2*N*8\n", "BATCH"), "64");
  EXPECT_EQ(value_of("let A=3+1 B=A*2\n", "B"), "8");
}

// Each of up to 16 nested calls makes three more: 43 million calls, if the budget did not end them.
TEST(ShellWords, FunctionsThatCallThemselves_EndSoon) {
  const ShellScript script = read_shell("f() {\n run $1\n f $1 a\n f $1 b\n f $1 c\n}\nf x\n");
  EXPECT_TRUE(script.cut);
  EXPECT_LT(script.commands.size(), 2000u);
}

TEST(ShellWords, VisibleGpus_AreCounted) {
  const std::string set = "export CUDA_VISIBLE_DEVICES=4,5,6\n";
  for (const char* const count : {"$(echo $CUDA_VISIBLE_DEVICES | awk -F',' '{print NF}')",
                                  "$(echo \"$CUDA_VISIBLE_DEVICES\" | tr ',' '\\n' | wc -l)",
                                  "$(($(echo $CUDA_VISIBLE_DEVICES | grep -o ',' | wc -l) + 1))"}) {
    EXPECT_EQ(value_of(set + "N=" + count + "\n", "N"), "3") << count;
    EXPECT_NE(value_of(std::string("N=") + count + "\n", "N"), "3") << count;
  }
}

TEST(ShellWords, ItemsOfAnArray_HaveKeys) {
  const std::string_view script =
      "declare -A path\npath[\"a\"]=/x/A\npath[b]=/x/B\nk=b\nM=${path[$k]}\nN=${path[a]}\n"
      "O=${path[c]}\n";
  EXPECT_EQ(value_of(script, "M"), "/x/B");
  EXPECT_EQ(value_of(script, "N"), "/x/A");
  EXPECT_EQ(value_of("path[$k=1\nX=2\n", "X"), "2");
}

// A script that starts the run on its first node only states what that node runs.
TEST(ShellWords, NumberOfTheNode_IsZero) {
  for (const char* const condition :
       {"[ \"$NODE_RANK\" -eq 0 ]", "[[ $RANK == 0 ]]", "[ ${SLURM_PROCID:-0} = 0 ]"}) {
    const ShellScript script =
        read_shell(std::string("if ") + condition + "; then\n run --n 4\nelse\n wait\nfi\n");
    EXPECT_THAT(script.guesses, IsEmpty()) << condition;
    ASSERT_FALSE(script.commands.empty()) << condition;
    EXPECT_EQ(script.commands[0].words.back().default_of, "") << condition;
  }
  EXPECT_EQ(value_of("if [ $NODE_RANK != 0 ]; then\n X=1\nelse\n X=2\nfi\n", "X"), "2");
}

TEST(ShellWords, ProgramsInHereDocuments_AreNotCommands) {
  const ShellScript script = read_shell(
      "B=4\npython - <<EOF\nfor x in rows:\n  if not x:\n    continue\nprint(len(x) # ')\nEOF\n"
      "run --batch $B\n");
  EXPECT_EQ(join(script.commands.back().words), "run --batch 4");
  EXPECT_THAT(script.guesses, IsEmpty());
}

TEST(ShellWords, ConfigsThatAScriptWrites_AreKept) {
  const ShellScript script = read_shell(
      "N=2\ncat <<EOT > conf/ds.json\n{\"stage\": $N, \"batch\": \"$B\"}\nEOT\n"
      "cat > a.yaml << 'EOF'\nn: $N\nEOF\n"
      "if [ $N = 3 ]; then\n cat <<E > b.yaml\nn: 1\nE\nfi\nrun --n $N\n");
  EXPECT_THAT(script.written,
              UnorderedElementsAre(Pair("conf/ds.json", "{\"stage\": 2, \"batch\": \"$B\"}\n"),
                                   Pair("a.yaml", "n: $N\n")));
  EXPECT_EQ(join(script.commands.back().words), "run --n 2");
}

TEST(ShellWords, ConfigsThatEchoWrites_AreKept) {
  const ShellScript script = read_shell(
      "N=2\necho 'a: 1\nb: $N' > x.yml\necho \"c: $N\" >> x.yml\necho $U > y.yml\necho done > "
      "log\n");
  EXPECT_THAT(script.written, UnorderedElementsAre(Pair("x.yml", "a: 1\nb: $N\nc: 2\n")));
}

TEST(ShellWords, ScriptsInHereDocuments_AreCommands) {
  EXPECT_EQ(last_command("T=2\nsbatch <<EOF\n#!/bin/bash\nrun --tp $T\nEOF\n"), "run --tp 2");
}

TEST(ShellWords, TemplatesFilledWithTheEnvironment_AreKept) {
  const ShellInput input{.file = "run.sh",
                         .files = [](const std::string& path) -> Result<std::string> {
                           if (path != "t.yaml") return refuse_file(path);
                           return "batch: $B\nlength: ${L}\n";
                         }};
  const ShellScript script = read_shell("export B=4\nenvsubst < t.yaml > out.yaml\n", input);
  EXPECT_THAT(script.written, UnorderedElementsAre(Pair("out.yaml", "batch: 4\nlength: ${L}\n")));
}

TEST(ShellWords, FoldersThatCommandsPrint_AreThoseOfTheScript) {
  EXPECT_EQ(value_of("H=$(python3 -c 'import os; print(os.getcwd())')\n", "H"), ".");
  EXPECT_EQ(value_of("S=$(realpath $0)\nD=$(dirname $S)\n", "D"), ".");
}

TEST(ShellWords, SlurmOptionsOfOneLine_AreAllRead) {
  EXPECT_EQ(last_command("#SBATCH --partition a --exclusive --nodes 31\nrun --n $SLURM_NNODES\n"),
            "run --n 31");
}

TEST(ShellWords, OtherResourcesOfASlurmJob_AreNoGpus) {
  const auto gpus = [](const std::string& option) {
    return last_command("#SBATCH --gres=" + option + "\nrun --n $SLURM_GPUS_ON_NODE\n");
  };
  EXPECT_EQ(gpus("gpu:v100:4,nvme:100"), "run --n 4");
  EXPECT_EQ(gpus("nvme:100,gpu:2  # two"), "run --n 2");
  EXPECT_EQ(gpus("nvme:100"), "run --n ?SLURM_GPUS_ON_NODE");
}

TEST(ShellWords, GpusOfASlurmJob_AreSpreadOverItsNodes) {
  EXPECT_EQ(last_command("#SBATCH --nodes 128\n#SBATCH --gpus 512\nrun --n $SLURM_GPUS_ON_NODE\n"),
            "run --n 4");
}

TEST(ShellWords, PartsOfValues) {
  const std::string set = "P=a/b/Llama-3.1-8B.bin\nG=0,1,2\nL=(4 5 6)\nN=G\n";
  const auto part = [&](const std::string& expression) {
    return value_of(set + "X=" + expression + "\n", "X");
  };
  EXPECT_EQ(part("${P##*/}"), "Llama-3.1-8B.bin");
  EXPECT_EQ(part("${P#*/}"), "b/Llama-3.1-8B.bin");
  EXPECT_EQ(part("${P%.*}"), "a/b/Llama-3.1-8B");
  EXPECT_EQ(part("${P%%.*}"), "a/b/Llama-3");
  EXPECT_EQ(part("${P//\\//_}"), "a_b_Llama-3.1-8B.bin");
  EXPECT_EQ(part("${P/a/c}"), "c/b/Llama-3.1-8B.bin");
  EXPECT_EQ(part("${G:0:1}"), "0");
  EXPECT_EQ(part("${G: -1}"), "2");
  EXPECT_EQ(part("${P:9}"), "-3.1-8B.bin");
  EXPECT_EQ(part("${P^^}"), "A/B/LLAMA-3.1-8B.BIN");
  EXPECT_EQ(part("${#L[@]}"), "3");
  EXPECT_EQ(part("${#G}"), "5");
  EXPECT_EQ(part("${!N}"), "0,1,2");
  EXPECT_EQ(part("${P:-x}"), "a/b/Llama-3.1-8B.bin");
  EXPECT_EQ(part("${P##[a-z]}"), "a/b/Llama-3.1-8B.bin");  // no such pattern: nothing matches
  EXPECT_EQ(part("$((${#L[@]} * 2))"), "6");
  EXPECT_EQ(part("${#U[@]}"), "?U");
  EXPECT_EQ(part("${U##*/}"), "?U");
  EXPECT_EQ(value_of("P=$HOME/models/qwen\nX=${P##*/}\n", "X"), "qwen");
}

// The work of a pattern grows with the square of the value: long values are unknown.
TEST(ShellWords, PartsOfLongValues_AreUnknown) {
  EXPECT_EQ(value_of("P=a/" + std::string(300, 'b') + "\nX=${P##*/}\n", "X"), "?P");
  EXPECT_EQ(value_of("P=a/" + std::string(200, 'b') + "\nX=${P##*/}\n", "X"),
            std::string(200, 'b'));
}

TEST(ShellWords, OutputOfSimpleCommands) {
  const std::string set = "G=0,1,2,3\nM=/a/Qwen-7B\n";
  const auto output = [&](const std::string& command) {
    return value_of(set + "X=" + command + "\n", "X");
  };
  EXPECT_EQ(output("$(echo $G | tr ',' '\\n' | wc -l)"), "4");
  EXPECT_EQ(output("$(echo \"$G\" | awk -F',' '{print NF}')"), "4");
  EXPECT_EQ(output("$(echo $G | tr ',' ' ' | wc -w)"), "4");
  EXPECT_EQ(output("$(echo $G | grep -o ',' | wc -l)"), "3");
  EXPECT_EQ(output("$(echo $M | tr '[:upper:]' '[:lower:]')"), "/a/qwen-7b");
  EXPECT_EQ(output("$(echo \"8 * 4\" | bc)"), "32");
  EXPECT_EQ(output("`expr 64 / 8`"), "8");
  EXPECT_EQ(output("\"a`echo b`c\""), "abc");
  EXPECT_EQ(output("$(basename $M)"), "Qwen-7B");
  EXPECT_EQ(output("$(dirname $M)"), "/a");
  EXPECT_EQ(output("$(cd -- \"$M/..\" && pwd)/b"), "/a/Qwen-7B/../b");
  EXPECT_EQ(output("$(cd $M >/dev/null && pwd -P)"), "/a/Qwen-7B");
  EXPECT_EQ(output("$(wc -l hosts)"), "?a command's output");
  EXPECT_EQ(output("$(echo $U | tr ',' '\\n' | wc -l)"), "?a command's output");
  EXPECT_EQ(last_command("run --a 1 `# --b 2` \\\n --c 3\n"), "run --a 1 --c 3");
}

TEST(ShellWords, ListsContinueOnTheNextLine) {
  EXPECT_EQ(value_of("true &&\n  # why\n  X=1\n", "X"), "1");
  EXPECT_EQ(value_of("X=0\nfalse &&\n\n  X=1\n", "X"), "0");
}

TEST(ShellWords, PatternsOfCasesAndTests) {
  const std::string choose =
      "case $M in\n *7b*|*8b*) X=small;;\n ??B) X=short;;\n *) X=other;;\nesac\n";
  EXPECT_EQ(value_of("M=llama-7b-hf\n" + choose, "X"), "small");
  EXPECT_EQ(value_of("M=70B\n" + choose, "X"), "short");
  EXPECT_EQ(value_of("M=700B\n" + choose, "X"), "other");
  EXPECT_EQ(value_of("M=q-70b\nX=1\nif [[ $M == *70b ]]; then\n X=2\nfi\n", "X"), "2");
  EXPECT_EQ(value_of("M=q-70b\nX=1\nif [[ $M =~ 7b ]]; then\n X=2\nfi\n", "X"), "1");
  EXPECT_EQ(value_of("N=16\nif (( N > 8 && N % 8 == 0 )); then\n X=2\nelse\n X=1\nfi\n", "X"), "2");
  EXPECT_EQ(value_of("A=3\nB=5\nX=$(( A > B ? A : B ))\n", "X"), "5");
}

TEST(ShellWords, OptionsOfAScriptThatAnotherOneRuns_AreRead) {
  const std::string inner =
      "gpus=8\nwhile [[ $# -gt 0 ]]; do\n case \"$1\" in\n  --gpus) gpus=\"$2\"; shift 2;;\n"
      "  --model=*) model=\"${1#*=}\"; shift;;\n  *) shift;;\n esac\ndone\n"
      "run --gpus $gpus --model ${model:-none} --rest \"${3:-x}\"\n";
  const ShellInput input{
      .file = "outer.sh", .files = [&](const std::string& path) -> Result<std::string> {
        return path.ends_with("inner.sh") ? Result<std::string>(inner)
                                          : Result<std::string>(refuse_file(path));
      }};
  const auto run = [&](const char* outer) {
    return join(read_shell(outer, input).commands.back().words);
  };
  EXPECT_EQ(run("bash inner.sh --gpus 4 --y 2 --model=a\n"), "run --gpus 4 --model a --rest x");
  EXPECT_EQ(run("./inner.sh --gpus 4\n"), "run --gpus 4 --model none --rest x");
  EXPECT_EQ(run("exec bash inner.sh --gpus 4\n"), "run --gpus 4 --model none --rest x");
  EXPECT_EQ(run("bash other.sh --gpus 4\n"), "bash other.sh --gpus 4");
}

// bash reads "--b 2" as the next command, and does not find it.
TEST(ShellWords, FlagsThatALineEndCutsOff) {
  const ShellScript script =
      read_shell("run --a 1 \\\n  # --x 3 \\\n  --b 2 \\\n  --c 3\nrun --d 4\n");
  EXPECT_EQ(join(script.commands.front().words), "run --a 1");
  EXPECT_EQ(join(script.commands.back().words), "run --d 4");
  EXPECT_EQ(script.commands.size(), 2U);
  EXPECT_THAT(script.cut_off, ElementsAre(26U));
  // No backslash behind "--a 1".
  EXPECT_THAT(read_shell("run --a 1\n  --b 2 \\\n --c 3\n  # x\n  --d 4\n").cut_off,
              ElementsAre(12U));
  EXPECT_THAT(read_shell("run --a 1\nX=1\n--b 2\n").cut_off, IsEmpty());
  // A list of flags.
  EXPECT_EQ(last_command("--a 1\n--b 2\n"), "--b 2");
}

// Nobody has set it: what the script does without it is known, and recorded as a guess.
TEST(ShellWords, VariableThatABranchNeeds_IsUnset) {
  for (const char* const test :
       {"[ -n \"$X\" ]", "[[ ! -z $X ]]", "! [ -z \"$X\" ]", "[ \"$X\" ]"}) {
    const ShellScript script =
        read_shell(std::string("if ") + test + "; then\n A=1\nelse\n A=2\nfi\nrun --a $A\n");
    EXPECT_EQ(join(script.commands.back().words), "run --a 2") << test;
    EXPECT_EQ(script.commands.back().words.back().default_of, "?X") << test;
    EXPECT_EQ(script.guesses.size(), 1U) << test;
  }
  EXPECT_EQ(value_of("A=0\nif [ -n \"$X\" ]; then\n A=1\nfi\n", "A"), "0");
  EXPECT_EQ(value_of("A=0\nif [ -z \"$X\" ]; then\n A=1\nfi\n", "A"), "1");
  EXPECT_EQ(value_of("A=0\nif [ -n \"$1\" ]; then\n A=1\nfi\n", "A"), "1");  // an argument
}

TEST(ShellWords, WordsOfAHereString_AreRead) {
  EXPECT_EQ(
      last_command("C=2,4,x\nIFS=',' read -r TP PP REST <<< \"$C\"\nrun --tp $TP --pp $PP $REST\n"),
      "run --tp 2 --pp 4 x");
  EXPECT_EQ(value_of("read A B <<< \"1  2 3\"\n", "B"), "2 3");  // the last one gets the rest
  EXPECT_EQ(last_command("IFS=: read -ra L <<< a:b\nrun --list ${L[@]}\n"), "run --list a b");
  EXPECT_EQ(last_command("IFS=, read A B <<< $UNSET\nrun --a $A --b $B\n"),
            "run --a ?UNSET --b ?UNSET");
}

// A script that is run without arguments trains.
TEST(ShellWords, ArgumentForATrialRun_IsNotGiven) {
  const std::string rest = "; then\n A=1\nelse\n A=2\nfi\n";
  EXPECT_EQ(value_of("if [[ \"$1\" == \"debug\" ]]" + rest, "A"), "2");
  EXPECT_EQ(value_of("if [[ \"$1\" == \"7b\" ]]" + rest, "A"), "1");
}

// Another shell evaluates the text, whatever starts it.
TEST(ShellWords, TextOfAnotherShell_IsAScript) {
  const std::string inner =
      "\n  A=(--tp 2 --batch 256)\n  B=(\n    --pp $N\n  )\n  run \"${A[@]}\" ${B[@]}\n";
  const std::string script = "N=4\nsrun --nodes 3 ./wrapper.sh bash -lc '" + inner + "'\n";
  const ShellInput input{.file = "a.sh",
                         .files = [](const std::string& name) -> Result<std::string> {
                           if (!name.ends_with("wrapper.sh")) return refuse_file(name);
                           return "apptainer exec x \"$@\"\n";
                         }};
  const ShellScript read = read_shell(script, input);
  EXPECT_EQ(join(read.commands.back().words), "run --tp 2 --batch 256 --pp 4");
  EXPECT_EQ(join(read.commands.front().words), "srun --nodes 3 ./wrapper.sh bash");
  EXPECT_EQ(last_command("bash -c 'run --x $X'\n"), "bash -c run --x ?X");
}

// The text that `cat` prints has no commands.
TEST(ShellWords, PrintedDocument_IsText) {
  EXPECT_EQ(read_shell("usage() {\n cat <<'E'\nrun --tp 9\nE\n}\nrun --tp 2\n").commands.size(),
            1U);
}

// Whatever launches a script, and in the folder that was entered.
TEST(ShellWords, ScriptBehindALauncher_IsFollowed) {
  const auto last = [](const std::string& script) {
    const ShellInput input{.file = "a.sh",
                           .files = [](const std::string& name) -> Result<std::string> {
                             if (name == "sub/b.sh" || name.ends_with("c.sh"))
                               return "run --tp $1\n";
                             return refuse_file(name);
                           }};
    const ShellScript read = read_shell(script, input);
    return read.commands.empty() ? "" : join(read.commands.back().words);
  };
  for (const char* const run :
       {"exec bash c.sh 4", "N=2 bash -x c.sh 4", "srun --nodes 2 bash c.sh 4", "env A=1 ./c.sh 4",
        "nohup bash c.sh 4", "cd /root/x/sub\nsh b.sh 4"})
    EXPECT_EQ(last(std::string(run) + "\n"), "run --tp 4") << run;
  EXPECT_EQ(last("python train.py --hook c.sh\n"), "python train.py --hook c.sh");
}

// `[[` does not split or drop words: an empty one is still the argument of -n.
TEST(ShellWords, EmptyWordInDoubleBrackets_IsKept) {
  EXPECT_EQ(value_of("if [[ -n ${A-} ]]; then X=1; else X=2; fi\n", "X"), "2");
  EXPECT_EQ(value_of("if [[ -z ${A:-} ]]; then X=1; else X=2; fi\n", "X"), "1");
  EXPECT_EQ(value_of("A=3\nif [[ -n ${A-} ]]; then X=1; else X=2; fi\n", "X"), "1");
}

TEST(ShellWords, FolderOfTheScript_IsTheOneItRunsIn) {
  EXPECT_EQ(last_command("R=$PWD\nrun --a $R/x.toml\n"), "run --a ./x.toml");
}

TEST(ShellWords, AssignmentsOfEnv_AreThoseOfTheCommand) {
  EXPECT_EQ(last_command("env TP=4 N=2 bash -c 'true'\nrun --tp $TP\n"), "run --tp 4");
}

// The training run is what the first node starts; how it finds its number is not known.
TEST(ShellWords, RunOfTheFirstNode_IsFound) {
  const std::string script =
      "HEAD=0\nC=\"${NODE_RANK:-}\"\n"
      "if [ \"${C:-}\" = \"0\" ]; then HEAD=1; fi\n"
      "if [ \"$HEAD\" = \"1\" ]; then\n  python3 train.py --tp 2\n"
      "else\n  ray start --address=$A\nfi\n";
  EXPECT_EQ(last_command(script), "python3 train.py --tp 2");
  EXPECT_THAT(read_shell(script).used, IsEmpty());
}

// The script of another machine in a variable, which `kubectl exec` runs.
TEST(ShellWords, DocumentOfAVariable_IsAScript) {
  const ShellScript script = read_shell(
      "N=3\nJOB=$(cat <<EOF\n# (a\npython train.py \\\n  --nodes $N\n"
      "EOF\n)\necho \"$JOB\" | kubectl exec -i pod -- bash\n");
  ASSERT_FALSE(script.commands.empty());
  EXPECT_EQ(join(script.commands.front().words), "python train.py --nodes 3");
}

// The text of `bash -c` has variables of its own.
TEST(ShellWords, VariablesInATextForAnotherShell_AreItsOwn) {
  EXPECT_EQ(last_command("srun shifter bash -c '\n  TP=4\n  torchrun a.py --tp $TP\n'\n"),
            "torchrun a.py --tp 4");
}

}  // namespace shell_words_test
}  // namespace rankwright::importer
