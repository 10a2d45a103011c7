"""Random experiments of several streams, changed in ways of which it is known what they do to the times.

C3SIM_ATTACK=N draws N / 10 experiments (default: 5; `whole`: 500), C3SIM_ATTACK_SEED=S others than those of CI (56).
`--only NUMBER` prints one of them as a file to run.
"""

import argparse
import concurrent.futures
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from experiments import check, relations  # noqa: E402
from experiments.generate import Experiment, as_toml  # noqa: E402

WHOLE = 500
SMALL = 5
PER_INVOCATION = 10  # C3SIM_ATTACK counts invocations; an experiment takes several


def count():
    wanted = os.environ.get("C3SIM_ATTACK", "whole" if "C3SIM_WHOLE" in os.environ else str(PER_INVOCATION * SMALL))
    return WHOLE if wanted == "whole" else max(1, int(wanted) // PER_INVOCATION)


def experiments(seed, systems):
    """Those with more than one stream, in the order of their numbers, without end."""
    number = 0
    while True:
        one = Experiment(number, seed, systems)
        if len(one.streams) > 1:
            yield one
        number += 1


def judged(experiment, seed):
    with tempfile.TemporaryDirectory(prefix="c3sim relations ") as folder:
        return experiment, *relations.run(experiment, seed, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    seed = os.environ.get("C3SIM_ATTACK_SEED", "56")
    systems = check.systems()
    if options.only is not None:
        print(as_toml(relations.document_of(Experiment(options.only, seed, systems))))
        return 0
    drawn = [one for one, _ in zip(experiments(seed, systems), range(count()))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = list(pool.map(lambda one: judged(one, seed), drawn))
    ran = sum(at_once is not None for _, at_once, _ in outcomes)
    at_once = sum(count or 0 for _, count, _ in outcomes)
    problems = [(one, problem) for one, _, its in outcomes for problem in its]
    failures = [f"{problem.text}: {check.describe(one)}" for one, problem in problems if not problem.may_be_placing]
    placed = [f"{problem.text}: {check.describe(one)}" for one, problem in problems if problem.may_be_placing]
    print(f"{len(outcomes)} experiments, {ran} ran, {len(relations.RELATIONS)} relations: {len(failures)} do not hold; "
          f"of {at_once} times with streams at once {len(placed)} leave the range")
    if len(placed) > max(1, relations.PLACED_OTHERWISE * at_once):
        failures += placed
    for head, lines in (("FAILED", failures), ("placed otherwise", placed if not failures else [])):
        for line in lines:
            print(f"{head}: {line}")
    return 1 if failures or ran < 0.8 * len(outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
