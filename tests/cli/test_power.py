"""Board power and energy of a run, in the result file, its overview and traces; which state of the clock was simulated."""

import json
import re
import unittest

import h5py

from command import ScratchTest, c3sim

EXPERIMENT = """
schema = 1
system = "{system}"
[[stream]]
name = "compute"
run = [{{ gemm = {{ m = 4096, n = 4096, k = 8192, dtype = "bf16" }} }}]
[strategy.alone]
[measure]
seeds = 1
loss_split = false
"""


class Power(ScratchTest):
    def run_on(self, system, *arguments):
        (self.folder / "power.toml").write_text(EXPERIMENT.format(system=system))
        return c3sim("-q", "run", "power.toml", "-o", "power.h5", *arguments, folder=self.folder)

    def energy_of_file(self):
        """Mean power [W] and energy [J] of GPU 0."""
        with h5py.File(self.folder / "power.h5") as file:
            names = file["names"].asstr()[:]
            resources = file["strategies/alone/resources/list"]
            power = list(names[resources["name"][:]]).index("gpu0.derived_power")
            self.assertEqual(names[resources["unit"][power]], "W")
            return file["strategies/alone/summary/time"][0] / 1e12, resources["total"][power]

    def test_energy_in_the_file_its_overview_and_the_trace_is_the_same_and_power_is_the_limit_s(self):
        done = self.run_on("h100-sxm-8", "--trace", "traces", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["clock_state"], "sustained")
        seconds, joules = self.energy_of_file()
        # A product that alone meets its 700 W limit draws as much, less where it starts and ends.
        self.assertTrue(500 < joules / seconds < 710, joules / seconds)
        overview = c3sim("inspect", "power.h5", folder=self.folder).stdout
        shown = re.search(r"board power, derived .*: gpu0 (\d+) W, ([0-9.]+) J", overview)
        self.assertAlmostEqual(float(shown[2]) / joules, 1, delta=5e-3)
        trace = json.loads((self.folder / "traces/alone/rank0.json").read_text())
        steps = [(event["ts"], *event["args"].values()) for event in trace["traceEvents"]
                 if event["ph"] == "C" and event["name"] == "gpu0.derived_power [W]"]
        drawn = sum(used * (later[0] - at) for (at, used), later in zip(steps, steps[1:])) / 1e6
        self.assertAlmostEqual(drawn / joules, 1, delta=2e-2)  # the trace ends with its last change

    def test_a_burst_draws_more_and_takes_less_time(self):
        self.run_on("h100-sxm-8")
        sustained = self.energy_of_file()
        done = self.run_on("h100-sxm-8", "--set", "gpu.clock_state=\"burst\"")
        self.assertIn("burst clock", done.stdout)
        burst = self.energy_of_file()
        self.assertLess(burst[0], 0.95 * sustained[0])
        self.assertGreater(burst[1] / burst[0], 1.1 * sustained[1] / sustained[0])

    def test_a_gpu_of_unknown_power_has_neither(self):
        done = self.run_on("mi300x-8", "--json")
        self.assertIsNone(json.loads(done.stdout)["clock_state"])
        self.assertNotIn("board power", c3sim("inspect", "power.h5", folder=self.folder).stdout)


if __name__ == "__main__":
    unittest.main()
