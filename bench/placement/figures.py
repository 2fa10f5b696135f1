"""Evaluates the measurements of the placement experiment: rank correlation, tables, the plot.
Pure functions over rows; a row is a dict with name, predicted, measured (seconds), tp (none, inside
or across), and pick (whether the planner chose it).
"""

import html
import math

KINDS = {  # by where tp groups are: legend, color (Okabe and Ito), shape
    "none": ("no tp", "#0072b2", "circle"),
    "inside": ("tp inside nodes", "#009e73", "square"),
    "across": ("tp across nodes", "#d55e00", "triangle"),
}
PANEL, MARGIN, GAP = 400, 64, 76  # pixels
CHARACTER, LINE = 6.2, 13  # width and height of a character of an 11 px label


def ranks(values):
    """Returns ranks, 1 for the smallest value; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    found, start = [0.0] * len(values), 0
    for end in range(1, len(order) + 1):
        if end == len(order) or values[order[end]] != values[order[start]]:
            for i in order[start:end]:
                found[i] = (start + end + 1) / 2
            start = end
    return found


def spearman(first, second):
    """Returns Spearman's rank correlation (Pearson of the ranks); None if one is constant."""
    a, b = ranks(first), ranks(second)
    mean = (len(a) + 1) / 2
    above = sum((x - mean) * (y - mean) for x, y in zip(a, b))
    below = math.sqrt(sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b))
    return above / below if below else None


def seconds(value):
    return f"{value:.3g} s" if value >= 1 else f"{value * 1e3:.3g} ms"


def measured(rows):
    return [row for row in rows if row.get("measured") and row.get("predicted")]


