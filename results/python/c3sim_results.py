"""Reads the files of `c3sim run` and `c3sim merge` (HDF5) and the answers of `c3sim tune`, `explain` and `memory` (--json) into pandas
DataFrames.

    import c3sim_results
    run = c3sim_results.Run("out/c3_llama70b_mi300x.h5")
    run.summary()                                          # a row for each strategy
    run.activities("dma").groupby("kind").duration_us.sum()

    sweep = c3sim_results.Sweep("out/partition.h5")
    sweep.points.groupby(["op", "cus"])["partitioned.time"].median()   # us

    tuned = c3sim_results.Tune("out/tune.json")            # of c3sim tune FILE --json > out/tune.json
    tuned.ranking.loc[tuned.front, ["value", "needed_bytes", "energy_j"]]

    why = c3sim_results.Explain("out/explain.json")        # of c3sim explain FILE --json > out/explain.json
    why.parts.time_us.sort_values()
    why.levers.elasticity.abs().nlargest(5)

    memory = c3sim_results.Memory("out/memory.json")       # of c3sim memory FILE --json > out/memory.json
    memory.moments(memory.fullest)[["weights", "gradients", "optimizer", "activations", "communication"]].plot.area()

Dates and durations are in us (columns end in _us), bytes in B, rates in B/s, and names are texts.
"""

import json
import pathlib
import posixpath
import tomllib

import h5py
import pandas

RUN_SCHEMA, SWEEP_SCHEMA = "c3sim.run", "c3sim.sweep"
SCHEMA_MAJOR = "1"  # of both
PICOSECONDS = 1e6  # in a microsecond


class Run:
    """One result file. It is read when a table is asked for."""

    def __init__(self, path):
        self.path = path
        with h5py.File(path) as file:
            _check(file, RUN_SCHEMA, "a result file of c3sim run")
            self.attributes = dict(file.attrs)
            self.strategies = list(file["strategies"])  # in the order of the experiment
            self.streams = _streams(file)  # by the numbers in activities

    def table(self, strategy, name):
        """Any table as it is stored, e.g. table("dma", "resources/steps"), with names resolved and times in us."""
        with h5py.File(self.path) as file:
            return _frame(file[f"strategies/{strategy}/{name}"])

    def activities(self, strategy):
        """What ran when, a row an activity, in order of start; kind is a text (kernel, cohort, collective, ...)."""
        frame = self.table(strategy, "activities").sort_values("id", ignore_index=True)
        frame.insert(frame.columns.get_loc("end_us") + 1, "duration_us", frame.end_us - frame.start_us)
        return frame

    def recorded(self, strategy, gpu):
        """What the trace recorded of what this GPU repeats, as activities; None where it repeats nothing."""
        with h5py.File(self.path) as file:
            if "recorded" not in file[f"strategies/{strategy}"]:
                return None
        rank = self.table(strategy, "recorded/ranks")["rank"][gpu]
        frame = self.table(strategy, "recorded/work")
        frame = frame[frame["rank"] == rank].reset_index(drop=True)
        return frame.assign(duration_us=frame.end_us - frame.start_us) if len(frame) else None

    def collectives(self, strategy):
        return self.table(strategy, "collectives")

    def resources(self, strategy):
        """Name, unit, GPU and capacity at the start of every resource."""
        return self.table(strategy, "resources/list")

    def steps(self, strategy, resource=None):
        """Use and capacity from time_us on, a step function; of equal times only the last holds, and is kept."""
        frame = self.table(strategy, "resources/steps")
        if resource is not None:
            frame = frame[frame.resource == resource]
        return frame.drop_duplicates(["resource", "time_us"], keep="last").reset_index(drop=True)

    def recorded_us(self, strategy):
        """Length of the run that activities and steps are of: of a training step maybe one of fewer layers."""
        with h5py.File(self.path) as file:
            group = file[f"strategies/{strategy}"]
            time = group["step/recorded_time"] if "step" in group else group["summary/time"]
            return time[0] / PICOSECONDS

    def summary(self):
        """The printed table, a row for each strategy; what was not computed is NaN."""
        rows = {strategy: self.table(strategy, "summary").iloc[0] for strategy in self.strategies}
        return pandas.DataFrame.from_dict(rows, orient="index").rename_axis("strategy")


class Sweep:
    """A merged sweep: `points`, a row each, with the swept keys, status, error, `STRATEGY.NUMBER` and command.

    Swept numbers are in base units, which `units` says of every column; `keys` are the swept keys without the seed.
    What a point does not have is NaN."""

    def __init__(self, path):
        self.path = path
        with h5py.File(path) as file:
            _check(file, SWEEP_SCHEMA, "a file of c3sim merge")
            self.attributes = dict(file.attrs)
            columns = file["points"]
            self.points = pandas.DataFrame({name: column.asstr()[:] if column.dtype.kind == "O" else column[:]
                                            for name, column in columns.items()})
            self.units = {name: column.attrs["units"] for name, column in columns.items()}
        swept = list(self.points.columns[1:1 + int(self.attributes["axes"])])
        self.keys = swept[:-1] if swept and swept[-1] == "seed" else swept


