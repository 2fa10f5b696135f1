"""JSON Schemas of plan files and cluster files.

The types and words of a plan key come from its row of `rankwright catalog keys`; its limits, and the keys of
models and clusters, are parsed from tables in the sources. The script ends if a table cannot be parsed.
"""

import json
import re

DRAFT = "http://json-schema.org/draft-07/schema#"
NUMBER = r"\+?[0-9][0-9_,]*(\.[0-9]+)?([eE][+-]?[0-9]+)?"


def constants(root):
    """Returns the limits defined in headers: {"kMaxDegree": 4194304, ...}."""
    found = {}
    pattern = r"constexpr (?:i64|std::size_t) (kMax\w+) = ([^;]+);"
    for header in ["cluster/cluster.h", "base/integer.h", "plan/job.h", "plan/stages.h", "import/plan/draft.h"]:
        for name, value in re.findall(pattern, (root / "rankwright" / header).read_text("utf-8")):
            value = value.rpartition("::")[2]
            shifted = re.fullmatch(r"i64\{1\} << (\d+)", value)
            found[name] = 1 << int(shifted[1]) if shifted else found.get(value) or int(value)
    return found


def whole(low, high):
    """Returns the schema of an integer; the tool also reads "4,096" and "4_096", which are strings in YAML."""
    return {
        "anyOf": [
            {"type": "integer", "minimum": low, "maximum": high},
            {"type": "string", "pattern": r"^\+?[0-9][0-9_,]*[kK]?$"},
        ]
    }


FLAG = {"enum": [True, False, "true", "false", "yes", "no", "on", "off"]}
TEXT = {"type": ["string", "number", "boolean"]}


def words(values):
    """Returns the alternatives of "a, b or c", or None."""
    parts = re.split(r", (?:or )?| or ", values)
    if not all(re.fullmatch(r"[\w.-]+", part) for part in parts):
        return None
    digits = [int(part) for part in parts if part.isdigit()]
    return {"enum": digits + parts}


def counts(low, high):
    return {"type": "array", "items": whole(low, high)}


def special(limits):
    """Returns the schemas of keys that are not just a number, a flag or a word."""
    node = r"^[0-9]+_nodes?_x_[0-9]+_gpus?$"
    axes = "(tp|cp|ep|dp|pp)"
    ranks = counts(0, limits["kMaxDegree"])
    modules = ["core_attn", "layernorm", "mla_up_proj", "mlp", "moe_act", "moe", "shared_experts"]
    length = r"\+?[0-9][0-9_]*[kK]?:[0-9.eE+-]+"
    linear = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    return {
        "node_shape": {"type": "string", "pattern": node},
        "reading_note": {},
        "name": {},
        "parallelism.order": {"type": "string", "pattern": f"^{axes}(-{axes}){{0,4}}$"},
        "parallelism.stages": {
            "anyOf": [{"type": "string"}, {**counts(0, limits["kMaxStages"]), "minItems": 1}]
        },
        "parallelism.recompute": {
            "anyOf": [
                {"enum": ["none", "selective", "full"]},
                {
                    "type": "object",
                    "properties": {
                        "full": whole(1, limits["kMaxStages"]),
                        "modules": {"type": "array", "items": {"enum": modules}, "minItems": 1},
                    },
                },
            ]
        },
        "parallelism.offload.optimizer": {
            "anyOf": [{"type": "boolean"}, {"type": "number", "minimum": 0, "maximum": 1}]
        },
        "parallelism.offload.nvme_path": {"type": "string", "maxLength": 255},
        "software.release": {"type": ["string", "number"]},
        "job.lora_modules": {
            "anyOf": [
                {"enum": ["all", *linear]},
                {"type": "array", "items": {"enum": linear}, "minItems": 1},
            ]
        },
        "job.frozen": {
            "anyOf": [
                {"type": "string"},
                {
                    "type": "array",
                    "items": {"type": "string", "pattern": "^(encoder|embedding|head|layers [0-9]+-[0-9]+)$"},
                },
            ]
        },
        "job.doc_length": {
            "anyOf": [
                *whole(1, limits["kMaxSequence"])["anyOf"],
                {"type": "string", "pattern": f"^{length}(, *{length})*$"},
            ]
        },
        "job.images": whole(1, limits["kMaxImages"]),
        "job.clips": whole(1, limits["kMaxImages"]),
        "job.expert_imbalance": {"type": "number", "minimum": 1, "maximum": 100},
        "job.expert_capacity": {"type": "number", "minimum": 0.01, "maximum": 100},
        "placement": {
            "anyOf": [
                {"enum": ["block", "cyclic"]},
                {"type": "object", "properties": {"hosts": ranks, "ranks": ranks}},
            ]
        },
        "model": {"anyOf": [{"type": "string"}, {"$ref": "#/definitions/model"}]},
        "cluster": {"anyOf": [{"type": "string"}, {"$ref": "#/definitions/cluster"}]},
    }


def plan_key(key, values, limits, high, specials):
    if key in specials:
        return specials[key]
    if values == "true or false":
        return FLAG
    if key in high:
        return whole(1, limits[high[key]])
    known = words(values)
    if known is None:
        raise SystemExit(f"make_reference: no schema for the plan key {key}: {values}")
    return known


