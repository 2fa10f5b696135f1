#!/usr/bin/env python3
"""`rankwright run`: 8 ranks train a small model on this machine. Tests the output, Ctrl-C, a killed rank
and invalid command lines; after each no process is left.

    tests/run_test.py build/release/bin/rankwright
"""

import csv
import json
import os
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time

import launch_cases as cases

PATIENCE = 60  # seconds
RANKS = 8
LONG = "1000000"  # more steps than the test waits for

PLAN = """\
world_size: 8
parallelism: {tp_size: 2, pp_size: 2, dp_size: 2, order: tp-cp-ep-dp-pp, micro_batch: 1}
model:
  {name: tiny, architecture: gpt2, hidden: 32, layers: 2, heads: 2, ffn: 64, vocab: 256, positions: 16}
cluster:
  device: {name: cpu, memory: 8 GB, memory_bandwidth: 10 GB/s, bf16: 50 GFLOP/s}
  levels: [{name: memory, arity: 8, bandwidth: 2 GB/s, latency: 5 us}]
job: {global_batch: 8, sequence: 16, param_dtype: fp32, grad_dtype: fp32, optimizer: adam}
"""


def one_rank(plan):
    return plan.replace("p_size: 2", "p_size: 1").replace("world_size: 8", "world_size: 1")


class Bench:
    """Starts runs whose processes are identified by the folder in their environment."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.plan = self.path("plan.yaml")
        with open(self.plan, "w", encoding="utf-8") as file:
            file.write(PLAN)
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "TMPDIR": folder,
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        }

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, words, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL):
        return subprocess.Popen(
            words,
            env=self.env,
            cwd=self.folder,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            preexec_fn=cases.die_with_parent,
        )

    def run(self, *words, launcher=(), text=None):
        """Runs to the end. Returns the exit code and the output."""
        given = subprocess.PIPE if text is not None else subprocess.DEVNULL
        process = self.start([*launcher, self.binary, "run", *words], stdin=given)
        out, err = process.communicate(text, timeout=PATIENCE)
        self.nothing_left()
        return process.returncode, out.decode(), err.decode()

    def start_long(self, *words):
        """Starts a long run and waits for some steps; the caller interrupts or kills it."""
        log = self.path("long.csv")
        if os.path.exists(log):
            os.remove(log)
        command = [self.binary, "run", self.plan, "--local", "--steps", LONG, "--csv", log, *words]
        process = self.start(command)
        cases.wait_for("some steps", lambda: len(lines_of(log)) > 3, PATIENCE)
        return process

    def nothing_left(self, patience=5):
        left = cases.end_what_is_left(self.folder, patience)
        assert not left, f"processes were left: {left}"

    def mpirun(self, ranks):
        more = ["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
        return ["mpirun", "-n", str(ranks), *more]


def lines_of(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def json_lines(text):
    return [json.loads(line) for line in text.splitlines()]


def check_summary(summary, steps):
    assert summary["type"] == "summary" and summary["schema"] == "rankwright.run/1", summary
    assert (summary["ranks"], summary["steps"]) == (RANKS, steps), summary
    assert summary["bytes_equal"], summary
    assert summary["bytes"] == summary["predicted_bytes"] > 0, summary
    for row in summary["sent"]:
        assert row["equal"] and row["calls"] == row["predicted_calls"] > 0, row
    assert [one["pp_rank"] for one in summary["memory"]] == [0, 1], summary
    assert all(one["peak_bytes"] > 0 for one in summary["memory"]), summary
    assert summary["predicted"] is None, summary  # this cluster was not measured


def check_files(bench):
    losses, trace = bench.path("loss.csv"), bench.path("trace.json")
    code, out, err = bench.run(
        bench.plan, "--local", "--steps", "6", "--json", "--csv", losses, "--trace", trace
    )
    assert code == 0, (code, out, err)
    *steps, summary = json_lines(out)
    assert [one["step"] for one in steps] == list(range(1, 7)), out
    assert all(one["type"] == "step" and one["seconds"] > 0 for one in steps), out
    check_summary(summary, 6)
    assert summary["loss"] == {"first": steps[0]["loss"], "last": steps[-1]["loss"]}, summary
    with open(losses, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["loss"]) for row in rows] == [one["loss"] for one in steps], rows
    with open(trace, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    names = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert {"pp rank 0", "pp rank 1"} <= names, names
    cells = {e["name"] for e in events if e["ph"] == "X"}
    # 2 stages, 8 / dp 2 / micro_batch 1 = 4 microbatches.
    expected = {
        f"{kind}, micro-batch {m}, stage {s}"
        for s in range(2) for kind in ("forward", "backward") for m in range(4)
    }  # fmt: skip
    assert expected <= cells, cells
    assert "step 6/6  loss " in err and "tokens/s  outside fwd/bwd " in err, err
    for character in "\x1b\r\x01":
        assert character not in out + err, (out, err)
    print("JSON lines, CSV and trace: 6 steps on 8 ranks")
    return [one["loss"] for one in steps]


def check_same_everywhere(bench, losses):
    """Checks that the user's own launcher, and a plan from standard input, give the same losses."""
    words = ("--steps", "3", "--json", "--quiet")
    for code, out, err in (
        bench.run(bench.plan, *words, launcher=bench.mpirun(RANKS)),
        bench.run("-", *words, "--local", text=PLAN.encode()),
    ):
        assert (code, err) == (0, ""), (code, err)
        found = [one["loss"] for one in json_lines(out)[:-1]]
        assert found == losses[:3], (found, losses)
    print("the same losses by --local, by mpirun and with the plan from standard input")


