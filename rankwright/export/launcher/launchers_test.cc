// Reads the launchers' files back and checks that ranks start where the plan places them.
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

/// Where a rank starts: its host, by name or by number in the cluster, and a device of that host.
struct RankSlot {
  std::string host;
  i64 device;

  friend bool operator==(const RankSlot&, const RankSlot&) = default;
  friend std::ostream& operator<<(std::ostream& out, const RankSlot& slot) {
    return out << slot.host << ":" << slot.device;
  }
};
using RankSlots = std::vector<RankSlot>;

rankwright::plan::TrainingConfig make_config(i64 world, i64 host, i64 hosts) {
  return config_of(
      fmt::format("world_size: {0}\nmodel: tinyllama-1.1b\nparallelism: {{dp_size: {0}}}\n"
                  "cluster:\n  device: h100-sxm\n  levels:\n"
                  "    - {{name: nvlink, arity: {1}, bandwidth: 450 GB/s, latency: 2 us}}\n"
                  "    - {{name: infiniband, arity: {2}, bandwidth: 50 GB/s, latency: 5 us}}\n",
                  world, host, hosts));
}

/// Returns a config with a random placement, on a cluster that may have spare hosts.
rankwright::plan::TrainingConfig random_placed() {
  const i64 host = *rc::gen::inRange<i64>(1, 10), world = *rc::gen::inRange<i64>(1, 60);
  rankwright::plan::TrainingConfig config =
      make_config(world, host, ceil_div(world, host) + *rc::gen::inRange<i64>(0, 3));
  config.plan.placement = any_config::random_placement(world, host);
  std::vector<i64>& devices = config.plan.placement.devices;
  const i64 spare = (config.cluster.devices() / host - ceil_div(world, host)) * host;
  if (any_config::coin() && spare > 0 && !devices.empty())  // leave the first hosts unused
    for (i64& device : devices) device += spare;
  return config;
}

/// Returns host names that count up or down, padded or not.
std::vector<std::string> random_names(i64 count) {
  std::vector<std::string> names;
  const i64 from = *rc::gen::inRange<i64>(0, 120);
  const std::string ends = any_config::coin() ? "" : "-ib";
  const bool padded = any_config::coin(), down = any_config::coin();
  for (i64 i = 0; i < count; ++i) {
    const i64 number = down ? from + count - i : from + i;
    names.push_back(padded ? fmt::format("n{:03}{}", number, ends)
                           : fmt::format("gpu1-{}{}", number, ends));
  }
  return names;
}

/// Returns the slots of all ranks as the plan places them.
RankSlots expected_slots(const rankwright::plan::TrainingConfig& s,
                         const std::vector<std::string>& names) {
  RankSlots slots;
  for (i64 rank = 0; rank < s.world; ++rank) {
    const i64 device = s.plan.placement.device(rank), host = s.cluster.host_devices;
    slots.push_back({names[std::size_t(device / host)], device % host});
  }
  return slots;
}

std::vector<std::string> split_words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

/// Returns the text between the first `open` and the next `close`.
std::string between(const std::string& text, const std::string& open, const std::string& close) {
  const std::size_t at = text.find(open);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + open.size();
  return text.substr(begin, text.find(close, begin) - begin);
}

