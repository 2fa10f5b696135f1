"""The generated Markdown pages, one function per page, from the program's own tables."""

MADE = "<!-- Made by scripts/make_reference: change the table that it is made from. -->\n\n"

# The sections of diagnostics, by the first two digits of a code.
TOPICS = [
    ("01", "Arithmetic"),
    ("02", "Memory"),
    ("03", "Placement"),
    ("04", "Schedule"),
    ("05", "A target's rules"),
    ("06", "Import and export"),
    ("07", "Running"),
    ("09", "Reading"),
]


def cell(text):
    """Escapes text for a table cell."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def table(rows, columns=None):
    columns = columns or list(rows[0])
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(cell(row[c]) for c in columns) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def code(text, language="text"):
    return f"```{language}\n{text.rstrip()}\n```\n"


def verbs(tool):
    out = ["# Verbs\n\nWhat `rankwright help` and `rankwright help VERB` print.\n"]
    out.append(code(tool.text("help")))
    for verb, _ in tool.verbs():
        out.append(f"## {verb}\n\n{code(tool.text('help', verb))}")
    return "\n".join(out)


def diagnostics(tool):
    rows = tool.rows("codes")
    out = [
        "# Diagnostics\n\nEvery code that a finding can have, with its page: what `rankwright explain "
        "CODE` prints. An error ends with exit code 2 (1 where a file cannot be read), warnings and "
        "notes with 0.\n"
    ]
    unknown = {row["code"][2:4] for row in rows} - {digits for digits, _ in TOPICS}
    if unknown:
        raise SystemExit(f"make_reference: codes of no topic: RW{', RW'.join(sorted(unknown))}..")
    for digits, topic in TOPICS:
        out.append(f"## RW{digits}..: {topic}\n")
        for row in rows:
            if row["code"][2:4] == digits:
                out.append(diagnostic(tool.json("explain", row["code"])))
    return "\n".join(out)


def diagnostic(page):
    out = [f"### {page['code']}\n\n**{page['severity']}: {cell(page['title'])}**\n"]
    out.append(cell(page["why"]) + "\n")
    if page.get("remedy"):
        out.append(f"What to do: {cell(page['remedy'])}\n")
    if page.get("source"):
        out.append(f"Source: {cell(page['source'])}\n")
    if page.get("example"):
        out.append("A file that has it:\n\n" + code(page["example"], "yaml"))
    return "\n".join(out)


def plan_keys(tool):
    out = [
        "# Plan keys\n\nEvery key of a plan file, in the order in which the tool writes them: what "
        "`rankwright explain KEY` prints. Unknown keys warn, and are ignored. "
        "[plan.schema.json](../plan.schema.json) and [cluster.schema.json](../cluster.schema.json) "
        "say the same to an editor.\n"
    ]
    for row in tool.rows("keys"):
        page = tool.json("explain", row["key"])
        out.append(f"## {page['key']}\n\n{cell(page['meaning'])}\n")
        out.append(f"- values: {cell(page['values'])}")
        out.append(f"- where it is not given: {cell(page['missing'])}")
        if page["cost"]:
            out.append(f"- what it costs: {cell(page['cost'])}")
        out.append("")
    return "\n".join(out)


def models(tool):
    return (
        "# Models\n\nWhat `rankwright catalog models` lists; `rankwright catalog models NAME` counts one. "
        "The families can be read from a config.json, or described by shapes.\n\n"
        f"{table(tool.rows('models'))}\n## Families\n\n{table(tool.rows('architectures'))}"
    )


def devices(tool):
    return (
        "# Devices\n\nWhat `rankwright catalog devices` lists. Peaks are dense. "
        "[How to add one](../../how-to/add-a-gpu.md).\n\n" + table(tool.rows("devices"))
    )


def systems(tool):
    out = [
        "# Systems\n\nWhat `rankwright catalog systems` lists: machines that are sold in units, levels "
        "innermost first. The last arity is the number of units that is asked for: `dgx-h100 x 8`. "
        "Bandwidths are nominal, per direction.\n"
    ]
    for row in tool.rows("systems"):
        out.append(f"## {row['system']}\n\n{cell(row['what it is'])}; device {row['device']}\n")
        out.append(table(tool.rows("systems", row["system"])))
    return "\n".join(out)


def constants(tool):
    return (
        "# Constants, frameworks and failures\n\n## Constants of the cost model\n\n"
        "With the band that each may move in, and how it was found. [How far off](../../explanation/"
        f"accuracy.md) they leave predictions.\n\n{table(tool.rows('constants'))}\n"
        "## Frameworks\n\nWhat the software does that a plan does not say; `rankwright catalog frameworks "
        f"NAME` has all of one.\n\n{table(tool.rows('frameworks'))}\n"
        "## Failures\n\nPublished failure rates, restarts and storage, for `rankwright explain --fail`.\n\n"
        f"{table(tool.rows('failures'))}"
    )


PAGES = [verbs, diagnostics, plan_keys, models, devices, systems, constants]


def all_pages(tool):
    return {f"{page.__name__}.md": MADE + page(tool).rstrip() + "\n" for page in PAGES}
