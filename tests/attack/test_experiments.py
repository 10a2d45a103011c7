"""Random experiments: what physics allows of kernels and collectives together, and of hardware with more of something.

C3SIM_ATTACK=N draws N / 5 experiments (default: 10; `whole`: 2000), C3SIM_ATTACK_SEED=S others than those of CI (1).
`--only NUMBER` prints one of them as a file to run.
"""

import argparse
import concurrent.futures
import os
import sys
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from experiments import check  # noqa: E402
from experiments.generate import Experiment  # noqa: E402

WHOLE = 2000
SMALL = 10
PER_INVOCATION = 5  # C3SIM_ATTACK counts invocations; an experiment takes several


def count():
    wanted = os.environ.get("C3SIM_ATTACK", "whole" if "C3SIM_WHOLE" in os.environ else str(PER_INVOCATION * SMALL))
    return WHOLE if wanted == "whole" else max(1, int(wanted) // PER_INVOCATION)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    seed = os.environ.get("C3SIM_ATTACK_SEED", "1")
    systems = check.systems()
    if options.only is not None:
        print(Experiment(options.only, seed, systems).toml())
        return 0
    experiments = [Experiment(number, seed, systems) for number in range(count())]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = list(pool.map(lambda one: check.run(one, systems[one.system]["more"]), experiments))
    failures = check.judge(outcomes, systems)
    for line in failures:
        print(f"FAILED: {line}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
