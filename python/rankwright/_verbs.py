"""The verbs about a plan. Each fills a request of the library, which the command line uses too, so that
figures and errors are the same."""

from . import _core
from ._errors import Error, findings_of
from ._inputs import Request, of_job, repeated, sweep_of, with_shapes
from ._lists import Checked, Exported
from ._results import Compared, Explained, Imported, Report
from ._run import ask, data, given, result

# An unknown name, or a file that cannot be opened. Those named in the plan itself have a line.
NOT_GIVEN = ("RW0908", "RW0910")


def check(
    plan,
    *,
    for_=None,
    model=None,
    cluster=None,
    world=None,
    set_=None,
    calibrate=None,
    ran=None,
    global_batch=None,
    seq=None,
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
    dispatcher=None,
):
    """Checks a plan for errors, performance problems and missing settings.

    Keywords of the job and the software, such as attention="flash2", override those of the plan.

    >>> wrong = check({"world_size": 64, "parallelism": {"tp_size": 8, "pp_size": 4, "dp_size": 4}})
    >>> wrong.errors[0].code, wrong.errors[0].detail
    ('RW0102', 'TP 8 x PP 4 x DP 4 = 128, but world_size is 64')
    """
    job = of_job(locals())
    plan, model = with_shapes(plan, model)
    request = Request()
    request.plan(plan)
    given(request, model, cluster, for_=for_, world=world, set_=set_, calibrate=calibrate, **job)
    request.plan_option("ran", ran)
    answer = ask(_core.check, request)
    checked = Checked(data(answer), answer.text())
    if any(finding.code in NOT_GIVEN and not finding.line for finding in checked):
        raise Error(answer.text(), checked, answer.code)
    return checked


def explain(
    plan,
    *,
    model=None,
    cluster=None,
    world=None,
    set_=None,
    concept=None,
    rank=None,
    stages=False,
    sensitivity=False,
    against=None,
    sweep=None,
    timeline=False,
    unit_times=False,
    slow=None,
    slow_link=None,
    fail=None,
    failures=None,
    mtbf=None,
    checkpoint_time=None,
    checkpoint_interval=None,
    restart_time=None,
    calibrate=None,
    ran=None,
    global_batch=None,
    seq=None,
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
    dispatcher=None,
):
    """Explains a plan: its step time, memory and communication.

    `rank`, `stages`, `sensitivity`, `sweep`, `timeline`, `slow`, `slow_link` and `fail` select other views,
    each with its own schema. `sweep` is "tp=1..16", or a pair of a setting and its values. Instead of a plan,
    pass a code ("RW0301"), a key ("zero_stage") or a term ("all-reduce"). `concept` ("tp", "bubble",
    "all-reduce") gives the page of a term with the numbers of the plan.
    Keywords of the job and the software override those of the plan.

    >>> course = {"world_size": 64, "parallelism": {"tp_size": 8, "pp_size": 4, "dp_size": 2}}
    >>> round(explain(course).step_seconds, 2)
    78.66
    >>> explain(course, rank=17).schema
    'rankwright.rank/2'
    >>> swept = explain(course, sweep=("microbatches", [1, 4, 8]))
    >>> [round(row["ideal_bubble"], 3) for row in swept.data["rows"]]
    [0.75, 0.429, 0.273]
    >>> explain("all-reduce").collective.figures[1].steps
    6
    >>> explain(course, concept="tp").plan.facts[2].text
    '64 -> 8 per rank'
    """
    job = of_job(locals())
    plan, model = with_shapes(plan, model)
    request = Request()
    request.plan(plan)
    given(
        request, model, cluster, world=world, set_=set_, concept=concept, rank=rank, sweep=sweep_of(sweep),
        slow=repeated(slow), slow_link=repeated(slow_link), fail=fail, failures=failures, mtbf=mtbf,
        checkpoint_time=checkpoint_time, checkpoint_interval=checkpoint_interval,
        restart_time=restart_time, calibrate=calibrate, **job,
    )  # fmt: skip
    request.switches(
        stages=stages, sensitivity=sensitivity, timeline=timeline, unit_times=unit_times
    )
    request.plan_option("against", against)
    request.plan_option("ran", ran)
    answer = ask(_core.explain, request)
    explained = result(Explained, answer, answer.text)
    explained.findings = findings_of(answer)
    return explained