class Tune:
    """An answer of `c3sim tune --json`: `ranking`, a row for each simulated candidate by its id, the best first, with its
    values by key; `front`, ids of those that no other one beats; `counts`, where candidates went; `answer`, all of it.

    Values by key are texts, as the file has them. Numbers that are not known are NaN."""

    WAYS = ("refused", "beyond_gpus", "out_of_memory", "pruned", "simulated", "failed", "open")

    def __init__(self, path):
        self.path = path
        self.answer = _answer(path, "tune", "likely_regret")
        self.keys = list(self.answer["ranking"][0]["values"]) if self.answer["ranking"] else []
        self.front = self.answer["front"]
        self.counts = pandas.Series({way: self.answer[way] for way in self.WAYS})
        rows = [{**row["values"], **{name: its for name, its in row.items() if name not in ("values", "sets")}}
                for row in self.answer["ranking"]]
        self.ranking = pandas.DataFrame(rows).set_index("id") if rows else pandas.DataFrame()


class Explain:
    """An answer of `c3sim explain --json`: tables by name of `parts` of the waterfall, which add up with at_peak_us to the
    run's time, of exposed `communication`, of classes of operators on the critical path (`path_classes`) and of `levers`, that
    of which 1 % saves most first; `choices`, by change, the largest saving first; `words`, the paragraph; `answer`, all of it.

    Numbers that are not known are NaN."""

    def __init__(self, path):
        self.path = path
        self.answer = _answer(path, "explain", "critical_path")
        self.words = self.answer["words"]
        self.parts, self.communication, self.levers = (_by_name(self.answer[key]) for key in ("parts", "communication", "levers"))
        self.path_classes = _by_name(self.answer["critical_path"]["classes"])
        self.choices = _by_name(self.answer["choices"], "change")


class Memory:
    """An answer of `c3sim memory --json`: `classes` of ranks, a row each; `changes` that were tried, those that fit first;
    `answer`, all of it. Of training steps `fullest` is the row of the class that needs most, and moments() and tensors()
    are tables of one class. Of other experiments these are empty.

    Bytes are in B; what was not computed is NaN."""

    def __init__(self, path):
        self.path = path
        self.answer = _answer(path, "memory", "limit_bytes")
        self.fits = self.answer["fits"]
        self.fullest = self.answer.get("fullest")
        self.classes = pandas.json_normalize(self.answer["classes"]).drop(
            columns=["tenants", "moments", "operations"], errors="ignore")
        self.changes = pandas.json_normalize(self.answer.get("changes") or [])

    def moments(self, row):
        """What this class of ranks holds after each operation of a step, in order: bytes in all and by kind of tensor."""
        moments = self.answer["classes"][row].get("moments", [])
        return pandas.DataFrame([{"name": its["name"], "bytes": its["bytes"], **its["by_class"]} for its in moments])

    def tensors(self, row):
        """What it holds when it holds most, the largest first."""
        return pandas.DataFrame(self.answer["classes"][row].get("tenants", []))


def _answer(path, verb, key):
    """The JSON object that `c3sim verb --json` printed, which has `key`."""
    answer = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    if not isinstance(answer, dict) or key not in answer:
        raise ValueError(f"{path}: not an answer of c3sim {verb} --json")
    return answer


def _by_name(rows, name="name"):
    return pandas.DataFrame(rows).set_index(name) if rows else pandas.DataFrame()


def _check(file, schema, what):
    if file.attrs.get("schema") != schema:
        raise ValueError(f"{file.filename}: not {what}")
    version = file.attrs["schema_version"]
    if version.split(".")[0] != SCHEMA_MAJOR:
        raise ValueError(f"{file.filename}: schema version {version}, this reads {SCHEMA_MAJOR}.x")


def _streams(file):
    if "streams" in file:
        return list(file["streams"].asstr()[:])
    experiment = tomllib.loads(file.attrs["config_resolved"])  # before schema version 1.1.0
    return [stream["name"] for stream in experiment["stream"]]


def _frame(group):
    """A group's columns; those in ps become <name>_us, enums and numbers of names become texts."""
    frame = pandas.DataFrame()
    for name, column in group.items():
        if not isinstance(column, h5py.Dataset):
            continue
        values, enum = column[:], h5py.check_enum_dtype(column.dtype)
        if column.attrs["units"] == "ps":
            name, values = f"{name}_us", values / PICOSECONDS
        elif "indexes" in column.attrs:
            values = _indexed(column)[values]
        elif enum is not None:
            values = pandas.Series(values).map({number: text for text, number in enum.items()})
        frame[name] = values
    return frame


def _indexed(column):
    """The texts whose rows the numbers of `column` are; these may be numbers of /names in turn."""
    path = posixpath.normpath(posixpath.join(column.parent.name, column.attrs["indexes"]))  # HDF5 knows no ".."
    texts = column.file[path]
    return _indexed(texts)[texts[:]] if "indexes" in texts.attrs else texts.asstr()[:]
