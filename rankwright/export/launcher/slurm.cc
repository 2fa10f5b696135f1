// Writes a batch script for sbatch that starts every rank on its host with `srun
// --distribution=arbitrary` and a host file that the script creates when it runs. The arguments of
// the script are the command to start. Checked against Slurm 22.05.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/export/launcher/host_table.h"
#include "rankwright/export/quote.h"
#include "rankwright/export/rows.h"
#include "rankwright/import/cluster/host_list.h"

namespace rankwright::exporter {
namespace {

/// Returns the GPUs to request per node. If the ranks of a host skip devices, all are requested,
/// because the table numbers the devices of the whole host.
i64 gpus_per_node(const HostTable& table) {
  return table.all_in_order() ? table.max : table.host_devices;
}

std::string write_directives(const plan::TrainingConfig& s, const HostTable& table,
                             const ExportOptions& options) {
  std::string text = fmt::format(
      "#SBATCH --nodes={}\n"
      "#SBATCH --ntasks={}\n"
      "#SBATCH --ntasks-per-node={}\n"
      "#SBATCH --exclusive\n",
      table.size(), s.world, table.max);
  if (!options.hosts.empty())
    text += fmt::format("#SBATCH --nodelist={}\n",
                        importer::show_host_list(name_hosts(table, options)));
  text += fmt::format(
      "# If your GPUs are another resource, such as gres=gpu:h100:8, change this line:\n"
      "#SBATCH --gpus-per-node={}\n",
      gpus_per_node(table));
  return text;
}

/// Returns shell code that fills the array `host` with the host names.
std::string write_hosts(const HostTable& table, const ExportOptions& options) {
  if (options.hosts.empty())
    return fmt::format(
        "# Host i is the i-th node of the allocation.\n"
        "mapfile -t host < <(scontrol show hostnames \"$SLURM_JOB_NODELIST\")\n"
        "if [ ${{#host[@]}} -ne {0} ]; then\n"
        "  echo \"this plan needs {0} nodes, but the job has ${{#host[@]}}\" >&2\n"
        "  exit 1\n"
        "fi\n",
        table.size());
  return "mapfile -t host < <(\n" + write_print_commands(name_hosts(table, options), "  ") + ")\n";
}

/// Returns shell code that writes SLURM_HOSTFILE, one line per rank.
std::string write_host_file(const HostTable& table) {
  return "# Ranks in order: 0-3x2 is 2 ranks on each of hosts 0 to 3, host by host.\n"
         "runs=(\n" +
         wrap_words(format_host_runs(table.runs), "  ") +
         ")\n"
         "SLURM_HOSTFILE=$(mktemp)\n"
         "trap 'rm -f \"$SLURM_HOSTFILE\"' EXIT\n"
         "for run in \"${runs[@]}\"; do\n"
         "  hosts=${run%x*} ranks=${run#*x}\n"
         "  for ((h = ${hosts%-*}; h <= ${hosts#*-}; ++h)); do\n"
         "    for ((i = 0; i < ranks; ++i)); do echo \"${host[h]}\"; done\n"
         "  done\n"
         "done >\"$SLURM_HOSTFILE\"\n"
         "export SLURM_HOSTFILE\n";
}

/// Returns shell code that exports the devices of hosts whose ranks use them out of order. The
/// table is split over several variables: an environment string may not exceed 128 kB.
std::string write_device_table(const HostTable& table) {
  std::vector<std::string> words;
  for (i64 host = 0; host < table.size(); ++host)
    if (!table.in_order(host))
      words.push_back(
          quote_shell(fmt::format("{}={}", host, join_devices(table.devices_of(host)))));
  return "# Hosts whose ranks do not take the devices in order: HOST=DEVICE OF ITS FIRST RANK,...\n"
         "devices=(\n" +
         wrap_words(words, "  ") +
         ")\n"
         "unset \"${!RANKWRIGHT_DEVICES@}\"\n"
         "count=0\n"
         "for one in \"${devices[@]}\"; do\n"
         "  part=RANKWRIGHT_DEVICES$((count++ / 400))\n"
         "  export \"$part=${!part:- }${host[${one%=*}]}=${one#*=} \"\n"
         "done\n";
}

constexpr std::string_view kSlurmFindDevices =
    "  for part in \"${!RANKWRIGHT_DEVICES@}\"; do\n"
    "    if [[ ${!part} == *\" $SLURMD_NODENAME=\"* ]]; then\n"
    "      devices=${!part#*\" $SLURMD_NODENAME=\"}\n"
    "      export CUDA_VISIBLE_DEVICES=${devices%% *}\n"
    "    fi\n"
    "  done\n";

/// Returns the srun command. Slurm runs task i on the i-th line of the host file, and numbers the
/// tasks of a node in task order.
std::string write_srun(const plan::TrainingConfig& s, const HostTable& table) {
  return fmt::format(
      "MASTER_ADDR=$(head -n 1 \"$SLURM_HOSTFILE\")\n"
      "export MASTER_ADDR MASTER_PORT=${{MASTER_PORT:-29500}} WORLD_SIZE={0}\n"
      "# shellcheck disable=SC2016  # the quoted command runs in each task\n"
      "srun --nodes={1} --ntasks={0} --distribution=arbitrary --kill-on-bad-exit=1 bash -c '\n"
      "  export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID\n"
      "{2}  exec \"$@\"' task \"$@\"\n",
      s.world, table.size(), table.all_in_order() ? "" : kSlurmFindDevices);
}

std::vector<ExportFile> write_slurm(const plan::TrainingConfig& s, const ExportOptions& options,
                                    const std::vector<std::string>& head) {
  const HostTable table = make_host_table(s);
  const std::string file = name_script(options, "slurm.sbatch");
  const std::string usage = fmt::format("sbatch {} COMMAND [ARGUMENT ...]", file);
  std::string text = "#!/usr/bin/env bash\n" + write_comments(head, "#") +
                     fmt::format(
                         "# Usage: {}\n"
                         "# With the flags of rankwright export --to megatron -o train.sh:\n"
                         "#   sbatch {} bash train.sh python pretrain_gpt.py ...\n",
                         usage, file) +
                     write_directives(s, table, options) + "set -euo pipefail\n\n" +
                     write_usage_check(usage) + "\n" + write_hosts(table, options) + "\n" +
                     write_host_file(table) + "\n";
  if (!table.all_in_order()) text += write_device_table(table) + "\n";
  return {{"slurm.sbatch", text + write_srun(s, table)}};
}

}  // namespace

constinit const Exporter kSlurmExporter{
    .target = rules::Target::slurm,
    .summary = "batch script that places every rank on its host",
    .states = list_launcher_keys,
    .write = write_slurm,
};

}  // namespace rankwright::exporter
