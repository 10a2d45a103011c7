"""Random experiments, changed in ways of which it is known what they do to the times: what must stay, and what may move how far.

Nothing is drawn: times are compared to the last digits, or within a stated range. What a relation compares is all strategies.
"""

import copy
import json
import os
import pathlib
import random
import typing

from experiments import check
from experiments.generate import COLLECTIVES, as_toml

EXACT = 1e-9
# What sends or computes twice as much takes up to twice as long, and a wave, a chunk or a protocol more; less, only by rounding.
DOUBLED = (0.98, 2.15)
# Two halves of a kernel move what the whole moves; each has a launch, a first load and a last wave of its own, and takes as long as the
# whole where that leaves half of the GPU idle. They may have better tiles than the whole.
SPLIT = (0.95, 2.05)
SPLIT_US = 15.0
# Where streams run at once, work groups go to the compute units that come free first, and may crowd on few of them (docs/decisions/gpu.md):
# what ends earlier can then make others late. Of the times of strategies with streams at once so many may leave
# the range of a relation: set with 2.5 % of 1,852 in view.
PLACED_OTHERWISE = 0.05
VERB_SHARE = 20  # one experiment of so many is given to sweep, tune and explain, too


class Relation(typing.NamedTuple):
    """`change(document, draw)`: the changed document and the new name of each strategy that has one; or None, where it does not apply.
    `low`, `high`: what the time may be of the time before; `beside_us`: what it may be beside that. `cold`: with caches that keep nothing
    between kernels; otherwise each finds there what it would find in a loop of itself, which of two halves is more than of the whole."""
    change: typing.Callable
    low: float
    high: float
    beside_us: float = 0.0
    cold: bool = False


def kernel_of(operation):
    """The shape of a kernel, and the size of it along which it can be cut in two or doubled; None for what is no kernel."""
    if "gemm" in operation:
        return operation["gemm"], "m"
    if "kernel" in operation:
        shape = operation["kernel"]
        return shape, "heads" if shape["op"] == "attention" else "rows"
    return None


def renamed(document, draw):
    """Other names, and every table and key in another order; streams are launched in the order that each strategy states."""
    streams = {stream["name"]: f"{draw.choice(['compute', 'comm', 'x', 'zz'])}_{i}" for i, stream in enumerate(document["stream"])}
    strategies = {name: f"{draw.choice(['a', 'overlap', 'z'])}_{i}" for i, name in enumerate(document["strategy"])}
    document["stream"] = shuffled([dict(shuffled(stream.items(), draw), name=streams[stream["name"]])
                                   for stream in document["stream"]], draw)
    document["strategy"] = dict(shuffled([(strategies[name], {key: [streams[one] for one in value] if key == "order" else value
                                                              for key, value in keys.items()})
                                          for name, keys in document["strategy"].items()], draw))
    tables = shuffled([name for name in document if name not in ("schema", "system")], draw)
    return {name: document[name] for name in ["system", "schema", *tables]}, strategies


def shuffled(values, draw):
    values = list(values)
    draw.shuffle(values)
    return values


def in_other_units(document, draw):
    """Every size in KiB or MiB, which binary fractions express exactly."""
    def other(size):
        unit, bytes_of = draw.choice([("KiB", 1 << 10), ("MiB", 1 << 20)])
        return f"{int(size.removesuffix(' B')) / bytes_of!r} {unit}"

    for stream in document["stream"]:
        stream["run"] = [{key: other(value) if key in COLLECTIVES else value for key, value in operation.items()}
                         for operation in stream["run"]]
    return document, {}


def doubled(document, _):
    """Every kernel has twice the rows or heads, every collective twice the bytes."""
    for operation in (operation for stream in document["stream"] for operation in stream["run"]):
        if kernel := kernel_of(operation):
            shape, size = kernel
            shape[size] *= 2
        for kind in set(operation) & set(COLLECTIVES):
            operation[kind] = f"{2 * int(operation[kind].removesuffix(' B'))} B"
    return document, {}


def beside_an_idle_job(document, draw):
    """One more stream, which does nothing."""
    at = draw.randint(0, len(document["stream"]))
    document["stream"].insert(at, {"name": "idle", "run": [{"record": "nothing"}]})
    for keys in document["strategy"].values():
        keys["order"].insert(draw.randint(0, len(keys["order"])), "idle")
    return document, {}


def split(document, draw):
    """One kernel in two halves, one after the other."""
    places = [(stream["run"], i) for stream in document["stream"] for i, operation in enumerate(stream["run"])
              if (kernel := kernel_of(operation)) and kernel[0][kernel[1]] > 1]
    if not places:
        return None
    operations, i = draw.choice(places)
    halves = [copy.deepcopy(operations[i]) for _ in range(2)]
    for half, rounding in zip(halves, (0, 1)):
        shape, size = kernel_of(half)
        shape[size] = (shape[size] + rounding) // 2
    operations[i:i + 1] = halves
    return document, {}