def compare(
    a,
    b=None,
    *,
    log=None,
    tokens=None,
    price=None,
    days=None,
    model=None,
    cluster=None,
    world=None,
    set_=None,
    calibrate=None,
    ran=None,
):
    """Compares two plans, or a plan and the log of its run, and explains the difference.

    `tokens` of the whole training run add its time and GPU-hours on both, `price` its cost.

    >>> course = {"world_size": 64, "parallelism": {"tp_size": 8, "pp_size": 4, "dp_size": 2}}
    >>> degrees = {"tp_size": 8, "pp_size": 2, "dp_size": 4}
    >>> compare(course, {**course, "parallelism": degrees}).verdict.only  # the other does not fit
    'a'
    """
    if b is not None:
        b, _ = with_shapes(b, model)
    a, model = with_shapes(a, model)
    request = Request()
    request.plan(a, "<a>")
    if b is not None:
        request.plan(b, "<b>")
    given(
        request, model, cluster, log=log, tokens=tokens, price=price, days=days, world=world, set_=set_,
        calibrate=calibrate,
    )  # fmt: skip
    request.plan_option("ran", ran)
    answer = ask(_core.compare, request)
    return result(Compared, answer, answer.text)


def report(
    plan,
    *,
    for_=None,
    measured=None,
    search=True,
    tokens=None,
    price=None,
    model=None,
    cluster=None,
    world=None,
    set_=None,
    calibrate=None,
    ran=None,
    global_batch=None,
    seq=None,
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
    dispatcher=None,
):
    """Returns an interactive report of a plan with alternatives; `search=False` omits them.

    `tokens` of the whole training run add its time and GPU-hours, `price` its cost. Keywords of the job and
    the software override those of the plan.

    >>> course = {"world_size": 64, "parallelism": {"tp_size": 8, "pp_size": 4, "dp_size": 2}}
    >>> report(course).markdown.splitlines()[0][:7]
    '# no mo'
    """
    job = of_job(locals())
    plan, model = with_shapes(plan, model)
    request = Request()
    request.plan(plan)
    given(
        request, model, cluster, for_=for_, measured=measured, tokens=tokens, price=price,
        world=world, set_=set_, calibrate=calibrate, **job,
    )  # fmt: skip
    request.switches(no_search=not search)
    request.plan_option("ran", ran)
    answer = ask(_core.report, request)
    return result(Report, answer, answer.markdown, answer.html)


def export(plan, to, *, hosts=None, strict=False, model=None, cluster=None, world=None, set_=None):
    """Returns the files with which a framework or launcher runs a plan, as a dict of names and texts.

    >>> import rankwright
    >>> best = rankwright.plan(model="llama-3.1-8b", cluster="dgx-h100 x 2")
    >>> list(export(best, to="megatron"))
    ['megatron.sh']
    """
    plan, model = with_shapes(plan, model)
    request = Request()
    request.plan(plan)
    given(request, model, cluster, to=to, hosts=hosts, world=world, set_=set_)
    request.switches(strict=strict)
    answer = ask(_core.export, request)
    return Exported(data(answer), answer.text(), findings_of(answer))


def import_(
    file,
    *more,
    from_=None,
    model=None,
    cluster=None,
    world=None,
    set_=None,
    device=None,
    hosts=None,
    collective=None,
):
    """Imports a framework's config, script or log as a plan, or files that describe a cluster.

    `file` is a path or the text itself. `more` are further files that describe the same cluster.

    >>> flags = '''pretrain_gpt.py
    ... --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024 --num-attention-heads 16
    ... --seq-length 1024 --micro-batch-size 4 --global-batch-size 32
    ... '''
    >>> import_(flags, from_="megatron", world=8).format
    'megatron'
    """
    request = Request()
    request.plan(file)
    for path in more:
        request.file(path)
    given(
        request, model, cluster, from_=from_, world=world, set_=set_, device=device, hosts=hosts,
        collective=collective,
    )  # fmt: skip
    answer = ask(_core.import_, request)
    if not answer.json():  # models and clusters have only their file, no JSON
        return Imported({}, answer.text, findings_of(answer))
    return result(Imported, answer, answer.text, findings_of(answer))
