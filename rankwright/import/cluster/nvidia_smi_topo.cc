// Reads the output of `nvidia-smi topo -m`: a matrix of how GPUs and NICs are connected. It states
// neither the GPU model nor bandwidths.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>

#include "rankwright/base/format.h"
#include "rankwright/import/cluster/cluster_format.h"
#include "rankwright/import/syntax/lines.h"

namespace rankwright::importer {
namespace {

constexpr std::size_t kMaxColumns = 512;
constexpr i64 kMaxNvLinks = 64;  // between two GPUs

/// Strips terminal escape sequences: the header is underlined.
std::string strip_colors(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      plain += text[i];
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == '[') {
      i += 2;
      while (i < text.size() && (text[i] < '@' || text[i] > '~') && text[i] != '\n') ++i;
      if (i < text.size() && text[i] == '\n') plain += '\n';
    }
  }
  return plain;
}

std::optional<i64> parse_numbered(std::string_view word, std::string_view prefix) {
  if (!word.starts_with(prefix)) return std::nullopt;
  i64 n = 0;
  const char* const end = word.data() + word.size();
  const auto [at, error] = std::from_chars(word.data() + prefix.size(), end, n);
  if (error != std::errc{} || at != end || n < 0) return std::nullopt;
  return n;
}

/// Returns the columns of a header line without the affinities; empty if it is not a header.
std::vector<std::string_view> parse_header(std::string_view line) {
  std::vector<std::string_view> columns;
  for (const TextWord& word : split_words(line)) {
    if (word.text == "CPU" || word.text == "NUMA" || word.text == "GPU") break;
    columns.push_back(word.text);
  }
  const bool named = std::all_of(columns.begin(), columns.end(), [](std::string_view column) {
    return column != "X" && !column.starts_with("NV") &&
           column.find_first_of("0123456789") != std::string_view::npos;
  });
  const bool has_gpu = std::find(columns.begin(), columns.end(), "GPU0") != columns.end();
  return named && has_gpu ? columns : std::vector<std::string_view>{};
}

/// A kind of connection, nearest first.
struct Connection {
  std::string_view word;
  Tier::Kind kind;
};
constexpr Connection kConnections[] = {
    {"PIX", Tier::Kind::pcie_switch}, {"PXB", Tier::Kind::pcie_switch},
    {"PHB", Tier::Kind::pcie},        {"NODE", Tier::Kind::pcie},
    {"SYS", Tier::Kind::socket},      {"SOC", Tier::Kind::socket},  // SOC: before driver 396
};

struct Cell {
  Tier::Kind kind = Tier::Kind::socket;
  i64 links = 0;  // NVLinks
  bool self = false;

  friend bool operator==(const Cell&, const Cell&) = default;
};

std::optional<Cell> read_cell(std::string_view word) {
  if (word == "X") return Cell{.self = true};
  for (const Connection& join : kConnections)
    if (word == join.word) return Cell{.kind = join.kind};
  const std::optional<i64> links = parse_numbered(word, "NV");
  if (!links || *links < 1 || *links > kMaxNvLinks) return std::nullopt;
  return Cell{.kind = Tier::Kind::nvlink, .links = *links};
}

class TopologyMatrix {
 public:
  TopologyMatrix(std::string_view file, ClusterParts& parts, Diagnostics& findings)
      : file_(file), parts_(parts), findings_(findings) {}

  void read(std::string_view text) {
    const std::vector<TextLine> lines = split_lines(text);
    auto line = lines.begin();
    while (line != lines.end() && parse_header(line->text).empty()) ++line;
    if (line == lines.end()) return fault("missing row of column names: GPU0 GPU1 ...", 0);
    const std::vector<std::string_view> named = parse_header(line->text);
    if (named.size() > kMaxColumns)
      return fault(fmt::format("{} columns: at most {} are supported", named.size(), kMaxColumns),
                   line->number);
    take_columns(named);
    for (++line; line != lines.end() && rows_.size() < gpus_; ++line)
      if (!read_row(*line)) return;
    if (rows_.size() < gpus_)
      return fault(fmt::format("missing row of {}", make_excerpt(columns_[rows_.size()])), 0);
    for (; line != lines.end(); ++line) read_legend(line->text);
    if (check_symmetric()) state_all();
  }

