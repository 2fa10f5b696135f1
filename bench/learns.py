#!/usr/bin/env python3
"""Checks that a model split over ranks learns like one in a single process: a byte-level model on
the license texts that Debian ships (base-files), with tp 2 x pp 2 x dp 2 and with one process.

    python3 bench/learns.py --rankwright build/release/bin/rankwright -o learns

Writes the corpus, both plans, a CSV of each run, and learns.svg with the two curves to the folder.
Exits with 1 if the final losses differ by more than a thousandth.
"""

import argparse
import csv
import os
import re
import subprocess
import sys

TEXTS = "/usr/share/common-licenses"
PLAN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../examples/bytes-1m-tp2-pp2-dp2.yaml")
TAIL = 10  # final steps whose mean is the final loss
TOLERANCE = 1e-3


def corpus():
    names = sorted(os.listdir(TEXTS))
    paths = [os.path.join(TEXTS, name) for name in names]
    return b"\n".join(
        open(path, "rb").read() for path in paths if os.path.isfile(path) and not os.path.islink(path)
    )


def whole(plan):
    """Returns the plan with the same model, job and microbatches on one rank."""
    for key in ("world_size", "tp_size", "pp_size", "dp_size"):
        plan = re.sub(rf"^(\s*{key}): 2$|^(\s*{key}): 8$", lambda m: (m[1] or m[2]) + ": 1", plan, flags=re.M)
    return re.sub(r"zero_stage: 1", "zero_stage: 0", plan).replace("sequence_parallel: true", "sequence_parallel: false")


def train(given, plan, name):
    path, losses = (os.path.join(given.o, name + end) for end in (".yaml", ".csv"))
    with open(path, "w", encoding="utf-8") as file:
        file.write(plan)
    data = os.path.join(given.o, "corpus.bin")
    arguments = ["run", path, "--local", "--data", data, "--steps", str(given.steps), "--lr", "1e-3"]
    subprocess.run([given.rankwright, *arguments, "--csv", losses], check=True, stdin=subprocess.DEVNULL)
    with open(losses, encoding="utf-8") as file:
        return [float(row["loss"]) for row in csv.DictReader(file)]


def curve(values, box, most, colour, dash):
    left, top, width, height = box
    points = " ".join(
        f"{left + width * i / (len(values) - 1):.1f},{top + height * (1 - value / most):.1f}"
        for i, value in enumerate(values)
    )
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'


def picture(one, split):
    box, most = (60, 40, 560, 260), 6.0
    left, top, width, height = box
    text = '<text x="{:.0f}" y="{:.0f}" text-anchor="{}" font-size="13">{}</text>'
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 360" font-family="sans-serif" role="img">',
        "<title>Loss by step: one process, and tp 2 x pp 2 x dp 2</title>",
        '<rect width="640" height="360" fill="white"/>',
        text.format(left, 24, "start", "loss (nats a byte) by step, Debian's licence texts"),
    ]
    for value in range(0, 7):
        y = top + height * (1 - value / most)
        lines.append(f'<line x1="{left}" x2="{left + width}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        lines.append(text.format(left - 8, y + 4, "end", value))
    for share in (0, 0.25, 0.5, 0.75, 1):
        lines.append(text.format(left + width * share, top + height + 20, "middle", round(share * len(one))))
    lines.append(curve(one, box, most, "#f4a261", ' stroke-opacity="0.9" stroke-width="6"').replace('stroke-width="2"', "", 1))
    lines.append(curve(split, box, most, "#1d3557", ""))
    for i, (colour, label) in enumerate((("#f4a261", "one process"), ("#1d3557", "8 processes: tp 2 x pp 2 x dp 2, ZeRO-1, SP"))):
        y = top + 24 + 20 * i
        lines.append(f'<line x1="{left + 220}" x2="{left + 250}" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" stroke-width="4"/>')
        lines.append(text.format(left + 258, y, "start", label))
    return "\n".join(lines + ["</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rankwright", required=True)
    parser.add_argument("-o", default="learns")
    parser.add_argument("--steps", type=int, default=300)
    given = parser.parse_args()
    os.makedirs(given.o, exist_ok=True)
    with open(os.path.join(given.o, "corpus.bin"), "wb") as file:
        file.write(corpus())
    with open(PLAN, encoding="utf-8") as file:
        plan = file.read()
    split, one = train(given, plan, "split"), train(given, whole(plan), "one")
    with open(os.path.join(given.o, "learns.svg"), "w", encoding="utf-8") as file:
        file.write(picture(one, split))
    first, last = one[0], [sum(each[-TAIL:]) / TAIL for each in (one, split)]
    apart = max(abs(a - b) / a for a, b in zip(one, split))
    print(f"{given.steps} steps: loss {first:.4f} at first; mean of the last {TAIL}: one process {last[0]:.4f}, 8 processes {last[1]:.4f}; at most {apart:.1e} apart at a step")
    sys.exit(abs(last[0] - last[1]) > TOLERANCE * last[0])


if __name__ == "__main__":
    main()
