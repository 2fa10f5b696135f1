// Writes a rankfile and a script that starts mpirun with it. Checked against Open MPI 4.1.4.
//
// A slot of a rankfile is a set of processor cores, not a GPU. mpirun binds a rank to them whatever
// --bind-to says, and stops if a core does not exist. `slot=0:*`, all cores of the first socket,
// exists on every machine and accepts any number of ranks. The script then removes the binding,
// because a training rank needs more than one core.
#include <fmt/format.h>

#include "rankwright/export/launcher/host_table.h"
#include "rankwright/export/quote.h"
#include "rankwright/export/rows.h"

namespace rankwright::exporter {
namespace {

constexpr std::string_view kOpenmpiUsage = "bash openmpi.sh COMMAND [ARGUMENT ...]";

std::string write_rank_lines(const HostTable& table, const std::vector<std::string>& names) {
  std::string text;
  i64 rank = 0;
  for (const HostRun& run : table.runs)
    for (i64 host = run.first; host <= run.last; ++host)
      for (i64 i = 0; i < run.ranks; ++i)
        fmt::format_to(std::back_inserter(text), "rank {}={} slot=0:*\n", rank++,
                       names[std::size_t(host)]);
  return text;
}

/// Returns shell code that exports the devices of each host under its host name, the only
/// identification that mpirun gives a process. All hosts are listed, so that an unexpected host
/// name is noticed. The table is split over several variables: an environment string ends at 128
/// kB.
std::string write_device_table(const HostTable& table, const std::vector<std::string>& names) {
  std::vector<std::string> words;
  for (i64 host = 0; host < table.size(); ++host)
    words.push_back(
        quote_shell(names[std::size_t(host)] + "=" + join_devices(table.devices_of(host))));
  return "# The devices of each host's ranks in order: HOST=DEVICE OF ITS FIRST RANK,...\n"
         "devices=(\n" +
         wrap_words(words, "  ") +
         ")\n"
         "unset \"${!RANKWRIGHT_DEVICES@}\"\n"
         "count=0\n"
         "for one in \"${devices[@]}\"; do\n"
         "  part=RANKWRIGHT_DEVICES$((count++ / 400))\n"
         "  [ -n \"${!part:-}\" ] || pass+=(-x \"$part\")\n"
         "  export \"$part=${!part:- }$one \"\n"
         "done\n";
}

constexpr std::string_view kOpenmpiFindDevices =
    "  name=$(hostname) devices=\n"
    "  for part in \"${!RANKWRIGHT_DEVICES@}\"; do\n"
    "    if [[ ${!part} == *\" $name=\"* ]]; then devices=${!part#*\" $name=\"}; fi\n"
    "  done\n"
    "  export CUDA_VISIBLE_DEVICES=${devices%% *}\n"
    "  if [ -z \"$CUDA_VISIBLE_DEVICES\" ]; then\n"
    "    echo \"$name is not a host of this plan: use the names that hostname prints\" >&2\n"
    "    exit 1\n"
    "  fi\n";

std::string write_script(const plan::TrainingConfig& s, const HostTable& table,
                         const std::vector<std::string>& names,
                         const std::vector<std::string>& head) {
  const i64 first = table.runs.front().first;
  std::string text = "#!/usr/bin/env bash\n" + write_comments(head, "#") +
                     fmt::format("# Usage: {}\n", kOpenmpiUsage) + "set -euo pipefail\n\n" +
                     write_usage_check(kOpenmpiUsage) +
                     "\nhere=$(dirname \"$(readlink -f \"$0\")\")\n"
                     "pass=(-x MASTER_ADDR -x MASTER_PORT -x WORLD_SIZE)\n";
  if (!table.all_in_order()) text += write_device_table(table, names);
  return text +
         fmt::format(
             "export MASTER_ADDR=${{MASTER_ADDR:-{}}} MASTER_PORT=${{MASTER_PORT:-29500}}\n"
             "export WORLD_SIZE={}\n"
             "# A rankfile does not combine with --map-by. The quoted command runs in each rank "
             "and undoes the\n"
             "# core binding that a rankfile requires.\n"
             "# shellcheck disable=SC2016\n"
             "exec mpirun --rankfile \"$here/openmpi.rankfile\" -np {} \"${{pass[@]}}\" bash -c '\n"
             "  export RANK=$OMPI_COMM_WORLD_RANK LOCAL_RANK=$OMPI_COMM_WORLD_LOCAL_RANK\n"
             "{}  cores=$(getconf _NPROCESSORS_CONF)\n"
             "  taskset -pc \"0-$((cores - 1))\" $$ >/dev/null || true\n"
             "  exec \"$@\"' rank \"$@\"\n",
             names[std::size_t(first)], s.world, s.world,
             table.all_in_order() ? "" : kOpenmpiFindDevices);
}

std::vector<ExportFile> write_openmpi(const plan::TrainingConfig& s, const ExportOptions& options,
                                      const std::vector<std::string>& head) {
  const HostTable table = make_host_table(s);
  const std::vector<std::string> names = name_hosts(table, options);
  std::vector<std::string> about = head;
  if (options.hosts.empty())
    about.emplace_back(
        "Hosts are named host0, host1, ...: pass their names with rankwright export --hosts.");
  std::vector<std::string> slots = about;
  slots.emplace_back("slot=0:* binds to all cores of the first socket; openmpi.sh undoes it.");
  return {{"openmpi.rankfile", write_comments(slots, "#") + write_rank_lines(table, names)},
          {"openmpi.sh", write_script(s, table, names, about)}};
}

}  // namespace

constinit const Exporter kOpenmpiExporter{
    .target = rules::Target::openmpi,
    .summary = "a rankfile, and a script that runs mpirun",
    .states = list_launcher_keys,
    .write = write_openmpi,
};

}  // namespace rankwright::exporter