RELATIONS = {
    "renamed": Relation(renamed, 1.0 - EXACT, 1.0 + EXACT),
    "other units": Relation(in_other_units, 1.0 - EXACT, 1.0 + EXACT),
    "an idle job": Relation(beside_an_idle_job, 1.0 - EXACT, 1.0 + EXACT),
    "doubled": Relation(doubled, *DOUBLED, cold=True),
    "split": Relation(split, *SPLIT, SPLIT_US, cold=True),
}


def document_of(experiment):
    """The experiment with one repetition, nothing drawn, and the order of launch stated."""
    document = experiment.document()
    for keys in document["strategy"].values():
        keys.setdefault("order", [stream["name"] for stream in document["stream"]])
    document["gpu"] = {"work_group_spread": 0.0}
    document["measure"]["seeds"] = 1
    return document


def cold(document):
    """The same where no kernel finds anything in the caches or leaves anything there."""
    document = copy.deepcopy(document)
    for operation in (operation for stream in document["stream"] for operation in stream["run"]):
        if "kernel" in operation and operation["kernel"]["op"] != "attention":
            operation["kernel"]["warm"] = "none"
    return document


def times_of(document, folder, name):
    """Times of all strategies in us, or what the command said instead."""
    path = os.path.join(folder, name.replace(" ", "_") + ".toml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(as_toml(document))
    rows, done = check.strategies_of(path)
    return {strategy: row["time_us"] for strategy, row in rows.items()} if rows else None, done


class Broken(typing.NamedTuple):
    """What does not hold, and whether placing alone may be why."""
    text: str
    may_be_placing: bool = False


def broken(name, relation, before, after, names):
    """One for each strategy, with the ratio."""
    for strategy, time in before.items():
        changed = after[names.get(strategy, strategy)]
        if not relation.low * time <= changed <= relation.high * time + relation.beside_us:
            yield Broken(f"{name}: {strategy} takes {changed:.3f} us, {time:.3f} before (x {changed / time:.4f})",
                         relation.cold and strategy != "serial")


def run(experiment, seed, folder):
    """(strategies with streams at once that were held to relations of cold kernels, None if it did not run; what does not hold)."""
    document = document_of(experiment)
    before, done = times_of(document, folder, "before")
    if before is None:
        return None, [] if done.returncode == check.INFEASIBLE else [Broken(f"exit code {done.returncode}: {done.stderr}")]
    problems, at_once = [], 0
    of_cold = cold(document)
    before_cold, done = (before, done) if of_cold == document else times_of(of_cold, folder, "before cold")
    if before_cold is None:
        return None, [Broken(f"cold: exit code {done.returncode}: {done.stderr}")]
    for name, relation in RELATIONS.items():
        start, its_times = (of_cold, before_cold) if relation.cold else (document, before)
        changed = relation.change(copy.deepcopy(start), random.Random(f"{seed} {experiment.number} {name}"))
        if changed is None:
            continue
        after, done = times_of(changed[0], folder, name)
        if after is None:
            problems.append(Broken(f"{name}: exit code {done.returncode}: {done.stderr}"))
            continue
        problems += broken(name, relation, its_times, after, changed[1])
        at_once += relation.cold * (len(its_times) - 1)
    if experiment.number % VERB_SHARE == 0:
        problems += map(Broken, verbs_disagree(document, before, folder))
    return at_once, problems


def verbs_disagree(document, before, folder):
    """A run, a point of a sweep, a candidate of tune and the run that explain takes apart are the same run."""
    def said(*words):
        done = check.c3sim("-q", *words, "--json")
        done.check_returncode()
        return json.loads(done.stdout)

    path, swept, points = (os.path.join(folder, name) for name in ("before.toml", "swept.toml", "points"))
    with open(swept, "w", encoding="utf-8") as file:
        file.write(as_toml(document) + '[sweep.product]\n"gpu.hbm_scale" = [1]\n')
    check.c3sim("-q", "sweep", swept, "-o", points).check_returncode()
    point, = pathlib.Path(points, "points").glob("*.json")
    numbers = json.loads(point.read_text(encoding="utf-8"))["numbers"]
    best = min(before, key=before.get)
    times = {"sweep": {number["strategy"]: number["value"] for number in numbers if number["name"] == "time"},
             "tune": {best: said("tune", swept, "--exact", "-o", os.path.join(folder, "tuned"))["ranking"][0]["time_us"]},
             "explain": {name: said("explain", path, "--strategy", name)["time_us"] for name in before if name != "serial"}}
    for verb, of_verb in times.items():
        for strategy, time in of_verb.items():
            if abs(time / before[strategy] - 1.0) > EXACT:
                yield f"{verb}: {strategy} takes {time:.6f} us, {before[strategy]:.6f} by run"