def check_lora(bench, losses):
    """Trains adapters on frozen weights: equal bytes, and the first loss is that of the model itself."""
    plan = PLAN.replace("optimizer: adam", "optimizer: adam, lora_rank: 4")
    for more in ("zero_stage: 1", "zero_stage: 3, sequence_parallel: true"):
        text = plan.replace("micro_batch: 1", "micro_batch: 1, " + more).encode()
        code, out, err = bench.run("-", "--local", "--steps", "4", "--json", "--quiet", text=text)
        assert (code, err) == (0, ""), (code, err)
        *steps, summary = json_lines(out)
        check_summary(summary, 4)
        assert abs(steps[0]["loss"] - losses[0]) < 1e-6 * losses[0], (steps, losses)
        assert steps[3]["loss"] != losses[3], (steps, losses)
    text = plan.replace("lora_rank: 4", "lora_rank: 4, base_dtype: nf4").encode()
    code, out, err = bench.run("-", "--local", text=text)
    assert (code, out) == (2, ""), (code, out, err)
    assert "error[RW0598]" in err and "frozen weights in nf4" in err, err
    print("LoRA: trains with ZeRO-1 and 3, bytes equal; frozen weights in nf4 are refused")


def check_objective(bench):
    """Refuses to train next-token prediction in place of another objective."""
    for keys, why in (
        ("method: grpo", "method grpo"),
        ("ref_model: true", "a reference model"),
        ("doc_length: 8", "documents of 8 tokens"),
    ):
        text = PLAN.replace("optimizer: adam", "optimizer: adam, " + keys).encode()
        code, out, err = bench.run("-", "--local", text=text)
        assert (code, out) == (2, ""), (keys, code, out, err)
        assert "error[RW0578]" in err and why in err, (keys, err)
    print("method, ref_model and doc_length are refused")


