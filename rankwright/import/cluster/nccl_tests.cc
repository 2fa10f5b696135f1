// Reads the output of nccl-tests: the ranks with their hosts and GPUs, and a table of times by
// size. Uses the times of out-of-place calls.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "rankwright/base/format.h"
#include "rankwright/import/cluster/cluster_format.h"
#include "rankwright/import/cluster/hardware_ids.h"
#include "rankwright/import/syntax/lines.h"

namespace rankwright::importer {
namespace {

constexpr std::size_t kMaxCalls = 4096, kMaxRanks = 1 << 16;

struct TestProgram {
  std::string_view name;
  std::optional<plan::Op> op;  // empty: not modeled
};

/// Longer names come first, because all_reduce_perf ends in reduce_perf.
constexpr TestProgram kPrograms[] = {
    {"all_reduce", plan::Op::all_reduce},
    {"all_gather", plan::Op::all_gather},
    {"reduce_scatter", plan::Op::reduce_scatter},
    {"alltoall", plan::Op::all_to_all},
    {"all_to_all", plan::Op::all_to_all},
    {"sendrecv", plan::Op::send_recv},
    {"broadcast", std::nullopt},
    {"hypercube", std::nullopt},
    {"gather", std::nullopt},
    {"scatter", std::nullopt},
    {"reduce", std::nullopt},
};

template <class T>
std::optional<T> parse_number_as(std::string_view text) {
  T n{};
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || at != text.data() + text.size()) return std::nullopt;
  return n;
}

/// Strips the prefixes of mpirun, srun --label ("0: ") and Markdown.
std::string_view strip_prefixes(std::string_view line) {
  if (const std::size_t digits = line.find_first_not_of("0123456789");
      digits != 0 && digits != std::string_view::npos && line.substr(digits, 2) == ": ")
    line.remove_prefix(digits + 2);
  if (const std::size_t tag = line.find("<stdout>:"); tag != std::string_view::npos)
    line.remove_prefix(tag + 9);
  const std::size_t first = line.find_first_not_of(" \t#");
  return first == std::string_view::npos ? std::string_view{} : line.substr(first);
}

/// One row of the table. Its last eight columns are always time, algbw, busbw, #wrong, twice.
struct Row {
  i64 size = 0;
  double time = 0;   // us
  double ratio = 0;  // busbw / algbw; 0 if unknown
  bool reduces = false;
};

std::optional<Row> read_row(std::string_view line) {
  const std::vector<TextWord> words = split_words(line);
  if (words.size() < 11 || words.size() > 14) return std::nullopt;
  const std::optional<i64> size = parse_number_as<i64>(words[0].text);
  const std::size_t at = words.size() - 8;
  const std::optional<double> time = parse_number_as<double>(words[at].text);
  const std::optional<double> algbw = parse_number_as<double>(words[at + 1].text);
  const std::optional<double> busbw = parse_number_as<double>(words[at + 2].text);
  if (!size || !parse_number_as<i64>(words[1].text) || !time || !algbw || !busbw)
    return std::nullopt;
  if (*size < 0 || !(*time >= 0 && *time < 1e12)) return std::nullopt;
  Row row{.size = *size, .time = *time};
  if (*algbw >= 1 && *busbw >= 0 && *busbw < 1e6) row.ratio = *busbw / *algbw;
  row.reduces = words[3].text == "sum" || words[3].text == "prod" || words[3].text == "max" ||
                words[3].text == "min" || words[3].text == "avg";
  return row;
}

class NcclTestsReader {
 public:
  NcclTestsReader(std::string_view file, ClusterParts& parts, Diagnostics& findings)
      : file_(file), parts_(parts), findings_(findings) {}

  void read(std::string_view text) {
    for (const TextLine& line : split_lines(text)) {
      const std::string_view content = strip_prefixes(line.text);
      take_program(content);
      if (content.starts_with("Rank ")) take_rank(content, line.number);
      if (const std::optional<Row> row = read_row(content)) take_row(*row, line.number);
      if (has_faults_) return;
    }
    if (ranks_.empty()) return fault("no line gives a rank, its host and its GPU", 0);
    if (rows_.empty()) return fault("the file has no table of sizes and times", 0);
    const std::optional<plan::Op> op = find_op();
    if (!op) return;
    state_all(*op);
  }

 private:
  void fault(std::string detail, int line, std::string hint = {}) {
    has_faults_ = true;
    findings_.push_back(bad_topology(std::move(detail), file_, line, line > 0 ? 1 : 0));
    findings_.back().hint = std::move(hint);
  }

  /// Reads "Collective test starting: all_reduce_perf", or the command line above the table.
  void take_program(std::string_view line) {
    const std::size_t end = line.find("_perf");
    if (end == std::string_view::npos || program_ != nullptr) return;
    const std::string_view before = line.substr(0, end);
    for (const TestProgram& program : kPrograms)
      if (before.ends_with(program.name)) {
        program_ = &program;
        return;
      }
  }

