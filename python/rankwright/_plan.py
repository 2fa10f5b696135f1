"""`rankwright plan`: the verb with the most flags."""

from . import _core
from ._inputs import Request, span, with_shapes
from ._results import Planned
from ._run import ask, given, result


def plan(
    *,
    model=None,
    cluster=None,
    global_batch=None,
    seq=None,
    for_=None,
    own=None,
    param_dtype=None,
    grad_dtype=None,
    matmul=None,
    optimizer=None,
    doc_length=None,
    loss_tokens=None,
    images=None,
    clips=None,
    image_tokens=None,
    method=None,
    ref_model=None,
    fp8_swiglu_input=None,
    moment_dtype=None,
    master_dtype=None,
    lora=None,
    lora_modules=None,
    base_dtype=None,
    frozen=None,
    offload_optimizer=None,
    offload_parameters=None,
    offload_activations=None,
    offload_nvme=None,
    offload_nvme_path=None,
    framework=None,
    framework_release=None,
    attention=None,
    launch=None,
    loss=None,
    tuned=None,
    overlap_grad_reduce=None,
    overlap_param_gather=None,
    overlap_tp=None,
    overlap_pp=None,
    overlap_ep=None,
    overlap_wgrad=None,
    tp=None,
    max_tp=None,
    no_tp=False,
    cp=None,
    max_cp=None,
    no_cp=False,
    pp=None,
    max_pp=None,
    no_pp=False,
    dp=None,
    max_dp=None,
    no_dp=False,
    ep=None,
    max_ep=None,
    no_ep=False,
    etp=None,
    zero=None,
    max_zero=None,
    micro_batch=None,
    chunks=None,
    recompute=None,
    schedule=None,
    sequence_parallel=None,
    cp_comm=None,
    dispatcher=None,
    order=None,
    max_memory=None,
    nodes=None,
    gpus_per_node=None,
    gpus=None,
    exclude_nodes=None,
    exclude_count=None,
    tokens=None,
    price=None,
    days=None,
    budget=None,
    calibrate=None,
    ran=None,
    search_time=None,
    search_memory=None,
    threads=None,
    even_stages=False,
    no_hybrid=False,
    objective=None,
    allow_offload=False,
    fit=False,
    exhaustive=False,
):
    """Finds the fastest layout of a model on a cluster.

    `own` is a plan that sets model, cluster and job; its layout is compared with the result.
    `gpus` is a number or a pair (range); `exclude_nodes` is one host or a list of hosts, by their
    index in the cluster. The other arguments are the flags of `rankwright help plan`. The result is
    false if no layout fits.
    Ctrl-C ends the search.

    >>> best = plan(model="llama-3.1-8b", cluster="dgx-h100 x 2", global_batch=64, seq=8192, tp=2)
    >>> best.best.plan.tp, best.data["best"]["plan"]["tp"]
    (2, 2)
    """
    flags = dict(locals())
    for name in ("model", "cluster", "own", "ran"):
        del flags[name]
    flags["gpus"] = span(gpus)
    switches = {name: flags.pop(name) for name, by_default in plan.__kwdefaults__.items()
                if by_default is False}  # fmt: skip
    own, model = with_shapes(own, model)
    request = Request()
    if own is not None:
        request.plan(own)
    given(request, model, cluster, **flags)
    request.switches(**switches)
    request.plan_option("ran", ran)
    answer = ask(_core.plan, request)
    return result(Planned, answer, answer.text, answer.plan, answer.markdown)