def summary(rows):
    """Summarizes a setup: the correlation, the planner's pick, and the median error."""
    good = measured(rows)
    if not good:
        return {"layouts": 0}
    fastest = min(good, key=lambda row: row["measured"])
    pick = next((row for row in good if row.get("pick")), None)
    errors = sorted(abs(row["predicted"] / row["measured"] - 1) for row in good)
    said = {
        "layouts": len(good),
        "spearman": spearman(
            [row["predicted"] for row in good], [row["measured"] for row in good]
        ),
        "fastest": fastest["name"],
        "median_error": errors[len(errors) // 2],
    }
    if pick:
        said["pick"] = pick["name"]
        said["pick_behind"] = pick["measured"] / fastest["measured"] - 1
    return said


def tp_losses(rows):
    """Returns [(name inside, name across, measured ratio, predicted ratio)] of layouts that differ
    only in the order of the axes, where one keeps tp inside nodes."""
    found = []
    for inside in measured(rows):
        for across in measured(rows):
            alike = inside.get("alike") is not None and inside["alike"] == across.get("alike")
            if alike and inside["tp"] == "inside" and across["tp"] == "across":
                ratios = [across[key] / inside[key] for key in ("measured", "predicted")]
                found.append((inside["name"], across["name"], *ratios))
    return sorted(found, key=lambda row: -row[2])


def percent(ratio):
    return f"{100 * ratio:+.0f} %"


def table(title, rows):
    """Returns the Markdown of one setup: the summary, then every layout, fastest first."""
    said, lines = summary(rows), [f"## {title}", ""]
    if said["layouts"]:
        rho = "not defined" if said["spearman"] is None else f"{said['spearman']:.3f}"
        lines += [
            f"- {said['layouts']} layouts, Spearman's rank correlation of predicted and measured"
            f" step times {rho}; median error {100 * said['median_error']:.0f} %",
            f"- fastest measured: {said['fastest']}",
        ]
        if "pick" in said:
            lines += [f"- the planner's pick: {said['pick']}, {percent(said['pick_behind'])}"]
    lines += [
        f"- tp across the slow link: {across} takes {ratio:.2f} x of {inside}"
        f" (predicted {predicted:.2f} x)"
        for inside, across, ratio, predicted in tp_losses(rows)
    ]
    lines += ["", "| layout | tp | predicted | measured | predicted / measured | ranks |"]
    lines += ["|---|---|--:|--:|--:|--:|"]
    good = sorted(measured(rows), key=lambda row: row["measured"])
    place = ranks([row["predicted"] for row in good])
    for i, row in enumerate(good):
        mark = " (pick)" if row.get("pick") else ""
        lines.append(
            f"| {row['name']}{mark} | {row['tp']} | {seconds(row['predicted'])} |"
            f" {seconds(row['measured'])} | {row['predicted'] / row['measured']:.2f} |"
            f" {place[i]:g} / {i + 1} |"
        )
    for row in rows:
        if row not in good:
            why = row.get("failed", "not measured").replace("|", "/").replace("\n", " ")
            lines.append(f"| {row['name']} | {row['tp']} | | {why} | | |")
    return "\n".join(lines) + "\n"


def ticks(low, high):
    """Returns 1, 2 and 5 times powers of ten inside the range; for a wide range only the powers."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits = (1, 2, 5) if high / low < 1e3 else (1,)
    every = [digit * 10.0**power for power in powers for digit in digits]
    return [value for value in every if low <= value * 1.0001 and value <= high * 1.0001]


def bounds(rows):
    """Returns one range for both axes, so that equal times are on the diagonal."""
    values = [row[key] for row in measured(rows) for key in ("predicted", "measured")] or [1]
    return min(values) / 1.25, max(values) * 1.25


def shape(kind, x, y, title):
    colour, form = KINDS[kind][1:]
    drawn = {
        "circle": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5"',
        "square": f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"',
        "triangle": f'<path d="M{x:.1f} {y - 5.5:.1f}l5 9.2h-10z"',
    }[form]
    name = drawn[1:].split(" ", 1)[0]
    style = f'fill="{colour}" fill-opacity="0.8" stroke="#fff" stroke-width="0.8"'
    return f"{drawn} {style}><title>{html.escape(title)}</title></{name}>"


def text(x, y, what, anchor="start", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{html.escape(what)}</text>'


def place_label(x, y, width, taken, frame, reach=9):
    """Returns the first place next to (x, y) that overlaps nothing, or None. Places are
    boxes (left, top, right, bottom)."""
    for up in (0, -13, 13, -26, 26, -40, 40, -56, 56, -74, 74):
        for left in (x + reach, x - reach - width):
            box = (left, y + up - LINE / 2, left + width, y + up + LINE / 2)
            inside = box[0] >= frame[0] + 3 and box[2] <= frame[2] - 3
            inside = inside and box[1] >= frame[1] + 3 and box[3] <= frame[3] - 3
            free = all(
                box[2] < b[0] or b[2] < box[0] or box[3] < b[1] or b[3] < box[1] for b in taken
            )
            if inside and free:
                return box
    return None


def labels(points, frame):
    """Returns the names of the points to label: the extremes, the pick, and the worst predicted."""
    order = sorted(points, key=lambda p: p[2]["measured"])
    off = sorted(points, key=lambda p: -abs(math.log(p[2]["predicted"] / p[2]["measured"])))
    wanted = [*order[:1], *[p for p in points if p[2].get("pick")], *order[-1:], *off[:3]]
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y, _ in points]
    drawn, named = [], set()
    for x, y, row in wanted:
        if row["name"] in named:
            continue
        named.add(row["name"])
        what = row["name"] + (" (pick)" if row.get("pick") else "")
        reach = 14 if row.get("pick") else 9  # its ring is wider than a point
        box = place_label(x, y, CHARACTER * len(what), taken, frame, reach)
        if box is None:
            continue
        taken.append(box)
        end = box[0] - 1 if box[0] > x else box[2] + 1
        middle = (box[1] + box[3]) / 2
        drawn.append(f'<path d="M{x:.1f} {y:.1f}L{end:.1f} {middle:.1f}" class="lead"/>')
        anchor = ("end", box[2]) if box[0] < x else ("start", box[0])
        drawn.append(text(anchor[1], middle + 4, what, anchor[0], 'class="name"'))
    return drawn


def panel(title, rows, left, top, limits):
    low, high = map(math.log, limits)

    def at(value):
        return (math.log(value) - low) / (high - low) * PANEL

    bottom, right = top + PANEL, left + PANEL
    said, rho = summary(rows), ""
    if said.get("spearman") is not None:
        rho = f": {said['layouts']} layouts, Spearman {said['spearman']:.2f}"
    drawn = [text(left, top - 14, title + rho, more='class="title"')]
    drawn.append(f'<rect x="{left}" y="{top}" width="{PANEL}" height="{PANEL}" class="frame"/>')
    for value in ticks(*limits):
        x, y = left + at(value), bottom - at(value)
        drawn.append(f'<path d="M{x:.1f} {top}V{bottom}M{left} {y:.1f}H{right}" class="grid"/>')
        drawn.append(text(x, bottom + 16, seconds(value), "middle"))
        drawn.append(text(left - 6, y + 4, seconds(value), "end"))
    drawn.append(f'<path d="M{left} {bottom}L{right} {top}" class="equal"/>')
    drawn.append(text(left + PANEL / 2, bottom + 38, "predicted step", "middle"))
    turned = f'transform="rotate(-90 {left - 50} {top + PANEL / 2})"'
    drawn.append(text(left - 50, top + PANEL / 2, "measured step", "middle", turned))
    points = [
        (left + at(row["predicted"]), bottom - at(row["measured"]), row) for row in measured(rows)
    ]
    drawn += labels(points, (left, top, right, bottom))
    for x, y, row in points:
        figures = f"predicted {seconds(row['predicted'])}, measured {seconds(row['measured'])}"
        drawn.append(shape(row["tp"], x, y, f"{row['name']}: {figures}"))
        if row.get("pick"):
            drawn.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" class="ring"/>')
    return drawn


def plot(setups):
    """Returns the SVG of [(title, rows)]: one panel each, with the same logarithmic axes in all."""
    width = MARGIN + len(setups) * (PANEL + GAP) - GAP + 28
    height = 44 + PANEL + 84
    limits = bounds([row for _, rows in setups for row in rows])
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" font-family="Helvetica, Arial, sans-serif" font-size="11"'
        ' fill="#222">',
        "<style>.title{font-size:13px;font-weight:bold}.frame{fill:none;stroke:#888}"
        ".grid{stroke:#e6e6e6;fill:none}.equal{stroke:#888;stroke-dasharray:4 3;fill:none}"
        ".ring{fill:none;stroke:#222;stroke-width:1.5}.lead{stroke:#999;fill:none}"
        ".name{paint-order:stroke;stroke:#fff;stroke-width:3px}</style>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for i, (title, rows) in enumerate(setups):
        drawn += panel(title, rows, MARGIN + i * (PANEL + GAP), 44, limits)
    x, y = MARGIN, height - 16
    for kind, (legend, _, _) in KINDS.items():
        drawn += [shape(kind, x + 5, y - 4, legend), text(x + 15, y, legend)]
        x += 30 + CHARACTER * len(legend)
    drawn.append(f'<circle cx="{x + 5}" cy="{y - 4}" r="7" class="ring"/>')
    drawn.append(text(x + 17, y, "planner's pick"))
    x += 115
    drawn += [f'<path d="M{x} {y - 4}h22" class="equal"/>', text(x + 28, y, "predicted = measured")]
    return "\n".join([*drawn, "</svg>"]) + "\n"
