"""A sweep uses the cores it is given, and costs little beside simulating."""

import os
import pathlib
import subprocess
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ["C3SIM_SOURCE"])
SWEEPS = ("sweep_partition_mi300x.toml", "sweep_topology.toml")
LONGEST_S = 60.0  # with -j 2
LEAST_SPEEDUP = 1.7
MOST_OVERHEAD_MS = 30.0
TRIES = 3  # neighbours on the machine take cores

# Points that are simulated in about a millisecond.
SMALL = """
schema = 1
system = "mi300x-8"
[[stream]]
name = "compute"
run = [{ gemm = { m = 256, n = 256, k = 256, dtype = "bf16" } }]
[strategy.alone]
[measure]
loss_split = false
kernel_grain = "fluid"
[sweep]
seeds = 300
"""


def seconds(file, jobs):
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        subprocess.run([os.environ["C3SIM"], "-q", "sweep", file, "-j", str(jobs), "-o", folder], check=True, capture_output=True)
        return time.monotonic() - begun


class SweepSpeed(unittest.TestCase):
    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one core")
    def test_two_workers_are_nearly_twice_as_fast(self):
        for name in SWEEPS:
            with self.subTest(sweep=name):
                file = SOURCE / "configs/experiments" / name
                best = (0.0, 0.0, 0.0)
                for _ in range(TRIES):
                    one, two = seconds(file, 1), seconds(file, 2)
                    best = max(best, (one / two, one, two))
                    if best[0] >= LEAST_SPEEDUP:
                        break
                print(f"{name}: {best[1]:.1f} s with one worker, {best[2]:.1f} s with two: {best[0]:.2f} times as fast")
                self.assertGreaterEqual(best[0], LEAST_SPEEDUP)
                self.assertLess(best[2], LONGEST_S)

    def test_a_point_costs_little_beside_its_simulation(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "small.toml"
            file.write_text(SMALL)
            spent = 1e3 * min(seconds(file, 1) for _ in range(TRIES)) / 300
        print(f"a point of some ms: {spent:.1f} ms in all")
        self.assertLess(spent, MOST_OVERHEAD_MS)


if __name__ == "__main__":
    unittest.main()
