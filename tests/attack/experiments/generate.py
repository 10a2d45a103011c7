"""Random experiments: kernels and collectives on one to three streams of any one-node preset, with events between them.

An operation is a dictionary as the file has it: `{"gemm": {"m": 64, ..}}`, `{"all_reduce": "4096 B"}`, `{"wait": "done"}`.
"""

import json
import random

DTYPES = ["bf16", "fp16", "fp32"]
VECTOR_OPS = ["add", "relu", "gelu", "gelu+add", "softmax", "layer_norm", "copy", "mul"]
COLLECTIVES = ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "send_receive"]
MIB = 1 << 20
TABLES = ("gpu", "stream", "strategy", "measure")


def size(draw, low, high):
    """Log-uniform; half of the sizes are powers of two, as in real jobs, half are not."""
    value = low * (high / low) ** draw.random()
    return 2 ** round(value).bit_length() // 2 if draw.random() < 0.5 else round(value)


def kernel(draw):
    kind = draw.random()
    dtype = draw.choice(DTYPES)
    if kind < 0.5:
        m, n, k = (size(draw, 128, 8192) for _ in range(3))
        return {"gemm": {"m": m, "n": n, "k": k, "dtype": dtype}}
    if kind < 0.65:
        heads, length = size(draw, 1, 32), size(draw, 128, 4096)
        return {"kernel": {"op": "attention", "heads": heads, "seq": length, "head_dim": draw.choice([64, 128]),
                           "causal": draw.choice([True, False]), "dtype": "bf16"}}
    rows, cols = size(draw, 128, 32768), size(draw, 64, 8192)
    return {"kernel": {"op": draw.choice(VECTOR_OPS), "rows": rows, "cols": cols, "dtype": dtype}}


def collective(draw):
    return {draw.choice(COLLECTIVES): f"{size(draw, 4096, 256 * MIB)} B"}


def streams(draw, is_one_gpu):
    """Kernels only, or some collectives where there are peers; sometimes a stream waits in its middle for what another has done."""
    only_kernels = draw.random() < 0.4 or is_one_gpu
    operations = []
    for _ in range(draw.randint(1, 3)):
        of_kernels = only_kernels or draw.random() < 0.5
        operations.append([kernel(draw) if of_kernels else collective(draw) for _ in range(draw.randint(1, 3))])
    if len(operations) > 1 and draw.random() < 0.3:
        before, after = sorted(draw.sample(range(len(operations)), 2))  # serial runs streams in this order
        operations[before].insert(draw.randint(1, len(operations[before])), {"record": "done"})
        operations[after].insert(draw.randint(0, len(operations[after]) - 1), {"wait": "done"})
    return operations


def has_collectives(operations):
    return any(name in COLLECTIVES for operation in operations for name in operation)


def in_toml(value):
    """A value as a TOML file has it, on one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {in_toml(of_key)}" for key, of_key in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(in_toml, value)) + "]"
    return json.dumps(value)


def as_toml(document):
    """A file of a document: keys, then its tables in the order of their names in it."""
    lines = [f"{key} = {in_toml(value)}" for key, value in document.items() if key not in TABLES]
    for name in (name for name in document if name in TABLES):
        if name == "stream":
            headed = [("[[stream]]", stream) for stream in document[name]]
        elif name == "strategy":
            headed = [(f"[strategy.{strategy}]", keys) for strategy, keys in document[name].items()]
        else:
            headed = [(f"[{name}]", document[name])]
        for head, keys in headed:
            lines += [head, *(f"{key} = {in_toml(value)}" for key, value in keys.items())]
    return "\n".join([*lines, ""])


class Experiment:
    """One draw; `number` and `seed` give the same one again. `systems` as check.systems() has them."""

    def __init__(self, number, seed, systems):
        draw = random.Random(f"{seed} {number}")
        self.number = number
        self.system = draw.choice(list(systems))
        self.streams = streams(draw, systems[self.system]["gpus"] == 1)
        self.strategies = ["serial", "concurrent"]
        if len(self.streams) > 1:
            self.strategies.append("reversed")

    @property
    def are_kernels(self):
        return not any(has_collectives(stream) for stream in self.streams)

    def document(self):
        """The experiment as a TOML file has it, as dictionaries and lists."""
        strategies = {"serial": {"serial": True}, "concurrent": {}}
        if "reversed" in self.strategies:
            strategies["reversed"] = {"order": [f"s{i}" for i in reversed(range(len(self.streams)))]}
        return {"schema": 1, "system": self.system,
                "stream": [{"name": f"s{i}", "run": operations} for i, operations in enumerate(self.streams)],
                "strategy": strategies, "measure": {"seeds": 4, "loss_split": False}}

    def toml(self):
        return as_toml(self.document())
