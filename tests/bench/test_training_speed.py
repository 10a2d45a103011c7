"""A step of 80 layers on 8 GPUs, with everything that shares the machine, is simulated in seconds."""

import json
import os
import pathlib
import resource
import subprocess
import tempfile
import unittest

from machine_speed import cpu_budget

BUDGET_S = 10.0
TRIES = 3  # neighbours on the machine cost cache
STEP = """
schema = 1
name   = "llama70b"
system = "mi300x-8"

[model]
use   = "llama-3-70b"
dtype = "bf16"

[training]
framework   = "pytorch-compiled"
sequence    = 4096
micro_batch = 1
recompute   = "full"

[strategy.default]

[measure]
loss_split = false
"""


def simulate(folder):
    """CPU seconds, and what the strategy's result says."""
    experiment = pathlib.Path(folder) / "llama70b.toml"
    experiment.write_text(STEP)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([os.environ["C3SIM"], "run", experiment, "-q", "--json", "-o", f"{folder}/out.h5"], check=True,
                          capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    [strategy] = json.loads(done.stdout)["strategies"]
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, strategy


class TrainingSpeed(unittest.TestCase):
    def test_cpu_time_of_80_layers_on_8_gpus_is_within_budget(self):
        spent = []
        with tempfile.TemporaryDirectory() as folder:
            while len(spent) < TRIES and (not spent or spent[-1] >= BUDGET_S):
                seconds, strategy = simulate(folder)
                spent.append(seconds)
                self.assertTrue(any("steady state" in note for note in strategy["notes"]))
        budget = cpu_budget(BUDGET_S)
        print(f"80 layers on 8 GPUs: {min(spent):.2f} s of CPU time, budget {budget:.1f} s")
        self.assertLess(min(spent), budget)


if __name__ == "__main__":
    unittest.main()
