"""The layouts that the placement experiment runs, and their plan files. Runs nothing itself.

A layout is one assignment of tp x pp x dp to the ranks; a node holds consecutive ranks.
"""

import dataclasses
import itertools

MODEL = {
    "name": "placement-8m",
    "architecture": "llama",
    "hidden": 256,
    "layers": 8,
    "heads": 8,
    "kv_heads": 8,
    "ffn": 1024,
    "vocab": 512,
}
JOB = {
    "global_batch": 16,
    "sequence": 128,
    "param_dtype": "fp32",
    "grad_dtype": "fp32",
    "optimizer": "adam",
}
MICRO_BATCH = 2
CHUNKS = 2  # per pp rank, interleaved

# Innermost first. The first is the usual one; the second puts tp on the slowest link.
ORDERS = ("tp-dp-pp", "dp-pp-tp", "tp-pp-dp")
EVERY_ORDER = ORDERS + ("dp-tp-pp", "pp-tp-dp", "pp-dp-tp")
SCHEDULES = ("1f1b", "gpipe", "interleaved-1f1b")


@dataclasses.dataclass(frozen=True)
class Layout:
    tp: int
    pp: int
    dp: int
    order: str = ORDERS[0]  # axes innermost first
    zero: int = 0
    schedule: str = SCHEDULES[0]

    @property
    def chunks(self):
        return CHUNKS if self.schedule == "interleaved-1f1b" else 1

    @property
    def world(self):
        return self.tp * self.pp * self.dp

    def degree(self, axis):
        return getattr(self, axis)

    @property
    def axes(self):
        """Returns the axes that are split, innermost first."""
        return tuple(axis for axis in self.order.split("-") if self.degree(axis) > 1)

    @property
    def name(self):
        """Returns a unique name: "tp 2 pp 4, pp-tp, ZeRO-1, gpipe"."""
        split = [f"{axis} {self.degree(axis)}" for axis in ("tp", "pp", "dp") if axis in self.axes]
        said = [" ".join(split) or "alone"]
        usual = tuple(axis for axis in ORDERS[0].split("-") if axis in self.axes)
        said += ["-".join(self.axes)] if self.axes != usual else []
        said += [f"ZeRO-{self.zero}"] if self.zero else []
        said += [self.schedule] if self.pp > 1 and self.schedule != SCHEDULES[0] else []
        return ", ".join(said)

    def group(self, axis, rank):
        """Returns the ranks that differ from this one only on `axis`."""
        stride = 1
        for inner in self.order.split("-"):
            if inner == axis:
                break
            stride *= self.degree(inner)
        first = rank - rank // stride % self.degree(axis) * stride
        return [first + i * stride for i in range(self.degree(axis))]

    def crosses(self, axis, ranks_per_node):
        """Returns whether a group of this axis has ranks on more than one node."""
        return any(
            len({peer // ranks_per_node for peer in self.group(axis, rank)}) > 1
            for rank in range(self.world)
        )


def canonical(layout):
    """Returns the layout with the first order of the same split axes; equal layouts compare equal."""
    same = (dataclasses.replace(layout, order=order) for order in EVERY_ORDER)
    return next(other for other in same if other.axes == layout.axes)


def valid(layout):
    """Returns whether the model and the job can be split this way."""
    microbatches, left = divmod(JOB["global_batch"], layout.dp * MICRO_BATCH)
    if left or microbatches < 1 or MODEL["heads"] % layout.tp or MODEL["vocab"] % layout.tp:
        return False
    if layout.dp == 1 and layout.zero:
        return False
    if layout.pp == 1:
        return layout.schedule == SCHEDULES[0]
    if layout.zero == 3:  # every microbatch would gather the weights of every stage again
        return False
    if layout.chunks > 1 and microbatches % layout.pp:
        return False
    return MODEL["layers"] % (layout.pp * layout.chunks) == 0


def degrees(world):
    """Returns all (tp, pp, dp) with product `world`, as powers of two."""
    powers = [1 << i for i in range(world.bit_length())]
    triples = itertools.product(powers, repeat=3)
    return [t for t in triples if t[0] * t[1] * t[2] == world]


def layouts(world, everything=False):
    """Returns all valid layouts of `world` ranks. Without `everything` only those that change at most
    one of order, ZeRO and schedule from the default, and ZeRO only without a pipeline."""
    found = {}  # a dict, because it keeps the order
    orders = EVERY_ORDER if everything else ORDERS
    for split in degrees(world):
        for order, zero, schedule in itertools.product(orders, (0, 1, 2, 3), SCHEDULES):
            layout = canonical(Layout(*split, order, zero, schedule))
            plain = canonical(Layout(*split))
            changed = (order != ORDERS[0]) + (zero != 0) + (schedule != SCHEDULES[0])
            few = changed <= 1 and zero != 2 and not (zero and layout.pp > 1)
            if valid(layout) and (everything or few or layout == plain):
                found[layout] = None
    return list(found)


def flow(fields):
    return "{" + ", ".join(f"{key}: {value}" for key, value in fields.items()) + "}"


def job_file():
    """Returns the input of `rankwright plan`: model and job, without a layout."""
    return f"model: {flow(MODEL)}\njob: {flow(JOB)}\nsoftware: {{framework: rankwright}}\n"


def plan_file(layout):
    fields = {
        "tp_size": layout.tp,
        "pp_size": layout.pp,
        "dp_size": layout.dp,
        "order": layout.order,
        "zero_stage": layout.zero,
        "micro_batch": MICRO_BATCH,
        "recompute": "none",
        # MPI makes progress only while a rank is inside MPI, so nothing overlaps.
        "overlap": "{grad_reduce: false, param_gather: false}",
    }
    if layout.pp > 1:
        fields["schedule"] = layout.schedule
    if layout.chunks > 1:
        fields["virtual_stages"] = layout.chunks
    if layout.tp > 1:
        fields["sequence_parallel"] = "true"
    head = f"# {layout.name}\nworld_size: {layout.world}\nparallelism: {flow(fields)}\n"
    return head + "placement: block\n" + job_file()
