"""The waterfall of 405B over 16,384 GPUs adds up and hardly depends on the order of causes. It takes a minute of CPU and more."""

import json
import resource
import unittest

from command import SOURCE, ScratchTest, c3sim

STEP = SOURCE / "configs/experiments/training/llama3_405b_16384.toml"


class Explain16384(ScratchTest):
    def test_the_parts_of_sixteen_stages_add_up_in_two_minutes_of_cpu(self):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = c3sim("-q", "explain", STEP, "--json", "--no-levers")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertLess(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 120)
        found = json.loads(done.stdout)
        parts = {part["name"]: part["time_us"] for part in found["parts"]}
        self.assertAlmostEqual((found["at_peak_us"] + sum(parts.values())) / found["time_us"], 1, delta=1e-9)
        self.assertLessEqual(found["interaction_us"], 0.1 * (found["time_us"] - found["at_peak_us"]))
        # 16 stages and 16 micro-batches: 15 passes of each kind are empty, less than half of the time.
        self.assertGreater(parts["pipeline bubble"], 0.1 * found["time_us"])
        self.assertLess(parts["pipeline bubble"], 0.5 * found["time_us"])


if __name__ == "__main__":
    unittest.main()