  /// Reads "Rank  0 Group  0 Pid 1887 on worker-1 device  0 [0x8d] NVIDIA H100 80GB HBM3".
  void take_rank(std::string_view line, int number_of_line) {
    const std::vector<TextWord> words = split_words(line);
    const std::optional<i64> rank =
        words.size() > 1 ? parse_number_as<i64>(words[1].text) : std::nullopt;
    const auto on = std::find_if(words.begin(), words.end(),
                                 [](const TextWord& word) { return word.text == "on"; });
    const auto device =
        std::find_if(on, words.end(), [](const TextWord& word) { return word.text == "device"; });
    if (!rank || on == words.end() || device == words.end() || device - on < 2)
      return fault("expected a rank, its host and its GPU", number_of_line);
    if (!ranks_.insert(*rank).second)
      return fault(fmt::format("rank {} appears twice: every process ran alone", *rank),
                   number_of_line, "build nccl-tests with MPI=1");
    if (ranks_.size() > kMaxRanks)
      return fault(fmt::format("more than {} ranks", count(i64(kMaxRanks))), number_of_line);
    ++hosts_[std::string((on + 1)->text)];
    const std::size_t product = line.find(']');
    if (product != std::string_view::npos)
      devices_.insert(std::string(device_of_product(line.substr(product + 1))));
  }

  void take_row(const Row& row, int line) {
    if (row.size == 0 || row.time == 0) return;
    if (rows_.size() == kMaxCalls)
      return fault(fmt::format("the table has more than {} rows", count(i64(kMaxCalls))), line);
    rows_.push_back(row);
  }

  /// Determines the collective from the command line, from the program, or from busbw / algbw:
  /// 2(n-1)/n for an all-reduce, (n-1)/n for its halves and for an all-to-all, 1 for a send.
  std::optional<plan::Op> find_op() {
    if (parts_.collective) return parts_.collective;
    if (program_ != nullptr) {
      if (!program_->op)
        fault(fmt::format("{}_perf is not a supported collective", program_->name), 0);
      return program_->op;
    }
    const double n = double(ranks_.size());
    const auto row_with_ratio =
        std::find_if(rows_.rbegin(), rows_.rend(), [](const Row& row) { return row.ratio > 0; });
    if (row_with_ratio != rows_.rend()) {
      const bool twice = std::abs(row_with_ratio->ratio - 2 * (n - 1) / n) < 0.05;
      const bool once = std::abs(row_with_ratio->ratio - (n - 1) / n) < 0.05;
      if (row_with_ratio->reduces && twice && !once) return plan::Op::all_reduce;
      if (row_with_ratio->reduces && once && !twice) return plan::Op::reduce_scatter;
    }
    fault("the file does not name its collective", 0, "--collective all_gather");
    return std::nullopt;
  }

  void state_all(plan::Op op) {
    const i64 each = hosts_.begin()->second;
    if (!std::all_of(hosts_.begin(), hosts_.end(),
                     [&](const auto& one) { return one.second == each; }))
      return fault("the hosts have different numbers of ranks", 0);
    if (devices_.size() == 1 && !devices_.begin()->empty())
      state(parts_.device, *devices_.begin(), "the GPU", file_, findings_);
    fit::MeasuredSeries series{.file = std::string(file_),
                               .op = op,
                               .ranks = i64(ranks_.size()),
                               .hosts = i64(hosts_.size())};
    for (const Row& row : rows_)
      series.calls.push_back({Bytes{double(row.size)}, row.time * 1.0_us});
    parts_.series.push_back(std::move(series));
  }

  std::string_view file_;
  ClusterParts& parts_;
  Diagnostics& findings_;
  bool has_faults_ = false;
  const TestProgram* program_ = nullptr;
  std::set<i64> ranks_{};
  std::map<std::string, i64> hosts_{};  // ranks per host
  std::set<std::string> devices_{};
  std::vector<Row> rows_{};
};

}  // namespace

std::optional<plan::Op> find_collective(std::string_view name) {
  for (const TestProgram& program : kPrograms)
    if (program.name == name) return program.op;
  return std::nullopt;
}

bool claims_nccl_tests(std::string_view, std::string_view text) {
  return text.find("algbw") != std::string_view::npos &&
         text.find("busbw") != std::string_view::npos &&
         (text.find("Rank ") != std::string_view::npos ||
          text.find("redop") != std::string_view::npos);
}

void read_nccl_tests(std::string_view text, std::string_view file, ClusterParts& parts,
                     Diagnostics& findings) {
  NcclTestsReader(file, parts, findings).read(text);
}

}  // namespace rankwright::importer