/// Returns the lines that the commands of write_print_commands() print.
std::vector<std::string> run_print_commands(const std::string& commands) {
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

/// Returns the devices of each host from the script's words "'HOST=1,0'".
std::map<std::string, std::vector<i64>> read_device_table(const std::string& text) {
  std::map<std::string, std::vector<i64>> table;
  for (const std::string& word : split_words(between(text, "\ndevices=(\n", "\n)\n"))) {
    const std::size_t equals = word.find('=');
    std::istringstream in(word.substr(equals + 1, word.size() - equals - 2));
    for (std::string device; std::getline(in, device, ',');)
      table[word.substr(1, equals - 1)].push_back(std::stoll(device));
  }
  return table;
}

/// Returns the slots of ranks on `hosts`, in rank order: the i-th rank of a host uses its i-th
/// device.
RankSlots assign_slots(const std::vector<std::string>& hosts,
                       const std::map<std::string, std::vector<i64>>& devices) {
  std::map<std::string, std::size_t> next;
  RankSlots slots;
  for (const std::string& host : hosts) {
    const std::size_t local = next[host]++;
    const auto found = devices.find(host);
    slots.push_back({host, found == devices.end() ? i64(local) : found->second.at(local)});
  }
  return slots;
}

std::string export_text(std::string_view target, const rankwright::plan::TrainingConfig& s,
                        const std::vector<std::string>& names, std::size_t file = 0) {
  return export_plan(*find_exporter(target), s, {.hosts = names}).at(file).text;
}

/// Returns the slots that the script describes. Hosts are numbered among those in use.
RankSlots read_slurm(const std::string& script) {
  static const std::regex run("([0-9]+)(?:-([0-9]+))?x([0-9]+)");
  std::vector<std::string> hosts;
  for (const std::string& word : split_words(between(script, "\nruns=(\n", "\n)\n"))) {
    std::smatch m;
    EXPECT_TRUE(std::regex_match(word, m, run)) << word;
    const i64 last = std::stoll(m[2].matched ? m[2] : m[1]);
    for (i64 host = std::stoll(m[1]); host <= last; ++host)
      for (i64 i = 0; i < std::stoll(m[3]); ++i) hosts.push_back(std::to_string(host));
  }
  return assign_slots(hosts, read_device_table(script));
}

std::vector<std::string> used_hosts(const rankwright::plan::TrainingConfig& s) {
  std::vector<std::string> names;
  for (const i64 host : make_host_table(s).hosts) names.push_back(std::to_string(host));
  return names;
}

std::vector<std::string> numbers(i64 count) {
  std::vector<std::string> all;
  for (i64 i = 0; i < count; ++i) all.push_back(std::to_string(i));
  return all;
}

RankSlots rename_hosts(RankSlots slots, const std::vector<std::string>& names) {
  for (RankSlot& slot : slots) slot.host = names.at(std::size_t(std::stoll(slot.host)));
  return slots;
}

TEST(HostTable, ListedPlacement_GivesRunsAndDevices) {
  // Hosts of 2 devices: device 7 is device 1 of host 3, devices 1 and 0 are host 0 in reverse
  // order.
  rankwright::plan::TrainingConfig s = make_config(8, 2, 4);
  s.plan.placement = {.kind = mesh::Placement::Kind::listed, .devices = {7, 1, 0, 4, 5, 6, 3, 2}};
  const HostTable table = make_host_table(s);
  EXPECT_THAT(format_host_runs(table.runs), ElementsAre("3x1", "0x2", "2x2", "3x1", "1x2"));
  EXPECT_THAT(table.devices_of(0), ElementsAre(1, 0));
  EXPECT_THAT(table.devices_of(2), ElementsAre(0, 1));
  EXPECT_THAT(table.devices_of(3),
              ElementsAre(1, 0));  // rank 0 uses device 7, rank 5 uses device 6
  EXPECT_THAT(table.by_first_rank(), ElementsAre(3, 0, 2, 1));
  EXPECT_TRUE(table.in_order(2) && !table.in_order(0));
}

TEST(HostTable, BlockAndCyclic_AreShort_IdleHostsAreLeftOut) {
  rankwright::plan::TrainingConfig s = make_config(16, 4, 6);
  EXPECT_THAT(format_host_runs(make_host_table(s).runs), ElementsAre("0-3x4"));
  s.plan.placement = {.kind = mesh::Placement::Kind::cyclic, .host_devices = 4, .hosts = 4};
  EXPECT_THAT(format_host_runs(make_host_table(s).runs),
              ElementsAre("0-3x1", "0-3x1", "0-3x1", "0-3x1"));
  EXPECT_TRUE(make_host_table(s).all_in_order());
  rankwright::plan::TrainingConfig few = make_config(2, 4, 6);
  few.plan.placement = {.kind = mesh::Placement::Kind::listed, .devices = {21, 5}};
  EXPECT_THAT(make_host_table(few).hosts, ElementsAre(1, 5));
  EXPECT_THAT(format_host_runs(make_host_table(few).runs), ElementsAre("1x1", "0x1"));
  EXPECT_EQ(count_hosts_to_name(few), 6);
}

TEST(Printing, ConsecutiveNames_UseSeq) {
  EXPECT_EQ(write_print_commands({"n08 2", "n09 2", "n10 2", "x"}, "  "),
            "  seq -f 'n%02.0f 2' 8 10\n"
            "  printf '%s\\n' \\\n"
            "    'x'\n");
  EXPECT_EQ(write_print_commands({"a9", "a10", "a11"}, ""), "seq -f 'a%01.0f' 9 11\n");
}

RC_GTEST_PROP(Printing, RandomLines_ArePrintedInOrder, ()) {
  std::vector<std::string> lines = random_names(*rc::gen::inRange<i64>(1, 200));
  const std::vector<std::string> more = random_names(*rc::gen::inRange<i64>(1, 30));
  lines.insert(lines.end(), more.begin(), more.end());
  RC_ASSERT(run_print_commands(write_print_commands(lines, "  ")) == lines);
}

TEST(HostNames, ShellCharacters_AreRejected) {
  for (const char* good : {"n0", "gpu-1.cluster", "a_b", "10.0.0.1"})
    EXPECT_TRUE(is_host_name(good)) << good;
  for (const char* bad : {"", "-x", "a b", "a'", "$(x)", "a;b", "n[0-1]", "a\n", "\xc3\xa4"})
    EXPECT_FALSE(is_host_name(bad)) << bad;
}

RC_GTEST_PROP(Slurm, RandomPlacement_StartsRanksWhereThePlanDoes, ()) {
  const rankwright::plan::TrainingConfig s = random_placed();
  const RankSlots wanted = expected_slots(s, numbers(s.cluster.devices() / s.cluster.host_devices));
  const std::string script = export_text("slurm", s, {});
  RC_ASSERT(rename_hosts(read_slurm(script), used_hosts(s)) == wanted);
  const HostTable table = make_host_table(s);
  RC_ASSERT(script.find(fmt::format("#SBATCH --nodes={}\n", table.size())) != std::string::npos);
  RC_ASSERT(script.find(fmt::format("#SBATCH --ntasks={}\n", s.world)) != std::string::npos);
}

RC_GTEST_PROP(Slurm, RandomPlacementWithHostNames_StartsRanksWhereThePlanDoes, ()) {
  const rankwright::plan::TrainingConfig s = random_placed();
  const std::vector<std::string> names = random_names(count_hosts_to_name(s));
  const std::string script = export_text("slurm", s, names);
  const std::vector<std::string> hosts =
      run_print_commands(between(script, "host < <(\n", "\n)\n"));
  RC_ASSERT(rename_hosts(read_slurm(script), hosts) == expected_slots(s, names));
}

RC_GTEST_PROP(Torchrun, RandomPlacement_StartsRanksWhereThePlanDoesOrListsALoss, ()) {
  const rankwright::plan::TrainingConfig s = random_placed();
  const std::vector<std::string> names = random_names(count_hosts_to_name(s));
  std::vector<std::string> hosts;  // by rank: torchrun numbers ranks node by node
  for (const std::string& line :
       run_print_commands(between(export_text("torchrun", s, names), "nodes() {", "}"))) {
    const std::vector<std::string> node = split_words(line);
    hosts.insert(hosts.end(), std::size_t(std::stoll(node.at(1))), node.at(0));
  }
  RC_ASSERT(i64(hosts.size()) == s.world);
  const bool same = assign_slots(hosts, {}) == expected_slots(s, names);
  const std::vector<UnsupportedSetting> lost = find_unsupported(*find_exporter("torchrun"), s);
  RC_ASSERT(lost.empty() == same);
  for (const UnsupportedSetting& one : lost) RC_ASSERT(one.key == "placement");
}

RC_GTEST_PROP(OpenMpi, RandomPlacement_StartsRanksWhereThePlanDoes, ()) {
  const rankwright::plan::TrainingConfig s = random_placed();
  const std::vector<std::string> names = random_names(count_hosts_to_name(s));
  static const std::regex line("rank ([0-9]+)=([^ ]+) slot=0:\\*");
  std::istringstream in(export_text("openmpi", s, names));
  std::vector<std::string> hosts;
  for (std::string text; std::getline(in, text);) {
    if (text.starts_with("#")) continue;
    std::smatch m;
    RC_ASSERT(std::regex_match(text, m, line));
    RC_ASSERT(std::stoull(m[1]) == hosts.size());
    hosts.push_back(m[2]);
  }
  const std::string script = export_text("openmpi", s, names, 1);
  RC_ASSERT(assign_slots(hosts, read_device_table(script)) == expected_slots(s, names));
}

TEST(Launchers, CyclicPlacement_OnlyTorchrunListsALoss) {
  rankwright::plan::TrainingConfig s = make_config(16, 4, 4);
  s.plan.placement = {.kind = mesh::Placement::Kind::cyclic, .host_devices = 4, .hosts = 4};
  EXPECT_TRUE(find_unsupported(*find_exporter("slurm"), s).empty());
  EXPECT_TRUE(find_unsupported(*find_exporter("openmpi"), s).empty());
  EXPECT_THAT(find_unsupported(*find_exporter("torchrun"), s).at(0).why, HasSubstr("RW0591"));
}

TEST(Launchers, MillionRanks_GiveAShortScript) {
  // 131,072 hosts of 8 devices. The device of each rank follows from its number.
  const rankwright::plan::TrainingConfig s = make_config(i64{1} << 20, 8, i64{1} << 17);
  std::vector<std::string> names;
  for (i64 i = 0; i < i64{1} << 17; ++i) names.push_back(fmt::format("n{}", i));
  for (const char* target : {"slurm", "torchrun"}) {
    EXPECT_LT(export_text(target, s, {}).size(), 100'000u) << target;
    EXPECT_LT(export_text(target, s, names).size(), 100'000u) << target;
  }
}

TEST(Launchers, PermutedHosts_GiveAShortScript) {
  // 2,048 hosts of 8 devices in permuted order: (5 i) mod 2048 visits every host once.
  rankwright::plan::TrainingConfig permuted = make_config(16'384, 8, 2048);
  permuted.plan.placement.kind = mesh::Placement::Kind::listed;
  for (i64 rank = 0; rank < permuted.world; ++rank)
    permuted.plan.placement.devices.push_back(rank / 8 * 5 % 2048 * 8 + rank % 8);
  EXPECT_EQ(rename_hosts(read_slurm(export_text("slurm", permuted, {})), used_hosts(permuted)),
            expected_slots(permuted, numbers(2048)));
  EXPECT_LT(export_text("slurm", permuted, {}).size(), 100'000u);
}

TEST(Usage, NamesTheFileThatIsWritten) {
  const rankwright::plan::TrainingConfig config = make_config(8, 8, 1);
  for (const auto& [target, usual] :
       {std::pair("slurm", "sbatch slurm.sbatch "), std::pair("torchrun", "bash torchrun.sh ")}) {
    const Exporter& exporter = *find_exporter(target);
    const auto text = [&](const std::string& script) {
      return exporter.write(config, {.hosts = {}, .script = script}, {}).front().text;
    };
    EXPECT_THAT(text(""), HasSubstr(usual));
    EXPECT_THAT(text("job.sh"), HasSubstr(" job.sh "));
    // A name cannot end the comment or the quotes.
    EXPECT_THAT(text("a\nrm -rf x'$(b)"), HasSubstr(" a_rm -rf x__(b) "));
  }
}

}  // namespace launchers_test
}  // namespace rankwright::exporter
