"""The inputs of tests/hostile_names_test.py: hostile names, plans that contain them, and how readers
clean a name.
"""

import functools
import json
import unicodedata

# Each tries to leave a file CANARY in the working directory, or to set a variable CANARY on a page.
RUN = '__import__("os").system("touch CANARY")'
PAYLOADS = {
    "plain text": "another-name",
    "coding unicode_escape": r'coding:unicode_escape\x0a__import__("os").system'
    r'("touch\x20CANARY")\x0a#',
    "coding utf_7": 'coding:utf_7+AAo-__import__("os").system("touch+ACA-CANARY")+AAo-#',
    "coding raw_unicode_escape": r'coding=raw_unicode_escape\u000a__import__("os").system'
    r'("touch\u0020CANARY")\u000a#',
    "emacs coding": r"-*- coding: unicode_escape -*-\x0a" + RUN + r"\x0a#",
    "vim modeline": "x vim: set fileencoding=utf-7 modelineexpr: :!touch CANARY",
    "yaml schema": "yaml-language-server: $schema=https://evil.example/CANARY",
    "newline": f"a\n{RUN}\n#",
    "carriage return": f"a\r{RUN}\r#",
    "both": f"a\r\ntouch CANARY\r\n{RUN}\r\n",
    "line separator": f"a\u2028{RUN}\u2028#",
    "paragraph separator": "a\u2029touch CANARY\u2029#",
    "next line": f"a\u0085{RUN}\u0085#",
    "vertical tab, form feed": f"a\v{RUN}\f{RUN}\x1c{RUN}",
    "command": "$(touch CANARY)",
    "backticks": "`touch CANARY`",
    "single quote": "'; touch CANARY; '",
    "double quote": '"; touch CANARY; "',
    "Python quote": f'"); {RUN}; ("',
    "triple quotes": f'""" + {RUN} + """',
    "backslash": "a\\",
    "backslash newline": "a\\\ntouch CANARY",
    "here document": "EOF\ntouch CANARY\n<<EOF",
    "history": "!touch CANARY !! !$",
    "parameter": "${x:-$(touch CANARY)} $IFS ~ * ? [a-z] {a,b}",
    "process": "<(touch CANARY) >CANARY 2>&1 | touch CANARY & touch CANARY",
    "sbatch line": "a\n#SBATCH --wrap=touch\n#SBATCH --output=CANARY",
    "sbatch in one line": "#SBATCH --wrap='touch CANARY'",
    "flag": "--help --wrap=CANARY -o CANARY",
    "percent newline": "a%0atouch CANARY%0d%0a",
    "workflow command": "::set-output name=x::CANARY\n::error file=CANARY::x",
    "template": "{{ 7*7 }} ${{ github.token }} {% x %} {0} {}",
    "format": "%s%s%n%x%d {} {0} {name!r} %(x)s $x",
    "script": "<script>window.CANARY=1</script>",
    "end of script": "</script><script>window.CANARY=1</script>",
    "comment in script": "<!--<script>window.CANARY=1//-->",
    "img": '"><img src=x onerror="window.CANARY=1">',
    "svg": "<svg onload=window.CANARY=1><a xlink:href='javascript:CANARY=1'>x</a></svg>",
    "CDATA": "]]><script>window.CANARY=1</script><![CDATA[",
    "entity": "&lt;script&gt;window.CANARY=1&lt;/script&gt; &#60;b&#62; &amp;",
    "doctype": '<!DOCTYPE x [<!ENTITY y SYSTEM "file:///etc/passwd">]>&y;',
    "style": "</title></style><style>*{display:none}</style>",
    "javascript link": "[click](javascript:window.CANARY=1)",
    "image link": "![x](https://evil.example/CANARY.png)",
    "reference link": "[x]: https://evil.example/CANARY\n[x]",
    "autolink": "<https://evil.example/CANARY> https://evil.example www.evil.example a@evil.example",
    "table": "a | b |\n|---|---|\n| c | d |",
    "fence": "```\n<script>window.CANARY=1</script>\n```",
    "heading": "a\n# b\n- c\n> d\n\n    e\n***\n<h1>f</h1>",
    "emphasis": "*a* **b** _c_ __d__ ~~e~~ <u>f</u>",
    "YAML tag": "!!python/object/apply:os.system ['touch CANARY']",
    "YAML anchor": "&a [*a] : - ? | > % @",
    "YAML break-out": "a\"\nparallelism: {tp_size: 64}\nb: \"",
    "YAML document": "a\n---\n!!python/object/apply:os.system ['touch CANARY']\n...",
    "YAML merge": "<<: *a",
    "TOML quotes": "'''\n[experimental]\ncustom_import = \"CANARY\"\n'''",
    "JSON": '", "__proto__": {"CANARY": 1}, "x": "',
    "prototype": "__proto__",
    "constructor": "constructor",
    "CSV formula": "=cmd|' /C calc'!A0",
    "CSV": '@SUM(1+1),"a\n=1+1',
    "escape sequence": "\x1b]0;CANARY\x07\x1b[2J\x1b[31m",
    "C1 control": "\u009b31mCANARY\u009d0;x\u009c",
    "bidi": "\u202etxt.exe\u202c\u2066a\u2069\u200b\ufeff",
    "NUL": "a\0b\0$(touch CANARY)",
    "not a character": "\ufffe\uffff\U0001ffff",
    "astral": "\U0001f4a9\U000e0041",
    "path": "../../../CANARY",
    "absolute path": "/tmp/../CANARY",
    "blanks": "   ",
    "quotes": "\"'`\\\"'`",
    "long": "A" * 100_000,
    "long, with markup": "<b>'\"$(touch CANARY)" * 5_000,
}
PLAIN = "plain-name"
NAMES_PER_PAGE = 10  # two plans have more names than this
SOURCE_BYTES = 400  # the reader's limit for a device's source