def check_terminal(bench):
    ours, its = pty.openpty()
    process = bench.start([bench.binary, "run", bench.plan, "--local", "--steps", "3"], stderr=its)
    os.close(its)
    said, end = b"", time.monotonic() + PATIENCE
    while b"step 3/3" not in said and time.monotonic() < end:
        if select.select([ours], [], [], 1)[0]:
            said += os.read(ours, 65536)
    out, _ = process.communicate(timeout=PATIENCE)
    os.close(ours)
    bench.nothing_left()
    assert process.returncode == 0, said
    assert b"\r\x1b[Kstep 3/3  loss " in said and b"  eta 0:00" in said, said
    assert b"\x01" not in said, said
    assert b"\x1b" not in out, out  # standard output is not a terminal
    text = out.decode()
    assert text.startswith("3 of 3 steps on 8 ranks: loss "), text
    for words in ("predicted vs measured", "equal on every rank", "rankwright probe"):
        assert words in text, text
    print("a terminal gets a line that is redrawn, and a summary")


def check_interrupt(bench):
    process = bench.start_long("--json", "--trace", bench.path("cut.json"))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    bench.nothing_left(0)
    assert process.returncode == 130, (process.returncode, err)
    *steps, summary = json_lines(out.decode())
    check_summary(summary, len(steps))
    assert summary["stopped"] and summary["steps_wanted"] == int(LONG), summary
    assert len(lines_of(bench.path("long.csv"))) == len(steps) + 1
    with open(bench.path("cut.json"), encoding="utf-8") as file:
        assert json.load(file)["traceEvents"]
    print(f"Ctrl-C after {len(steps)} steps: exit code 130, summary and files written")


def check_second_interrupt(bench):
    process = bench.start_long("--quiet")
    ranks = ranks_of(bench)
    os.kill(ranks[5], signal.SIGSTOP)  # so that the step cannot end
    process.send_signal(signal.SIGINT)
    time.sleep(1)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    process.communicate(timeout=PATIENCE)
    bench.nothing_left(0)
    assert process.returncode == 130, process.returncode
    assert time.monotonic() - begin < 20
    print(f"a second Ctrl-C ends ranks that hang, in {time.monotonic() - begin:.1f} s")


def ranks_of(bench):
    """Returns process ids by rank."""
    found = {}
    for number in cases.processes_of(bench.folder):
        try:
            with open(f"/proc/{number}/environ", "rb") as environ:
                variables = environ.read().split(b"\0")
        except OSError:
            continue
        for variable in variables:
            if variable.startswith(b"OMPI_COMM_WORLD_RANK="):
                found[int(variable.split(b"=")[1])] = number
    assert sorted(found) == list(range(RANKS)), found
    return found


def check_dead_rank(bench):
    process = bench.start_long("--quiet")
    begin = time.monotonic()
    os.kill(ranks_of(bench)[3], signal.SIGKILL)
    _, err = process.communicate(timeout=PATIENCE)
    took = time.monotonic() - begin
    bench.nothing_left(0)
    assert process.returncode == 1, (process.returncode, err)
    assert took < 30, took
    # Rank 3 of tp 2 x dp 2 x pp 2, tp innermost.
    assert b"rank 3 (tp 1, dp 1, pp 0) was killed by signal 9 (Killed)" in err, err
    assert b"mpirun noticed" not in err, err
    print(f"rank 3 killed: named, ended in {took:.1f} s")


def check_dead_launcher(bench):
    process = bench.start_long("--quiet")
    process.kill()
    process.communicate(timeout=PATIENCE)
    bench.nothing_left(10)
    print("the launcher killed: nothing is left")