 private:
  void fault(std::string detail, int line, int column = 0) {
    findings_.push_back(bad_topology(std::move(detail), file_, line, column));
  }

  /// Sorts the columns of GPUs before the others.
  void take_columns(const std::vector<std::string_view>& named) {
    for (const bool gpu : {true, false})
      for (std::size_t i = 0; i < named.size(); ++i)
        if (parse_numbered(named[i], "GPU").has_value() == gpu) {
          columns_.push_back(named[i]);
          word_.push_back(i + 1);
          gpus_ += gpu;
        }
  }

  /// Reads a row; rows have the order of the columns. Other lines in between are ignored.
  bool read_row(const TextLine& line) {
    const std::vector<TextWord> words = split_words(line.text);
    if (words.empty() || !parse_numbered(words.front().text, "GPU")) return true;
    const std::string_view wanted = columns_[rows_.size()];
    if (words.front().text != wanted) {
      fault(fmt::format("expected the row of {}", make_excerpt(wanted)), line.number,
            words.front().column);
      return false;
    }
    if (words.size() < columns_.size() + 1) {
      fault(fmt::format("expected {} columns, but this row has {}", columns_.size(),
                        words.size() - 1),
            line.number, words.front().column);
      return false;
    }
    std::vector<Cell> row;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const TextWord& word = words[word_[i]];
      const std::optional<Cell> cell = read_cell(word.text);
      if (!cell || cell->self != (i == rows_.size())) {
        fault(fmt::format("'{}' is not a valid link between {} and {}", make_excerpt(word.text),
                          make_excerpt(wanted), make_excerpt(columns_[i])),
              line.number, word.column);
        return false;
      }
      row.push_back(*cell);
    }
    rows_.push_back(std::move(row));
    return true;
  }

  /// Reads "  NIC0: mlx5_0".
  void read_legend(std::string_view line) {
    const std::vector<TextWord> words = split_words(line);
    if (words.size() == 2 && words[0].text.ends_with(':') && words[0].text.starts_with("NIC"))
      nic_names_.emplace(words[0].text.substr(0, words[0].text.size() - 1), words[1].text);
  }

  bool check_symmetric() {
    for (std::size_t a = 0; a < gpus_; ++a)
      for (std::size_t b = 0; b < a; ++b)
        if (!(rows_[a][b] == rows_[b][a])) {
          fault(fmt::format("the rows of GPU{} and GPU{} give different links between them", b, a),
                0);
          return false;
        }
    return true;
  }

  /// Returns the domain of each GPU if all GPUs connected by `kind` or closer form one domain.
  std::vector<std::size_t> find_domains(Tier::Kind kind) const {
    std::vector<std::size_t> domain(gpus_);
    std::iota(domain.begin(), domain.end(), std::size_t{0});
    for (std::size_t a = 0; a < gpus_; ++a)
      for (std::size_t b = 0; b < gpus_; ++b)
        if (a != b && rows_[a][b].kind <= kind && domain[a] != domain[b]) {
          const std::size_t from = std::max(domain[a], domain[b]);
          std::replace(domain.begin(), domain.end(), from, std::min(domain[a], domain[b]));
        }
    return domain;
  }

  /// Returns the tiers that combine all GPUs into larger domains of equal size.
  std::vector<Tier> find_tiers() {
    std::vector<Tier> found;
    i64 inner = 1;
    for (const Tier::Kind kind :
         {Tier::Kind::nvlink, Tier::Kind::pcie_switch, Tier::Kind::pcie, Tier::Kind::socket}) {
      const std::vector<std::size_t> domain = find_domains(kind);
      std::map<std::size_t, i64> sizes;
      for (const std::size_t d : domain) ++sizes[d];
      const i64 size = sizes.begin()->second;
      const bool even = std::all_of(sizes.begin(), sizes.end(),
                                    [&](const auto& one) { return one.second == size; });
      if (!even || !divides(inner, size)) {
        findings_.push_back({.code = "RW0624",
                             .severity = Severity::warning,
                             .message = "the topology is uneven; averages are used",
                             .detail = "GPU groups have unequal sizes: that level is ignored",
                             .where = {.file = std::string(file_)}});
        continue;
      }
      if (size > inner) {
        check_neighbors(domain);
        found.push_back({kind, size / inner});
        inner = size;
      }
    }
    return found;
  }

  /// Warns if the GPUs of a domain are not numbered consecutively, as is assumed.
  void check_neighbors(const std::vector<std::size_t>& domain) {
    if (std::is_sorted(domain.begin(), domain.end()) || order_reported_) return;
    order_reported_ = true;
    std::vector<std::size_t> order(gpus_);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return domain[a] < domain[b]; });
    std::string list;
    for (const std::size_t gpu : order) list += fmt::format("{}{}", list.empty() ? "" : ",", gpu);
    findings_.push_back({.code = "RW0624",
                         .severity = Severity::warning,
                         .message = "the topology is uneven; averages are used",
                         .detail = "directly connected GPUs do not have consecutive numbers",
                         .hint = "CUDA_VISIBLE_DEVICES=" + list,
                         .where = {.file = std::string(file_)}});
  }

  NvLinks count_nvlinks() const {
    NvLinks max;
    for (std::size_t a = 0; a < gpus_; ++a) {
      i64 all = 0;
      for (std::size_t b = 0; b < gpus_; ++b) {
        max.pair = std::max(max.pair, rows_[a][b].links);
        all += rows_[a][b].links;
      }
      max.all = std::max(max.all, all);
    }
    return max;
  }

  /// Counts the NICs behind a PCIe switch with a GPU, or all NICs if there are none.
  i64 count_nics() const {
    i64 near = 0;
    for (std::size_t column = gpus_; column < columns_.size(); ++column)
      near += std::any_of(rows_.begin(), rows_.end(), [&](const std::vector<Cell>& row) {
        return row[column].kind == Tier::Kind::pcie_switch;
      });
    return near > 0 ? near : i64(columns_.size() - gpus_);
  }

  std::string_view find_network() const {
    for (std::size_t column = gpus_; column < columns_.size(); ++column) {
      const auto named = nic_names_.find(columns_[column]);
      const std::string_view name = named == nic_names_.end() ? columns_[column] : named->second;
      if (name.starts_with("rdmap") || name.starts_with("efa")) return "efa";
      if (name.starts_with("bnxt") || name.starts_with("irdma")) return "ethernet";
    }
    return "infiniband";
  }

  void state_all() {
    state(parts_.host_devices, i64(gpus_), "GPUs per host", file_, findings_);
    state(parts_.inside, find_tiers(), "links between GPUs", file_, findings_);
    if (const NvLinks links = count_nvlinks(); links.pair > 0)
      state(parts_.nvlinks, links, "NVLinks per GPU", file_, findings_);
    if (columns_.size() == gpus_) return;
    state(parts_.nics, count_nics(), "NICs per host", file_, findings_);
    state(parts_.network, std::string(find_network()), "the network", file_, findings_);
  }

  std::string_view file_;
  ClusterParts& parts_;
  Diagnostics& findings_;
  std::vector<std::string_view> columns_{};  // GPUs first
  std::vector<std::size_t> word_{};          // index of the word in a row, by column
  std::size_t gpus_ = 0;
  std::vector<std::vector<Cell>> rows_{};  // by GPU
  std::map<std::string_view, std::string_view> nic_names_{};
  bool order_reported_ = false;
};

}  // namespace

bool claims_nvidia_smi_topo(std::string_view, std::string_view text) {
  const std::string plain = strip_colors(text.substr(0, 65536));
  const std::vector<TextLine> lines = split_lines(plain);
  const auto found = std::find_if(lines.begin(), lines.end(), [](const TextLine& line) {
    return !parse_header(line.text).empty();
  });
  return std::any_of(found, lines.end(), [](const TextLine& line) {
    const std::vector<TextWord> words = split_words(line.text);
    return words.size() > 1 && words[0].text == "GPU0" &&
           std::any_of(words.begin(), words.end(),
                       [](const TextWord& word) { return word.text == "X"; });
  });
}

void read_nvidia_smi_topo(std::string_view text, std::string_view file, ClusterParts& parts,
                          Diagnostics& findings) {
  const std::string plain = strip_colors(text);
  TopologyMatrix(file, parts, findings).read(plain);
}

}  // namespace rankwright::importer
