"""The real torchrun starts exported scripts on emulated nodes, one network namespace each: every rank runs on the
node and device of the plan's placement, and the plan's groups of ranks communicate. The training program is
replaced by one that reports what it finds."""

import concurrent.futures
import json
import os
import pathlib
import sys

import judges
import pytest
import rankwright
from plans import program

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import emulated_nodes  # noqa: E402
import launch_cases as cases  # noqa: E402

PROGRAM = """\
import json, os, socket, sys
import torch
import torch.distributed as dist

folder, lists = sys.argv[1], json.load(open(sys.argv[2]))
torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
found = {name: int(os.environ[name]) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")}
found |= {"node": socket.gethostname(), "groups": {}}
for name, groups in lists.items():
    for members in groups:  # every rank creates every group, in the same order
        group = dist.new_group(members)
        if rank in members:
            heard = [None] * len(members)
            dist.all_gather_object(heard, rank, group)
            total = torch.tensor([2.0 ** rank])
            dist.all_reduce(total, group=group)
            found["groups"][name] = [heard, total.item()]
with open(os.path.join(folder, f"{rank}.json"), "w") as file:
    json.dump(found, file)
dist.barrier()
dist.destroy_process_group()
"""


def make(parallelism, placement):
    levels = [{"name": "nvlink", "arity": cases.DEVICES, "bandwidth": "450 GB/s", "latency": "2 us"},
              {"name": "infiniband", "arity": cases.HOSTS, "bandwidth": "50 GB/s", "latency": "5 us"}]  # fmt: skip
    return {"world_size": cases.HOSTS * cases.DEVICES, "model": "llama-3.2-1b", "parallelism": parallelism,
            "placement": placement, "cluster": {"device": "h100-sxm", "levels": levels}}  # fmt: skip


def groups_of(plan):
    """Returns {name: [members, ...]} of all groups, and {rank: {name: members}}."""
    lists, by_rank = {}, {}
    for rank in range(plan["world_size"]):
        groups = {g["group"]: [int(m) for m in g["members"]] for g in rankwright.explain(plan, rank=rank).data["groups"]}
        by_rank[rank] = groups
        for name, members in groups.items():
            if members not in lists.setdefault(name, []):
                lists[name].append(members)
    return lists, by_rank


def start(nodes, plan, folder, by_name):
    """Runs the exported script on all nodes and returns what the ranks report."""
    order = plan["placement"]["hosts"] if by_name else range(cases.HOSTS)
    (folder / "program.py").write_text(PROGRAM, "utf-8")
    (folder / "plan.json").write_text(json.dumps(plan), "utf-8")
    (folder / "groups.json").write_text(json.dumps(groups_of(plan)[0]), "utf-8")
    script = folder / "start.sh"
    names = ",".join(nodes.names) if by_name else None
    cases.export(program(), str(folder / "plan.json"), "torchrun", str(script), names)
    # Nodes have no name server, so the first node's address replaces its name.
    env = {"MASTER_ADDR": f"{emulated_nodes.SUBNET}{order[0] + 1}", "GLOO_SOCKET_IFNAME": emulated_nodes.INTERFACE,
           "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}  # fmt: skip

    def run(node):
        more = {} if by_name else {"NODE_RANK": str(node)}
        command = ["bash", str(script), str(folder / "program.py"), str(folder), str(folder / "groups.json")]
        return nodes.finish(node, command, env | more, 240, True)

    with concurrent.futures.ThreadPoolExecutor(cases.HOSTS) as threads:
        for done in threads.map(run, range(cases.HOSTS)):
            assert done.returncode == 0, done.stderr
    return [json.loads((folder / f"{rank}.json").read_text("utf-8")) for rank in range(plan["world_size"])]


@pytest.fixture
def nodes():
    if reason := emulated_nodes.Nodes.available():
        pytest.skip(f"no emulated nodes: {reason}")
    with emulated_nodes.Nodes(cases.HOSTS) as made:
        yield made


@pytest.mark.parametrize("by_name, parallelism, placement", [
    (True, {"tp_size": 2, "dp_size": 4}, {"hosts": cases.ORDER}),
    (False, {"tp_size": 2, "pp_size": 2, "dp_size": 2}, "block"),
])  # fmt: skip
def test_ranks_and_groups(tally, nodes, tmp_path, by_name, parallelism, placement):
    how = "nodes by name" if by_name else "nodes by number"
    counted = tally("torchrun", judges.version("torch"), f"exported script on 4 emulated nodes, {how}")
    plan = make(parallelism, placement)
    counted.case()
    devices = cases.CASES["hosts" if by_name else "block"][2]
    found = start(nodes, plan, tmp_path, by_name)
    by_rank = groups_of(plan)[1]
    for rank, node, device in cases.expected(devices, nodes.names):
        one = found[rank]
        counted.same((rank, node, device, plan["world_size"], cases.DEVICES),
                     (one["RANK"], one["node"], one["LOCAL_RANK"], one["WORLD_SIZE"], one["LOCAL_WORLD_SIZE"]),
                     f"{plan}: rank {rank}")  # fmt: skip
        groups = {name: [members, float(sum(2**m for m in members))] for name, members in by_rank[rank].items()}
        assert groups
        counted.same(groups, one["groups"], f"{plan}: groups of rank {rank}")
