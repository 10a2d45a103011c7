"""Each draw of `reproduce conccl` is a ladder: 30 scenarios x 7 strategies. One takes under 1.5 s on two cores."""

import os
import resource
import subprocess
import unittest

from machine_speed import cpu_budget

BUDGET_S = 3.0  # of CPU time, a ladder
DRAWS = 4


def cpu_seconds(draws):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [os.environ["C3SIM"], "reproduce", "conccl", "-q", "--draws", str(draws)]
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL)  # 1 when a figure misses its target
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


class ConcclSpeed(unittest.TestCase):
    def test_cpu_time_of_a_ladder_is_within_budget(self):
        without = cpu_seconds(0)
        ladder = (cpu_seconds(DRAWS) - without) / DRAWS
        budget = cpu_budget(BUDGET_S)
        print(f"a ladder: {ladder:.2f} s of CPU time, budget {budget:.1f} s; without draws the study takes {without:.1f} s")
        self.assertLess(ladder, budget)


if __name__ == "__main__":
    unittest.main()
