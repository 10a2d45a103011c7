"""Runs random experiments and judges them: one by one, and all together."""

import csv
import json
import math
import os
import re
import statistics
import subprocess
import tempfile
import typing

from experiments.generate import in_toml

COMMAND = os.environ["C3SIM"]
INFEASIBLE = 4  # exit code: the GPU has no such data type, or too little memory
SECONDS = 120

ROUNDING = 1e-9
# Beside what the loss split explains, of the time in series: dates of events and launches, of which overlap has more.
UNEXPLAINED = 0.01
# A stream that waits for an event starts its next kernel or collective anew; in series the queue is not empty.
START_US = 4.0

# What the loss split calls the sharing of CUs: who waits for slots, who has which, and the clock; and caches.
EXPLAINS = ("dispatch", "cus", "cache")

# Work groups are never moved: those that find some CUs taken stand on the others until they end, as many on each as fit,
# and a whole wave that misses a few slots becomes two. Of small work groups up to eight fit on a CU where two stand when
# the kernel is alone, which takes four times as long. One concurrent kernel was measured 3.58 times as long for where its
# work groups were placed (Gilman, Ogden, Guo, Walls, SIGMETRICS PER 48(3), 2020): nothing here may be slower than that.
# What the loss split does not explain fails whatever its size.
WORST = 2.58
# Of experiments, not strategies: those of one experiment are slow together. Of the 1,949 that run of 2,000, 7.1 % have a
# strategy that takes 5 % longer than in series. A few draws may have a larger share by chance (two of nine is no news), so
# what fails is a count that a true share of MOST_ABOVE_5_PERCENT exceeds once in 1,000 seeds at most: 5 of 9, 238 of 1,949.
MOST_ABOVE_5_PERCENT = 0.10
CHANCE = 0.001

# More of something may let a library choose other tiles, or give a wave another tail: not in the mean, and seldom much.
MORE_COSTS = 0.10


class Outcome(typing.NamedTuple):
    experiment: object
    problem: str | None = None  # what may never happen
    is_infeasible: bool = False
    beyond: dict = {}  # strategy: (time over the time in series, what the loss split explains of that)
    more: dict = {}    # what there is more of: time over the time before


def c3sim(*arguments):
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False, timeout=SECONDS)


def systems():
    """By name: number and preset of its GPUs, and settings that give the system more of one thing."""
    listed = json.loads(c3sim("list", "systems", "--json").stdout)["systems"]
    return {one["name"]: {"gpus": one["gpus"], "gpu": one["gpu"], "more": more_of(one["name"])} for one in listed}


def more_of(system):
    with tempfile.NamedTemporaryFile("w", suffix=".toml", prefix="shown") as file:
        file.write(f'schema = 1\nsystem = "{system}"\n[[stream]]\nname = "s"\n'
                   'run = [{ gemm = { m = 64, n = 64, k = 64, dtype = "fp16" } }]\n[strategy.a]\n')
        file.flush()
        shown = c3sim("config", "show", file.name, "--resolved").stdout
    cus = int(re.search(r"^cus_per_xcd = \{ value = (\d+)", shown, re.MULTILINE).group(1))
    clock, unit = re.search(r'^boost_clock = \{ value = "([\d.]+) (\wHz)"', shown, re.MULTILINE).groups()
    return {"CUs": f"gpu.cus_per_xcd={cus + (cus + 3) // 4}", "HBM": "gpu.hbm_scale=1.5", "link": "node.link_scale=1.5",
            "clock": f'gpu.boost_clock="{1.25 * float(clock):.6g} {unit}"'}


