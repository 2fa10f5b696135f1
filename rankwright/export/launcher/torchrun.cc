// Writes a script to run on every node, which starts torchrun there with the node's rank. Written
// from torchrun's documented flags; not yet run with torchrun. The script uses the static
// rendezvous: the c10d rendezvous ignores node ranks and sorts nodes by host name as text, node66
// before node7 (pytorch#191190). The ranks of a node are then consecutive and use its devices in
// order; rules/launchers.cc warns about other placements (RW0591).
#include <fmt/format.h>

#include "rankwright/export/launcher/host_table.h"
#include "rankwright/export/rows.h"

namespace rankwright::exporter {
namespace {

/// Returns "NAME RANKS" for each node, in node-rank order.
std::vector<std::string> list_nodes(const HostTable& table, const ExportOptions& options) {
  const std::vector<std::string> names = name_hosts(table, options);
  std::vector<std::string> lines;
  lines.reserve(names.size());
  for (const i64 host : table.by_first_rank())
    lines.push_back(fmt::format("{} {}", names[std::size_t(host)], table.devices_of(host).size()));
  return lines;
}

/// Returns shell code that finds this node's rank and its number of ranks.
std::string write_node_lookup(bool named) {
  return fmt::format(
      "# awk reads to the end: stopping early would break the pipe.\n"
      "# NODE_RANK selects the node; without it, the node is looked up by name (NODE or "
      "hostname).\n"
      "rank=${{NODE_RANK:-}}\n"
      "name=${{NODE:-$(hostname)}}\n"
      "if [ -z \"$rank\" ]; then\n"
      "  rank=$(nodes | awk -v name=\"$name\" '$1 == name {{ print NR - 1 }}')\n"
      "fi\n"
      "if ! ranks=$(nodes | awk -v rank=\"$rank\" 'NR - 1 == rank \"\" {{ print $2; found = 1 }} "
      "END {{ exit !found }}'); then\n"
      "  echo \"$name is not one of the nodes: {}\" >&2\n"
      "  exit 1\n"
      "fi\n",
      named ? "set NODE to one of the names in this script, or NODE_RANK"
            : "set NODE_RANK, or write this script with rankwright export --hosts");
}

std::vector<ExportFile> write_torchrun(const plan::TrainingConfig& s, const ExportOptions& options,
                                       const std::vector<std::string>& head) {
  const HostTable table = make_host_table(s);
  const bool named = !options.hosts.empty();
  const std::vector<std::string> lines = list_nodes(table, options);
  const std::string first = lines.front().substr(0, lines.front().find(' '));
  const std::string usage =
      fmt::format("bash {} SCRIPT [ARGUMENT ...]", name_script(options, "torchrun.sh"));
  std::string text = "#!/usr/bin/env bash\n" + write_comments(head, "#") +
                     fmt::format("# Usage, on each of {} nodes: {}{}\n", lines.size(),
                                 named ? "" : "MASTER_ADDR=FIRST_NODE NODE_RANK=K ", usage);
  if (!named)
    text +=
        "# Host i of the cluster is named hosti. With rankwright export --hosts, the script\n"
        "# finds its number by the name of the node.\n";
  text += "set -euo pipefail\n\n" + write_usage_check(usage) +
          "\n# Name and ranks of each node, in the order of node ranks.\nnodes() {\n" +
          write_print_commands(lines, "  ") + "}\n\n" + write_node_lookup(named);
  text += fmt::format("\nmaster=${{MASTER_ADDR:{}}}\n",
                      named ? "-" + first : "?set it to the address of node rank 0");
  text += fmt::format(
      "exec torchrun --rdzv_backend=static --nnodes={} --node_rank=\"$rank\" \\\n"
      "  --nproc_per_node=\"$ranks\" --master_addr=\"$master\" \\\n"
      "  --master_port=\"${{MASTER_PORT:-29500}}\" \"$@\"\n",
      lines.size());
  return {{"torchrun.sh", text}};
}

}  // namespace

constinit const Exporter kTorchrunExporter{
    .target = rules::Target::torchrun,
    .summary = "script for each node, in the plan's order",
    .states = list_launcher_keys,
    .write = write_torchrun,
};

}  // namespace rankwright::exporter
