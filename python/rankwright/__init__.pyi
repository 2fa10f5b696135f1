"""The types of `import rankwright`; see the docstrings for what the functions do."""

import os
from typing import Any, Iterable, Iterator, KeysView, Mapping, Sequence, Union

Path = Union[str, os.PathLike[str]]
Json = dict[str, Any]
Plan = Union[Path, Json, "Planned", "Imported"]  # a path, a text, a dict, or a result
Model = Union[Path, Json, "Imported"]
Cluster = Union[Path, Json, "Imported"]

__version__: str

class Finding:
    code: str
    severity: str
    message: str
    detail: str
    help: str
    key: str
    file: str
    line: int
    column: int
    data: Json
    def __init__(
        self,
        code: str,
        severity: str,
        message: str,
        detail: str,
        help: str,
        key: str,
        file: str,
        line: int,
        column: int,
        data: Json = ...,
    ) -> None: ...
    @property
    def notes(self) -> list[str]: ...
    @classmethod
    def of(cls, row: Json) -> Finding: ...

class Error(ValueError):
    findings: list[Finding]
    code: int
    def __init__(self, text: str, findings: Iterable[Finding] = (), code: int = 64) -> None: ...

class View:
    data: Json
    def __init__(self, data: Json) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __getitem__(self, key: str) -> Any: ...
    def __contains__(self, key: object) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def keys(self) -> KeysView[str]: ...
    def get(self, key: str, default: Any = None) -> Any: ...

class Result(View):
    text: str
    def __init__(self, data: Json, text: str) -> None: ...
    def json(self) -> str: ...
    def __bool__(self) -> bool: ...

class Planned(Result):
    markdown: str
    def __init__(self, data: Json, text: str, plan: str, markdown: str) -> None: ...
    def __bool__(self) -> bool: ...
    @property
    def plan(self) -> str: ...
    @property
    def best(self) -> Any: ...  # a View; None if nothing fits, also in the next two
    @property
    def step_seconds(self) -> Any: ...
    @property
    def mfu(self) -> Any: ...
    def save(self, path: Path) -> None: ...

class Checked(list[Finding]):
    data: Json
    text: str
    def __init__(self, data: Json, text: str) -> None: ...
    @property
    def errors(self) -> list[Finding]: ...
    @property
    def warnings(self) -> list[Finding]: ...
    @property
    def ok(self) -> bool: ...

class Explained(Result):
    findings: Sequence[Finding]
    @property
    def step_seconds(self) -> float: ...
    @property
    def mfu(self) -> float: ...
    @property
    def items(self) -> list[View]: ...
    @property
    def memory(self) -> View | None: ...

class Compared(Result): ...

class Exported(dict[str, str]):
    data: Json
    text: str
    findings: list[Finding]
    def __init__(self, data: Json, text: str, findings: list[Finding]) -> None: ...
    @property
    def lost(self) -> list[Json]: ...
    def save(self, folder: Path) -> None: ...

class Imported(Result):
    findings: list[Finding]
    def __init__(self, data: Json, text: str, findings: list[Finding]) -> None: ...
    @property
    def plan(self) -> str: ...
    @property
    def kind(self) -> str: ...

class Report(Result):
    markdown: str
    def __init__(self, data: Json, markdown: str, html: str) -> None: ...
    @property
    def html(self) -> str: ...
    def save(self, path: Path) -> None: ...

class Validation(Result): ...

class Rows(list[dict[str, str]]):
    data: Json
    text: str
    def __init__(self, data: Json, text: str) -> None: ...