def plan_schema(tool, root):
    limits, source = constants(root), (root / "rankwright/import/plan/plan_keys.cc").read_text("utf-8")
    row = r'\{\{"([\w.]+)",(?:(?!\{\{").)*?whole<&Draft::\w+, (?:\w+::)?(kMax\w+)>'
    high, specials = dict(re.findall(row, source, re.DOTALL)), special(limits)
    schema = {
        "$schema": DRAFT,
        "title": "Rankwright plan file",
        "description": "Made by scripts/make_reference. Keys that are not known warn, and are ignored.",
        "type": "object",
        "properties": {},
        "definitions": {"model": model(root), "cluster": cluster(root)},
    }
    for row in tool.rows("keys"):
        page = tool.json("explain", row["key"])
        *groups, name = page["key"].split(".")
        place = schema["properties"]
        for group in groups:
            place = place.setdefault(group, {"type": "object", "properties": {}})["properties"]
        about = f"{page['meaning']} {page['cost']} Values: {page['values']}. Default: {page['missing']}."
        place[name] = {
            "description": re.sub(r"\s+", " ", about),
            **plan_key(page["key"], page["values"], limits, high, specials),
        }
    return schema


def model(root):
    """Returns the schema of a model: the tables of numbers and flags, plus what model_file.cc reads."""
    source = root / "rankwright/model/architecture.cc"
    properties = {name: TEXT for name, _ in fields(root / "rankwright/import/plan/model_file.cc", "kOthers")}
    properties.update({name: FLAG for name, _ in fields(source, "kFlags")})
    properties.update({name: whole(0, constants(root)["kMaxCount"]) for name, _ in fields(source, "kFields")})
    return {"type": "object", "properties": properties, "required": ["architecture"]}


def fields(file, name):
    """Returns (key, text of its reader) of each row of a table in a source file."""
    text = file.read_text("utf-8")
    body = re.search(rf"{name}\[\] = \{{\n(.*?)\n\}};", text, re.DOTALL)
    rows = re.split(r'\n    \{(?=")', "\n" + body[1])[1:]
    return [(re.match(r'"(\w+)"', row)[1], row) for row in rows]


def quantity(root, kind):
    """Returns the schema of what e.g. "parse_bandwidth" reads: a number and one of its units."""
    source = (root / "rankwright/base/quantity.cc").read_text("utf-8")
    unit_table = re.search(rf"{kind}\(.*?parse\(text, (k\w+),", source, re.DOTALL)[1]
    units = re.search(rf"{unit_table}\[\] = \{{(.*?)\}};", source, re.DOTALL)[1]
    names = [n.encode().decode("unicode_escape") for n in re.findall(r'\{"([^"]+)"', units)]
    return {"type": "string", "pattern": rf"^\s*{NUMBER}\s*({'|'.join(names)})\s*$"}


def reader_schema(root, read, limits):
    """Returns the schema of one row of a table of readers, by the function that the reader calls."""
    file = (root / "rankwright/import/cluster/cluster_file.cc").read_text("utf-8")
    if kind := re.search(r"parse_\w+", read):
        return quantity(root, kind[0])
    if number := re.search(r"r\.(whole|number)\(n, (\d+), ([\w']+)\)", read):
        high = number[3].replace("'", "")
        if not high.isdigit():
            stated = re.search(rf"{high} = (?:\w+::)*(\w+);", file)[1]
            high = stated if stated.isdigit() else limits[stated]
        low, high = int(number[2]), int(high)
        if number[1] == "whole":
            return whole(low, high)
        return {"anyOf": [{"type": "number", "minimum": low, "maximum": high},
                          {"type": "string", "pattern": f"^{NUMBER}$"}]}
    if listed := re.search(r"r\.one_of\(n, (k\w+)\)", read):
        return {"enum": re.findall(r'"([^"]+)"', re.search(rf"{listed[1]}\[\] = \{{(.*?)\}};", file)[1])}
    if re.search(r"r\.(label|text)\(", read):
        return TEXT
    raise SystemExit(f"make_reference: no schema for {read}")


def cluster(root):
    limits, file = constants(root), root / "rankwright/import/cluster/cluster_file.cc"
    level = {key: reader_schema(root, read, limits) for key, read in fields(file, "kLevelFields")}
    device = {key: reader_schema(root, read, limits) for key, read in fields(file, "kDeviceFields")}
    described = {
        "type": "object",
        "properties": device,
        "required": ["memory", "memory_bandwidth"],
        "anyOf": [{"required": ["bf16"]}, {"required": ["fp16"]}],
    }
    levels = {
        "type": "array",
        "description": "Innermost first; bandwidth is per direction.",
        "items": {"type": "object", "properties": level, "required": ["arity", "bandwidth"]},
        "minItems": 1,
        "maxItems": limits["kMaxLevels"],
    }
    return {
        "type": "object",
        "properties": {
            "name": TEXT,
            "device": {"anyOf": [{"type": "string"}, described]},
            "levels": levels,
            "host_devices": whole(1, limits["kMaxDevices"]),
            "host_memory": quantity(root, "parse_bytes"),
            "host_link": quantity(root, "parse_bandwidth"),
            "nvme_capacity": quantity(root, "parse_bytes"),
            "nvme_read": quantity(root, "parse_bandwidth"),
            "nvme_write": quantity(root, "parse_bandwidth"),
        },
        "required": ["device", "levels"],
    }


def cluster_schema(_, root):
    about = "Made by scripts/make_reference. Keys that are not known warn, and are ignored."
    return {"$schema": DRAFT, "title": "Rankwright cluster file", "description": about, **cluster(root)}


SCHEMAS = {"plan.schema.json": plan_schema, "cluster.schema.json": cluster_schema}


def all_schemas(tool, root):
    return {
        name: json.dumps(make(tool, root), indent=2, ensure_ascii=False) + "\n"
        for name, make in SCHEMAS.items()
    }