def check_refusals(bench):
    code, out, err = bench.run(bench.plan)
    assert (code, out) == (64, ""), (code, out, err)
    assert "8 ranks (tp 2 x pp 2 x dp 2), but this is one process" in err, err
    assert f"add --local, or mpirun -n 8 rankwright run {bench.plan}" in err, err

    code, out, err = bench.run(bench.plan, launcher=bench.mpirun(4))
    assert (code, out) == (64, ""), (code, out, err)
    assert err.count("8 ranks (tp 2 x pp 2 x dp 2), but 4 were started") == 1, err
    assert f"help: mpirun -n 8 rankwright run {bench.plan}" in err, err

    code, out, err = bench.run(bench.plan, "--local", "--data", bench.path("none.bin"))
    assert (code, out) == (1, ""), (code, out, err)
    assert err.count("none.bin") == 1, err
    assert "mpirun" not in err, err

    code, _, err = bench.run("-", "--local", text=PLAN.replace("size: 8", "size: 16").encode())
    assert code == 2 and "error[RW0102]" in err, (code, err)

    with open(bench.path("one.yaml"), "w", encoding="utf-8") as file:
        file.write(one_rank(PLAN))
    code, out, err = bench.run("one.yaml", "--local", "--steps", "1", "--json")  # no launcher needed
    assert code == 0 and '"type":"summary"' in out, (code, out, err)
    code, _, err = bench.run("one.yaml", "--csv", "/no/such/folder/loss.csv")
    assert code == 1 and "cannot write /no/such/folder/loss.csv" in err, (code, err)
    code, _, err = bench.run("one.yaml", "--backend", "smoke")
    assert code == 64 and "backend 'smoke'" in err, (code, err)
    print("what cannot be is refused, once")


def check_data(bench):
    """Checks that files that are not lists of tokens are refused, and that a bad token ends the run at the step
    that reads it."""
    plan, tokens = bench.path("two.yaml"), bench.path("tokens.bin")
    with open(plan, "w", encoding="utf-8") as file:
        file.write(one_rank(PLAN).replace("dp_size: 1", "dp_size: 2").replace("world_size: 1", "world_size: 2")
                   .replace("vocab: 256", "vocab: 200"))
    code, out, err = bench.run("one.yaml", "--data", bench.folder)
    assert (code, out) == (1, "") and "is a directory, not a regular file" in err, (code, out, err)

    with open(tokens, "wb") as file:
        file.write(bytes(range(200)) * 20)
    code, out, err = bench.run(plan, "--local", "--steps", "2", "--json", "--data", tokens)
    assert code == 0 and len(json_lines(out)) == 3, (code, out, err)
    with open(tokens, "wb") as file:  # 16 tokens and a target: every sequence contains one of these
        file.write((bytes(15) + bytes([250])) * 100)
    code, out, err = bench.run(plan, "--local", "--steps", "2", "--json", "--data", tokens)
    assert (code, out) == (1, ""), (code, out, err)
    assert err.count("is outside a vocabulary of 200") == 1, err
    assert "token 250 at byte " in err and "mpirun" not in err, err
    print("data that cannot be trained on is refused, with the token and its byte")


def check_crowd(bench):
    cores = len(os.sched_getaffinity(0))
    if RANKS <= cores:
        print(f"{cores} cores: one rank each is allowed")
        return
    code, out, err = bench.run(bench.plan, "--local", "--ranks-per-core", "1", "--steps", "1")
    needed = -(-RANKS // cores)
    assert (code, out) == (64, ""), (code, out, err)
    assert f"8 ranks on {cores} core" in err and f"{needed} per core, more than the limit of 1" in err, err
    assert f"--ranks-per-core {needed} raises the limit" in err, err
    print("more ranks per core than the limit are refused, with the flag that allows them")


def main(arguments):
    binary = os.path.abspath(arguments[0])
    if not os.access(os.path.join(os.path.dirname(binary), "rankwright-runtime"), os.X_OK):
        cases.skip("the runtime was not built")
    cases.end_on_signals()
    with tempfile.TemporaryDirectory(prefix="rankwright-run-") as folder:
        bench = Bench(binary, folder)
        try:
            losses = check_files(bench)
            check_same_everywhere(bench, losses)
            check_lora(bench, losses)
            check_objective(bench)
            check_terminal(bench)
            check_refusals(bench)
            check_data(bench)
            check_crowd(bench)
            check_interrupt(bench)
            check_second_interrupt(bench)
            check_dead_rank(bench)
            check_dead_launcher(bench)
        finally:
            cases.end_what_is_left(folder, 0)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
