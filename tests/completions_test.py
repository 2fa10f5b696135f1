#!/usr/bin/env python3
"""Tests the completions in bash and fish, and in zsh with its last step, the display, replaced.

    tests/completions_test.py build/release/bin/rankwright

Shells that are not installed are skipped with a message; bash is required.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BASH = r"""
source "$SCRIPT"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_rankwright "$1"
printf '%s\n' "${COMPREPLY[@]}"
"""

# _describe gets the name of an array of "word:meaning"; this one prints what it would show.
ZSH = r"""
compdef() { :; }
compset() { :; }
_files() { print -rl -- ${words[CURRENT]}*(N); }
_describe() { local one; for one in "${(@P)3}"; do print -r -- "${one%%:*}"; done; }
source "$SCRIPT"
words=("$@") CURRENT=$#
_rankwright
"""

FISH = r"""
source "$SCRIPT"
for line in (complete -C "$LINE")
    string replace -r '\t.*' '' -- $line
end
true
"""


def ask(shell, folder, script, words):
    """Returns the shell's completions of the last of `words`."""
    command = {
        "bash": ["bash", "--norc", "-c", BASH, "bash", *words],
        "zsh": ["zsh", "-f", "-c", ZSH, "zsh", *words],
        "fish": ["fish", "--no-config", "-c", FISH],
    }[shell]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60, check=True,
        env={**os.environ, "SCRIPT": str(script), "LINE": " ".join(words), "HOME": str(folder)},
    )
    assert done.stderr == "", f"{shell} {words}: {done.stderr}"
    return done.stdout.split()


def check_shell(shell, program, folder):
    script = folder / f"script.{shell}"
    script.write_text(
        subprocess.run([program, "completions", shell], capture_output=True, text=True).stdout
    )
    subprocess.run([shell, "-n", script], check=True)

    def offered(*words):
        return ask(shell, folder, script, ["rankwright", *words])

    verbs = offered("")
    assert {"plan", "check", "help", "completions"} <= set(verbs), verbs
    for verb in verbs:
        if verb == "help":
            continue
        text = subprocess.run([program, "help", verb], capture_output=True, text=True).stdout
        flags = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", text, re.M))
        assert len(flags) >= 5, text
        missing = flags - set(offered(verb, "--"))
        assert not missing, f"{shell}: {verb} does not offer {missing}"
    assert offered("plan", "--model", "llama-3.1-4") == ["llama-3.1-405b"]
    assert "dgx-h100" in offered("plan", "--cluster", "dgx-")
    assert offered("export", "plan.yaml", "--to", "slu") == ["slurm"]
    assert offered("catalog", "devices", "h100-s") == ["h100-sxm"]
    assert "plan.yaml" in offered("check", ""), "files of the folder"
    assert offered("frobnicate", "x") == []
    # bash splits at the equals sign, the others do not.
    joined = ["--for", "=", "slu"] if shell == "bash" else ["--for=slu"]
    assert offered("check", *joined) == (["slurm"] if shell == "bash" else ["--for=slurm"])
    print(f"{shell}: {len(verbs)} verbs, every flag of each")


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    os.environ["PATH"] = f"{program.parent}:{os.environ['PATH']}"
    os.environ.pop("XDG_CONFIG_HOME", None)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "plan.yaml").write_text("")
        for shell in ["bash", "zsh", "fish"]:
            if shutil.which(shell) or shell == "bash":
                check_shell(shell, program, folder)
            else:
                print(f"{shell}: not installed, not tested")


main()