def plan(
    *,
    model: Model | None = None,
    cluster: Cluster | None = None,
    global_batch: int | None = None,
    seq: int | None = None,
    for_: str | None = None,
    own: Plan | None = None,
    param_dtype: str | None = None,
    grad_dtype: str | None = None,
    matmul: str | None = None,
    optimizer: str | None = None,
    doc_length: int | str | None = None,
    loss_tokens: int | None = None,
    images: int | None = None,
    clips: int | None = None,
    image_tokens: int | None = None,
    method: str | None = None,
    ref_model: bool | None = None,
    fp8_swiglu_input: bool | None = None,
    moment_dtype: str | None = None,
    master_dtype: str | None = None,
    lora: int | None = None,
    lora_modules: str | None = None,
    base_dtype: str | None = None,
    frozen: str | None = None,
    offload_optimizer: float | bool | None = None,
    offload_parameters: bool | None = None,
    offload_activations: bool | None = None,
    offload_nvme: str | None = None,
    offload_nvme_path: str | None = None,
    framework: str | None = None,
    framework_release: str | None = None,
    attention: str | None = None,
    launch: str | None = None,
    loss: str | None = None,
    tuned: bool | None = None,
    overlap_grad_reduce: bool | None = None,
    overlap_param_gather: bool | None = None,
    overlap_tp: bool | None = None,
    overlap_pp: bool | None = None,
    overlap_ep: bool | None = None,
    overlap_wgrad: bool | None = None,
    tp: int | None = None,
    max_tp: int | None = None,
    no_tp: bool = False,
    cp: int | None = None,
    max_cp: int | None = None,
    no_cp: bool = False,
    pp: int | None = None,
    max_pp: int | None = None,
    no_pp: bool = False,
    dp: int | None = None,
    max_dp: int | None = None,
    no_dp: bool = False,
    ep: int | None = None,
    max_ep: int | None = None,
    no_ep: bool = False,
    etp: int | None = None,
    zero: int | None = None,
    max_zero: int | None = None,
    micro_batch: int | None = None,
    chunks: int | None = None,
    recompute: str | None = None,
    schedule: str | None = None,
    sequence_parallel: bool | None = None,
    cp_comm: str | None = None,
    dispatcher: str | None = None,
    order: str | None = None,
    max_memory: str | None = None,
    nodes: int | None = None,
    gpus_per_node: int | None = None,
    gpus: int | str | tuple[int, int] | None = None,
    exclude_nodes: int | str | Sequence[int] | None = None,
    exclude_count: int | None = None,
    tokens: float | str | None = None,
    price: float | str | None = None,
    days: float | str | None = None,
    budget: float | str | None = None,
    calibrate: Path | None = None,
    ran: Plan | None = None,
    search_time: str | None = None,
    search_memory: str | None = None,
    threads: int | None = None,
    even_stages: bool = False,
    no_hybrid: bool = False,
    objective: str | None = None,
    allow_offload: bool = False,
    fit: bool = False,
    exhaustive: bool = False,
) -> Planned: ...
def check(
    plan: Plan,
    *,
    for_: str | None = None,
    model: Model | None = None,
    cluster: Cluster | None = None,
    world: int | None = None,
    set_: Mapping[str, object] | None = None,
    calibrate: Path | None = None,
    ran: Plan | None = None,
    global_batch: int | None = None,
    seq: int | None = None,
    param_dtype: str | None = None,
    grad_dtype: str | None = None,
    matmul: str | None = None,
    optimizer: str | None = None,
    doc_length: int | str | None = None,
    loss_tokens: int | None = None,
    images: int | None = None,
    clips: int | None = None,
    image_tokens: int | None = None,
    method: str | None = None,
    ref_model: bool | None = None,
    fp8_swiglu_input: bool | None = None,
    moment_dtype: str | None = None,
    master_dtype: str | None = None,
    lora: int | None = None,
    lora_modules: str | None = None,
    base_dtype: str | None = None,
    frozen: str | None = None,
    offload_optimizer: float | bool | None = None,
    offload_parameters: bool | None = None,
    offload_activations: bool | None = None,
    offload_nvme: str | None = None,
    offload_nvme_path: str | None = None,
    framework: str | None = None,
    framework_release: str | None = None,
    attention: str | None = None,
    launch: str | None = None,
    loss: str | None = None,
    tuned: bool | None = None,
    overlap_grad_reduce: bool | None = None,
    overlap_param_gather: bool | None = None,
    overlap_tp: bool | None = None,
    overlap_pp: bool | None = None,
    overlap_ep: bool | None = None,
    overlap_wgrad: bool | None = None,
    dispatcher: str | None = None,
) -> Checked: ...
def explain(
    plan: Plan,
    *,
    model: Model | None = None,
    cluster: Cluster | None = None,
    world: int | None = None,
    set_: Mapping[str, object] | None = None,
    concept: str | None = None,
    rank: int | None = None,
    stages: bool = False,
    sensitivity: bool = False,
    against: Plan | None = None,
    sweep: str | tuple[str, int | str | Sequence[int | str]] | None = None,
    timeline: bool = False,
    unit_times: bool = False,
    slow: str | Sequence[str] | None = None,
    slow_link: str | Sequence[str] | None = None,
    fail: int | None = None,
    failures: str | None = None,
    mtbf: str | None = None,
    checkpoint_time: str | None = None,
    checkpoint_interval: str | None = None,
    restart_time: str | None = None,
    calibrate: Path | None = None,
    ran: Plan | None = None,
    global_batch: int | None = None,
    seq: int | None = None,
    param_dtype: str | None = None,
    grad_dtype: str | None = None,
    matmul: str | None = None,
    optimizer: str | None = None,
    doc_length: int | str | None = None,
    loss_tokens: int | None = None,
    images: int | None = None,
    clips: int | None = None,
    image_tokens: int | None = None,
    method: str | None = None,
    ref_model: bool | None = None,
    fp8_swiglu_input: bool | None = None,
    moment_dtype: str | None = None,
    master_dtype: str | None = None,
    lora: int | None = None,
    lora_modules: str | None = None,
    base_dtype: str | None = None,
    frozen: str | None = None,
    offload_optimizer: float | bool | None = None,
    offload_parameters: bool | None = None,
    offload_activations: bool | None = None,
    offload_nvme: str | None = None,
    offload_nvme_path: str | None = None,
    framework: str | None = None,
    framework_release: str | None = None,
    attention: str | None = None,
    launch: str | None = None,
    loss: str | None = None,
    tuned: bool | None = None,
    overlap_grad_reduce: bool | None = None,
    overlap_param_gather: bool | None = None,
    overlap_tp: bool | None = None,
    overlap_pp: bool | None = None,
    overlap_ep: bool | None = None,
    overlap_wgrad: bool | None = None,
    dispatcher: str | None = None,
) -> Explained: ...
def compare(
    a: Plan,
    b: Plan | None = None,
    *,
    log: Path | None = None,
    tokens: float | str | None = None,
    price: float | str | None = None,
    days: float | str | None = None,
    model: Model | None = None,
    cluster: Cluster | None = None,
    world: int | None = None,
    set_: Mapping[str, object] | None = None,
    calibrate: Path | None = None,
    ran: Plan | None = None,
) -> Compared: ...
def report(
    plan: Plan,
    *,
    for_: str | None = None,
    measured: Path | None = None,
    search: bool = True,
    tokens: float | str | None = None,
    price: float | str | None = None,
    model: Model | None = None,
    cluster: Cluster | None = None,
    world: int | None = None,
    set_: Mapping[str, object] | None = None,
    calibrate: Path | None = None,
    ran: Plan | None = None,
    global_batch: int | None = None,
    seq: int | None = None,
    param_dtype: str | None = None,
    grad_dtype: str | None = None,
    matmul: str | None = None,
    optimizer: str | None = None,
    doc_length: int | str | None = None,
    loss_tokens: int | None = None,
    images: int | None = None,
    clips: int | None = None,
    image_tokens: int | None = None,
    method: str | None = None,
    ref_model: bool | None = None,
    fp8_swiglu_input: bool | None = None,
    moment_dtype: str | None = None,
    master_dtype: str | None = None,
    lora: int | None = None,
    lora_modules: str | None = None,
    base_dtype: str | None = None,
    frozen: str | None = None,
    offload_optimizer: float | bool | None = None,
    offload_parameters: bool | None = None,
    offload_activations: bool | None = None,
    offload_nvme: str | None = None,
    offload_nvme_path: str | None = None,
    framework: str | None = None,
    framework_release: str | None = None,
    attention: str | None = None,
    launch: str | None = None,
    loss: str | None = None,
    tuned: bool | None = None,
    overlap_grad_reduce: bool | None = None,
    overlap_param_gather: bool | None = None,
    overlap_tp: bool | None = None,
    overlap_pp: bool | None = None,
    overlap_ep: bool | None = None,
    overlap_wgrad: bool | None = None,
    dispatcher: str | None = None,
) -> Report: ...
def export(
    plan: Plan,
    to: str,
    *,
    hosts: int | Path | Sequence[str] | None = None,
    strict: bool = False,
    model: Model | None = None,
    cluster: Cluster | None = None,
    world: int | None = None,
    set_: Mapping[str, object] | None = None,
) -> Exported: ...
def import_(
    file: Plan,
    *more: Path,
    from_: str | None = None,
    model: Model | None = None,
    cluster: Cluster | None = None,
    world: int | None = None,
    set_: Mapping[str, object] | None = None,
    device: str | None = None,
    hosts: int | Path | Sequence[str] | None = None,
    collective: str | None = None,
) -> Imported: ...
def validate(
    files: Path | Sequence[Path],
    *,
    leave_one_family_out: bool = False,
    calibrate_one: bool = False,
    with_: Path | Sequence[Path] | None = None,
    all: bool = False,
) -> Validation: ...
def catalog(kind: str, name: str | None = None) -> Rows: ...
def models(name: str | None = None) -> Rows: ...
def devices(name: str | None = None) -> Rows: ...
def systems(name: str | None = None) -> Rows: ...
def codes(name: str | None = None) -> Rows: ...
