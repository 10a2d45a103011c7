"""The main job, whole (7 strategies, partition sweeps, loss split, 8 seeds), takes under 5 s of CPU time."""

import os
import resource
import subprocess
import tempfile
import unittest

from machine_speed import cpu_budget

BUDGET_S = 5.0


class MainJobSpeed(unittest.TestCase):
    def test_cpu_time_of_the_main_job_is_within_budget(self):
        experiment = os.path.join(os.environ["C3SIM_SOURCE"], "configs/experiments/c3_llama70b_mi300x.toml")
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "out.h5")
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([os.environ["C3SIM"], "run", experiment, "-q", "-o", output], check=True,
                           stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        budget = cpu_budget(BUDGET_S)
        print(f"main job: {spent:.2f} s of CPU time, budget {budget:.1f} s")
        self.assertLess(spent, budget)


if __name__ == "__main__":
    unittest.main()
