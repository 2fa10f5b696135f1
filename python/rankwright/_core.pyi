from typing import Mapping, Sequence, TypedDict

version: str

class Outcome(TypedDict):
    code: int
    out: str
    err: str
    json: str
    text: str
    markdown: str
    html: str
    plan: str
    findings: str

def run(
    args: Sequence[bytes], input: bytes = ..., texts: Mapping[bytes, bytes] = ...
) -> Outcome: ...
