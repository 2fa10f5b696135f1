// What launchers are told is read back from their files, and is where the plan puts its ranks.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <regex>
#include <sstream>

#include "rankwright/export/launcher/host_table.h"
#include "tests/support/any_config.h"
#include "tests/support/typed_configs.h"

namespace rankwright::exporter {
namespace launchers_test {

using testing::ElementsAre;
using testing::HasSubstr;

/// Where a rank starts: the cluster's number or the name of its host, and a device of that host.
struct Seat {
  std::string host;
  i64 device;

  friend bool operator==(const Seat&, const Seat&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Seat& seat) {
    return out << seat.host << ":" << seat.device;
  }
};
using Seats = std::vector<Seat>;

rankwright::plan::TrainingConfig setup_on(i64 world, i64 host, i64 hosts) {
  return config_of(
      fmt::format("world_size: {0}\nmodel: tinyllama-1.1b\nparallelism: {{dp_size: {0}}}\n"
                  "cluster:\n  device: h100-sxm\n  levels:\n"
                  "    - {{name: nvlink, arity: {1}, bandwidth: 450 GB/s, latency: 2 us}}\n"
                  "    - {{name: infiniband, arity: {2}, bandwidth: 50 GB/s, latency: 5 us}}\n",
                  world, host, hosts));
}

/// With a placement of any kind, on a cluster that may have hosts to spare.
rankwright::plan::TrainingConfig random_placed() {
  const i64 host = *rc::gen::inRange<i64>(1, 10), world = *rc::gen::inRange<i64>(1, 60);
  rankwright::plan::TrainingConfig config =
      setup_on(world, host, ceil_div(world, host) + *rc::gen::inRange<i64>(0, 3));
  config.plan.placement = any::random_placement(world, host);
  std::vector<i64>& devices = config.plan.placement.devices;
  const i64 spare = (config.cluster.devices() / host - ceil_div(world, host)) * host;
  if (any::coin() && spare > 0 && !devices.empty())  // leave the first hosts out
    for (i64& device : devices) device += spare;
  return config;
}

std::vector<std::string> random_names(i64 count) {
  std::vector<std::string> names;
  const i64 from = *rc::gen::inRange<i64>(0, 120);
  const std::string ends = any::coin() ? "" : "-ib";
  const bool padded = any::coin(), down = any::coin();
  for (i64 i = 0; i < count; ++i) {
    const i64 number = down ? from + count - i : from + i;
    names.push_back(padded ? fmt::format("n{:03}{}", number, ends)
                           : fmt::format("gpu1-{}{}", number, ends));
  }
  return names;
}

/// As the plan has it.
Seats seats_of(const rankwright::plan::TrainingConfig& s, const std::vector<std::string>& names) {
  Seats seats;
  for (i64 rank = 0; rank < s.world; ++rank) {
    const i64 device = s.plan.placement.device(rank), host = s.cluster.host_devices;
    seats.push_back({names[std::size_t(device / host)], device % host});
  }
  return seats;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

/// What stands between the first `open` and the next `close`.
std::string between(const std::string& text, const std::string& open, const std::string& close) {
  const std::size_t at = text.find(open);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + open.size();
  return text.substr(begin, text.find(close, begin) - begin);
}

/// What the commands of printing() print, as lines.
std::vector<std::string> printed(const std::string& commands) {
  static const std::regex seq("seq -f '([^%']*)%0([0-9]+)\\.0f([^']*)' ([0-9]+) ([0-9]+)");
  static const std::regex quoted("'([^']*)'");
  std::vector<std::string> lines;
  std::istringstream in(commands);
  for (std::string line; std::getline(in, line);) {
    std::smatch m;
    if (std::regex_search(line, m, seq)) {
      for (i64 n = std::stoll(m[4]); n <= std::stoll(m[5]); ++n)
        lines.push_back(
            fmt::format("{}{:0{}}{}", m[1].str(), n, std::stoi(m[2].str()), m[3].str()));
      continue;
    }
    if (line.find("printf") != std::string::npos) continue;
    for (auto it = std::sregex_iterator(line.begin(), line.end(), quoted);
         it != std::sregex_iterator(); ++it)
      lines.push_back((*it)[1]);
  }
  return lines;
}

/// "'HOST=1,0'" words, by host.
std::map<std::string, std::vector<i64>> device_table(const std::string& text) {
  std::map<std::string, std::vector<i64>> table;
  for (const std::string& word : words(between(text, "\ndevices=(\n", "\n)\n"))) {
    const std::size_t equals = word.find('=');
    std::istringstream in(word.substr(equals + 1, word.size() - equals - 2));
    for (std::string device; std::getline(in, device, ',');)
      table[word.substr(1, equals - 1)].push_back(std::stoll(device));
  }
  return table;
}

/// Seats by the hosts of ranks in order: the i-th rank of a host takes the i-th of its devices.
Seats seated(const std::vector<std::string>& hosts,
             const std::map<std::string, std::vector<i64>>& devices) {
  std::map<std::string, std::size_t> next;
  Seats seats;
  for (const std::string& host : hosts) {
    const std::size_t local = next[host]++;
    const auto found = devices.find(host);
    seats.push_back({host, found == devices.end() ? i64(local) : found->second.at(local)});
  }
  return seats;
}

std::string written(std::string_view target, const rankwright::plan::TrainingConfig& s,
                    const std::vector<std::string>& names, std::size_t file = 0) {
  return export_plan(*find_exporter(target), s, {.hosts = names}).at(file).text;
}

/// Hosts are named by their places among those in use.
Seats read_slurm(const std::string& script) {
  static const std::regex run("([0-9]+)(?:-([0-9]+))?x([0-9]+)");
  std::vector<std::string> hosts;
  for (const std::string& word : words(between(script, "\nruns=(\n", "\n)\n"))) {
    std::smatch m;
    EXPECT_TRUE(std::regex_match(word, m, run)) << word;
    const i64 last = std::stoll(m[2].matched ? m[2] : m[1]);
    for (i64 host = std::stoll(m[1]); host <= last; ++host)
      for (i64 i = 0; i < std::stoll(m[3]); ++i) hosts.push_back(std::to_string(host));
  }
  return seated(hosts, device_table(script));
}

std::vector<std::string> used_hosts(const rankwright::plan::TrainingConfig& s) {
  std::vector<std::string> names;
  for (const i64 host : host_table(s).hosts) names.push_back(std::to_string(host));
  return names;
}

std::vector<std::string> numbers(i64 count) {
  std::vector<std::string> all;
  for (i64 i = 0; i < count; ++i) all.push_back(std::to_string(i));
  return all;
}

Seats renamed(Seats seats, const std::vector<std::string>& names) {
  for (Seat& seat : seats) seat.host = names.at(std::size_t(std::stoll(seat.host)));
  return seats;
}

TEST(HostTable, MatchesTheWorkedExample) {
  // Hosts of 2: device 7 is device 1 of host 3, devices 1 and 0 are host 0 backwards, and so on.
  rankwright::plan::TrainingConfig s = setup_on(8, 2, 4);
  s.plan.placement = {.kind = mesh::Placement::Kind::listed, .devices = {7, 1, 0, 4, 5, 6, 3, 2}};
  const HostTable table = host_table(s);
  EXPECT_THAT(describe_run(table.runs), ElementsAre("3x1", "0x2", "2x2", "3x1", "1x2"));
  EXPECT_THAT(table.devices_of(0), ElementsAre(1, 0));
  EXPECT_THAT(table.devices_of(2), ElementsAre(0, 1));
  EXPECT_THAT(table.devices_of(3), ElementsAre(1, 0));  // rank 0 has device 7, rank 5 device 6
  EXPECT_THAT(table.by_first_rank(), ElementsAre(3, 0, 2, 1));
  EXPECT_TRUE(table.in_order(2) && !table.in_order(0));
}

TEST(HostTable, IsShortForBlockAndCyclicAndLeavesIdleHostsOut) {
  rankwright::plan::TrainingConfig s = setup_on(16, 4, 6);
  EXPECT_THAT(describe_run(host_table(s).runs), ElementsAre("0-3x4"));
  s.plan.placement = {.kind = mesh::Placement::Kind::cyclic, .host_devices = 4, .hosts = 4};
  EXPECT_THAT(describe_run(host_table(s).runs), ElementsAre("0-3x1", "0-3x1", "0-3x1", "0-3x1"));
  EXPECT_TRUE(host_table(s).all_in_order());
  rankwright::plan::TrainingConfig few = setup_on(2, 4, 6);
  few.plan.placement = {.kind = mesh::Placement::Kind::listed, .devices = {21, 5}};
  EXPECT_THAT(host_table(few).hosts, ElementsAre(1, 5));
  EXPECT_THAT(describe_run(host_table(few).runs), ElementsAre("1x1", "0x1"));
  EXPECT_EQ(hosts_to_name(few), 6);
}

TEST(Printing, CountsWhereNamesDo) {
  EXPECT_EQ(printing({"n08 2", "n09 2", "n10 2", "x"}, "  "),
            "  seq -f 'n%02.0f 2' 8 10\n"
            "  printf '%s\\n' \\\n"
            "    'x'\n");
  EXPECT_EQ(printing({"a9", "a10", "a11"}, ""), "seq -f 'a%01.0f' 9 11\n");
}

RC_GTEST_PROP(Printing, PrintsTheLines, ()) {
  std::vector<std::string> lines = random_names(*rc::gen::inRange<i64>(1, 200));
  const std::vector<std::string> more = random_names(*rc::gen::inRange<i64>(1, 30));
  lines.insert(lines.end(), more.begin(), more.end());
  RC_ASSERT(printed(printing(lines, "  ")) == lines);
}

TEST(HostNames, HoldNothingThatAShellReads) {
  for (const char* good : {"n0", "gpu-1.cluster", "a_b", "10.0.0.1"})
    EXPECT_TRUE(is_host_name(good)) << good;
  for (const char* bad : {"", "-x", "a b", "a'", "$(x)", "a;b", "n[0-1]", "a\n", "\xc3\xa4"})
    EXPECT_FALSE(is_host_name(bad)) << bad;
}

RC_GTEST_PROP(Slurm, StatesWhereRanksStart, ()) {
  const rankwright::plan::TrainingConfig s = random_placed();
  const Seats wanted = seats_of(s, numbers(s.cluster.devices() / s.cluster.host_devices));
  const std::string script = written("slurm", s, {});
  RC_ASSERT(renamed(read_slurm(script), used_hosts(s)) == wanted);
  const HostTable table = host_table(s);
  RC_ASSERT(script.find(fmt::format("#SBATCH --nodes={}\n", table.size())) != std::string::npos);
  RC_ASSERT(script.find(fmt::format("#SBATCH --ntasks={}\n", s.world)) != std::string::npos);
}

RC_GTEST_PROP(Slurm, StatesWhereRanksStartByName, ()) {
  const rankwright::plan::TrainingConfig s = random_placed();
  const std::vector<std::string> names = random_names(hosts_to_name(s));
  const std::string script = written("slurm", s, names);
  const std::vector<std::string> hosts = printed(between(script, "host < <(\n", "\n)\n"));
  RC_ASSERT(renamed(read_slurm(script), hosts) == seats_of(s, names));
}

RC_GTEST_PROP(Torchrun, StatesWhereRanksStartOrSaysThatItCannot, ()) {
  const rankwright::plan::TrainingConfig s = random_placed();
  const std::vector<std::string> names = random_names(hosts_to_name(s));
  std::vector<std::string> hosts;  // of the ranks in order: torchrun numbers them node by node
  for (const std::string& line :
       printed(between(written("torchrun", s, names), "nodes() {", "}"))) {
    const std::vector<std::string> node = words(line);
    hosts.insert(hosts.end(), std::size_t(std::stoll(node.at(1))), node.at(0));
  }
  RC_ASSERT(i64(hosts.size()) == s.world);
  const bool same = seated(hosts, {}) == seats_of(s, names);
  const std::vector<Lost> lost = losses(*find_exporter("torchrun"), s);
  RC_ASSERT(lost.empty() == same);
  for (const Lost& one : lost) RC_ASSERT(one.key == "placement");
}

RC_GTEST_PROP(OpenMpi, StatesWhereRanksStart, ()) {
  const rankwright::plan::TrainingConfig s = random_placed();
  const std::vector<std::string> names = random_names(hosts_to_name(s));
  static const std::regex line("rank ([0-9]+)=([^ ]+) slot=0:\\*");
  std::istringstream in(written("openmpi", s, names));
  std::vector<std::string> hosts;
  for (std::string text; std::getline(in, text);) {
    if (text.starts_with("#")) continue;
    std::smatch m;
    RC_ASSERT(std::regex_match(text, m, line));
    RC_ASSERT(std::stoull(m[1]) == hosts.size());
    hosts.push_back(m[2]);
  }
  const std::string script = written("openmpi", s, names, 1);
  RC_ASSERT(seated(hosts, device_table(script)) == seats_of(s, names));
}

TEST(Launchers, LoseNothingButWhatTorchrunCannot) {
  rankwright::plan::TrainingConfig s = setup_on(16, 4, 4);
  s.plan.placement = {.kind = mesh::Placement::Kind::cyclic, .host_devices = 4, .hosts = 4};
  EXPECT_TRUE(losses(*find_exporter("slurm"), s).empty());
  EXPECT_TRUE(losses(*find_exporter("openmpi"), s).empty());
  EXPECT_THAT(losses(*find_exporter("torchrun"), s).at(0).why, HasSubstr("RW0591"));
}

TEST(Launchers, SayAMillionRanksInAShortScript) {
  // 131,072 hosts of 8. The device of each rank follows from its number.
  const rankwright::plan::TrainingConfig s = setup_on(i64{1} << 20, 8, i64{1} << 17);
  std::vector<std::string> names;
  for (i64 i = 0; i < i64{1} << 17; ++i) names.push_back(fmt::format("n{}", i));
  for (const char* target : {"slurm", "torchrun"}) {
    EXPECT_LT(written(target, s, {}).size(), 100'000u) << target;
    EXPECT_LT(written(target, s, names).size(), 100'000u) << target;
  }
}

TEST(Launchers, WriteHostsThatTradePlacesInAShortScript) {
  // 2,048 hosts of 8, each at another's place: (5 i) mod 2048 meets every host once.
  rankwright::plan::TrainingConfig traded = setup_on(16'384, 8, 2048);
  traded.plan.placement.kind = mesh::Placement::Kind::listed;
  for (i64 rank = 0; rank < traded.world; ++rank)
    traded.plan.placement.devices.push_back(rank / 8 * 5 % 2048 * 8 + rank % 8);
  EXPECT_EQ(renamed(read_slurm(written("slurm", traded, {})), used_hosts(traded)),
            seats_of(traded, numbers(2048)));
  EXPECT_LT(written("slurm", traded, {}).size(), 100'000u);
}

}  // namespace launchers_test
}  // namespace rankwright::exporter
