"""What c3sim tune spends on a candidate that it does not simulate: CPU time of its rules, memory, bound and estimate. A search of 5,000
layouts that is to answer within ten minutes on two cores leaves each 0.24 s, whole steps included."""

import os
import pathlib
import resource
import subprocess
import tempfile
import unittest

from machine_speed import cpu_budget, slowness

FILE = pathlib.Path(os.environ["C3SIM_SOURCE"]) / "configs/experiments/training/llama3_70b_search.toml"
COUNT = 6 * 5 * 3  # of 1,080
MOST_S = 0.35  # of CPU time, each; 0.2 to 0.3 beside other tests on a machine where a fresh page costs 18 us, 0.08 to 0.15 on others


class TuneSpeed(unittest.TestCase):
    def test_what_is_known_of_layouts_of_llama_3_70b_before_one_is_simulated(self):
        with tempfile.TemporaryDirectory() as folder:
            slow = slowness()
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            # With too few GPUs allowed all are looked at, and none is simulated.
            command = [os.environ["C3SIM"], "-q", "tune", FILE, "-o", folder, "-j", "1", "--exact"]
            for key in ("tune.most_gpus=1", 'sweep.product={"training.recompute"=["selective"],"training.micro_batch"=[1]}'):
                command += ["--set", key]
            done = subprocess.run(command, capture_output=True, text=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertRegex(done.stdout, rf"\nall +{COUNT}\n")
        print(f"{COUNT} layouts of 70B on 1,024 GPUs: {seconds / COUNT:.3f} s of CPU time to look at each")
        self.assertLess(seconds, cpu_budget(COUNT * MOST_S, after.ru_minflt - before.ru_minflt, slow))


if __name__ == "__main__":
    unittest.main()