def run(experiment, settings):
    with tempfile.TemporaryDirectory(prefix="c3sim attack ") as folder:
        path = os.path.join(folder, "drawn.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(experiment.toml())
        try:
            return run_file(experiment, settings, path)
        except subprocess.TimeoutExpired as error:
            return Outcome(experiment, problem=f"did not end in {SECONDS} s: {error.cmd}")


def strategies_of(path, *settings):
    """Rows of the table by strategy, or what the command said instead."""
    words = [word for setting in settings for word in ("--set", setting)]
    done = c3sim("-q", "run", path, "--json", "-o", path + ".h5", *words)
    if done.returncode != 0:
        return None, done
    return {row["strategy"]: row for row in json.loads(done.stdout)["strategies"]}, done


def run_file(experiment, settings, path):
    rows, done = strategies_of(path)
    if rows is None:
        if done.returncode == INFEASIBLE:
            return Outcome(experiment, is_infeasible=True)
        return Outcome(experiment, problem=f"exit code {done.returncode}: {done.stderr}")
    series = rows["serial"]["time_us"]
    starts = START_US * sum("wait" in operation for stream in experiment.streams for operation in stream)
    beyond = {name: (row["time_us"] / series - 1.0, None) for name, row in rows.items() if name != "serial"}
    if any(excess > UNEXPLAINED for excess, _ in beyond.values()):
        split, _ = strategies_of(path, "measure.loss_split=true")
        for name, (excess, _) in beyond.items():
            loss = split[name]["loss_us"]
            beyond[name] = (excess, (sum(loss[part] for part in EXPLAINS) + starts) / series)
    more = {}
    for name, setting in settings.items():
        with_more, done = strategies_of(path, setting)
        if with_more is None:
            return Outcome(experiment, problem=f"{setting}: exit code {done.returncode}: {done.stderr}")
        more[name] = with_more["concurrent"]["time_us"] / rows["concurrent"]["time_us"]
    return Outcome(experiment, beyond=beyond, more=more)


def describe(experiment):
    return f"number {experiment.number} on {experiment.system}: {' | '.join(map(in_toml, experiment.streams))}"


def waves_of(experiment, gpu, *settings):
    """Waves of each kernel of an experiment when it has the GPU to itself."""
    columns = ["op", "dtype", "m", "n", "k", "rows", "cols", "heads", "seq", "head_dim", "causal"]
    shapes = [operation.get("kernel") or {"op": "gemm", **operation["gemm"]}
              for stream in experiment.streams for operation in stream if "gemm" in operation or "kernel" in operation]
    rows = [columns] + [[str(shape.get(column, "")).lower() for column in columns] for shape in shapes]
    with tempfile.TemporaryDirectory(prefix="c3sim attack ") as folder:
        shapes_file, times_file = os.path.join(folder, "shapes.csv"), os.path.join(folder, "times.csv")
        with open(shapes_file, "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)
        words = [word for setting in settings if setting.startswith("gpu.") for word in ("--set", setting)]
        c3sim("-q", "kernel", "--csv", shapes_file, "--gpu", gpu, "-o", times_file, *words).check_returncode()
        with open(times_file, encoding="utf-8", newline="") as file:
            return [float(row["waves"]) for row in csv.DictReader(file)]


def most_by_chance(draws, share):
    """The count that `draws` of an event of probability `share` exceed with a probability of at most CHANCE."""
    def probability(count):
        ways = math.lgamma(draws + 1) - math.lgamma(count + 1) - math.lgamma(draws - count + 1)
        return math.exp(ways + count * math.log(share) + (draws - count) * math.log(1.0 - share))

    count, within = 0, probability(0)
    while within < 1.0 - CHANCE:
        count += 1
        within += probability(count)
    return count


def judge(outcomes, known):
    """`known`: check.systems(). Prints what was found. Returns what must not be, a line each."""
    failures = [f"{one.problem}: {describe(one.experiment)}" for one in outcomes if one.problem]
    ran = [one for one in outcomes if one.beyond]
    infeasible = sum(one.is_infeasible for one in outcomes)
    print(f"{len(outcomes)} experiments: {len(ran)} ran, {infeasible} not possible on their GPU")
    failures += judge_together(ran) + judge_more(ran, known)
    if infeasible > 0.2 * len(outcomes):
        failures.append("too few experiments ran")
    return failures


def judge_together(ran):
    """Streams together against the same in series: what that costs must be the sharing of CUs or caches."""
    failures, cases = [], [(one.experiment, name, *pair) for one in ran for name, pair in one.beyond.items()]
    slower = [case for case in cases if case[2] > ROUNDING]
    print(f"{len(cases)} strategies beside the same in series: {len(slower)} slower, "
          f"{sum(case[2] > 0.05 for case in cases)} by more than 5 %, {sum(case[2] > 0.15 for case in cases)} by more than 15 %")
    for experiment, name, excess, explained in sorted(slower, key=lambda case: -case[2]):
        if excess > UNEXPLAINED:
            print(f"  {name} {100 * excess:.1f} % slower, of CUs, caches and starts {100 * explained:.1f} %: {describe(experiment)}")
            if excess > explained + UNEXPLAINED:
                failures.append(f"{name}: {100 * excess:.1f} % beyond the series, of which the loss split explains "
                                f"{100 * explained:.1f} %: {describe(experiment)}")
    above = sum(any(excess > 0.05 for excess, _ in one.beyond.values()) for one in ran)
    most = most_by_chance(len(ran), MOST_ABOVE_5_PERCENT)
    print(f"{above} of {len(ran)} experiments have a strategy slower by more than 5 %, up to {most} may by chance")
    if above > most:
        failures.append(f"{above} of {len(ran)} experiments take 5 % longer than in series, more than a share of "
                        f"{100 * MOST_ABOVE_5_PERCENT:.0f} % explains")
    if any(case[2] > WORST for case in cases):
        failures.append(f"a strategy takes {100 * WORST:.0f} % longer than in series")
    return failures


def judge_more(ran, known):
    failures = []
    for what in ran[0].more:
        ratios = {one.experiment.number: one.more[what] for one in ran}
        mean = statistics.fmean(ratios.values())
        slower = [one.experiment for one in ran if one.more[what] > 1.0 + MORE_COSTS]
        print(f"more {what}: time x {mean:.3f} in the mean, {len(slower)} slower by more than {100 * MORE_COSTS:.0f} %")
        for experiment in slower:
            system = known[experiment.system]
            before, after = waves_of(experiment, system["gpu"]), waves_of(experiment, system["gpu"], system["more"][what])
            print(f"  x {ratios[experiment.number]:.3f}: waves alone {before} before, {after} with more: {describe(experiment)}")
        if mean > 1.0:
            failures.append(f"more {what} is slower in the mean: x {mean:.4f}")
    return failures