PLAN = """\
name: {name}
reading_note: {name}
world_size: 8
model: {model}
parallelism:
  tp_size: {tp}
  pp_size: {pp}
  dp_size: 2
  order: tp-cp-ep-dp-pp
  zero_stage: {zero}
  schedule: {schedule}
  stages: {stages}
placement: {placement}
cluster:
  name: {name}
  device:
    name: {name}
    vendor: {name}
    memory: 80 GB
    memory_bandwidth: 3 TB/s
    bf16: 900 TFLOP/s
    generation: {name}
    source: {name}
    verified: {name}
  levels:
    - {{name: {name}, arity: 2, bandwidth: 450 GB/s, latency: 2 us}}
    - {{name: {outer}, arity: 4, bandwidth: 50 GB/s, latency: 5 us}}
job: {{global_batch: 32, sequence: 4096}}
"""
CONFIG = {
    "model_type": "llama",
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "max_position_embeddings": 8192,
    "num_attention_heads": 32,
    "num_hidden_layers": 16,
    "num_key_value_heads": 8,
    "tie_word_embeddings": False,
    "vocab_size": 128256,
}
MODEL = """
  name: {name}
  architecture: llama
  hidden: 2048
  layers: 16
  heads: 32
  kv_heads: 8
  ffn: 8192
  vocab: 128256
  max_sequence: 8192
  tied: false"""

# The program of each target, and the plan values that it accepts.
VALUES = {
    "tp": 2,
    "pp": 2,
    "zero": 1,
    "schedule": "1f1b",
    "stages": "Et*7|t*9L",
    "placement": "block",
}
SCATTERED = {"placement": "{ranks: [7, 1, 0, 4, 5, 6, 3, 2]}"}
TARGETS = {
    "megatron": {},
    "megatron-bridge": {},
    "torchtitan-0.2": {"zero": 2, "schedule": "zb-h1"},
    "torchtitan": {"zero": 2, "schedule": "zb-h1"},
    "deepspeed": {},
    "nanotron": {},
    "accelerate": {"tp": 4, "pp": 1, "zero": 2, "stages": "Et*16L"},
    "rankwright": {},
    "slurm": SCATTERED,
    "torchrun": {},
    "openmpi": SCATTERED,
}
# Targets for which the plan with a config.json is exported as well.
WITH_CONFIG = ("megatron-bridge", "torchtitan", "nanotron", "rankwright")

ACCELERATE = """\
compute_environment: LOCAL_MACHINE
distributed_type: FSDP
num_machines: 1
num_processes: 8
mixed_precision: bf16
fsdp_config:
  fsdp_version: 2
  fsdp_reshard_after_forward: true
"""


def yaml_text(text):
    """Returns a double-quoted YAML scalar in ASCII."""
    out = ""
    for c in text:
        code = ord(c)
        if c in '"\\':
            out += "\\" + c
        elif " " <= c <= "~":
            out += c
        else:
            out += f"\\U{code:08x}"
    return f'"{out}"'


@functools.cache
def label(text, bytes_kept=96):
    """Returns a plan's name as its reader cleans it: its first bytes, with '?' for unprintable ones."""
    out, size = "", 0
    for c in text:
        size += len(c.encode())
        if size > bytes_kept:
            break
        out += "?" if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") else c
    return out


@functools.cache
def path_name(text):
    """Returns the part of `text` that is valid in a file name."""
    kept = text.replace("/", "_").replace("\0", "").encode()[:200].decode(errors="ignore").strip()
    return kept if kept not in ("", ".", "..") else "blank"


def outer(name):
    """Returns the name of the outer level, because names of levels must differ."""
    return name[:40] + "-outer"


@functools.cache
def as_config_name(name):
    """Returns a config.json's name as its reader cleans it: printable ASCII without blanks, or its file."""
    return "".join(c for c in name if "!" <= c <= "~")[:96] or "config.json"


def with_plain_names(data, name):
    """Returns `data` with names replaced by PLAIN."""
    if isinstance(data, dict):
        return {key: with_plain_names(value, name) for key, value in data.items()}
    if isinstance(data, list):
        return [with_plain_names(one, name) for one in data]
    if data == label(outer(name)):
        return outer(PLAIN)
    kept = (label(name), label(name, SOURCE_BYTES), as_config_name(name), path_name(name))
    return PLAIN if data in kept else data


def write_plan(folder, name, from_config=False, values=None):
    """Writes plan.yaml with `name` for every name; its model is a map, or a config.json."""
    fields = {**VALUES, **(values or {}), "name": yaml_text(name), "outer": yaml_text(outer(name))}
    fields["model"] = "config.json" if from_config else MODEL.format(**fields)
    config = json.dumps({**CONFIG, "_name_or_path": name})
    (folder / "config.json").write_text(config, encoding="utf-8")
    (folder / "plan.yaml").write_text(PLAN.format(**fields), encoding="utf-8")


def plan_of(names):
    """Returns the text of a plan in which each name is the next of `names`."""
    text = PLAN.replace("{model}", MODEL).replace("{name}", "{}").replace("{outer}", "{}")
    for key, value in VALUES.items():
        text = text.replace(f"{{{key}}}", str(value))
    return text.format(*(yaml_text(next(names)) for _ in range(text.count("{}"))))
