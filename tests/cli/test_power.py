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

PAIR = """
schema = 1
system = "h100-sxm-8"
[[stream]]
name = "compute"
run = [{ gemm = { m = 8192, n = 8192, k = 8192, dtype = "fp16" } }]
[[stream]]
name = "fsdp"
run = [{ all_gather = "512 MiB" }]
[strategy.serial]
serial = true
[strategy.engines]
fsdp.backend = "dma"
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

    def test_the_highest_power_of_a_run_is_never_below_its_mean(self):
        for size in ("256", "2048", "8192"):
            for state in ("sustained", "burst"):
                done = self.run_on("h100-sxm-8", "--json", "--set", f"gpu.clock_state={state}",
                                   "--set", f"stream.0.run.0.gemm.k={size}")
                for clock in ("clock", "kernel_alone_clock"):
                    with self.subTest(size=size, state=state, clock=clock):
                        power = json.loads(done.stdout)["strategies"][0][clock]
                        self.assertGreaterEqual(power["highest_power_w"], power["power_w"])

    def test_ideal_adds_up_sides_on_boards_as_hot_as_the_serial_strategy_keeps_them(self):
        (self.folder / "pair.toml").write_text(PAIR)
        done = c3sim("-q", "run", "pair.toml", "-o", "pair.h5", "--json", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        serial, engines = json.loads(done.stdout)["strategies"]
        alone = [serial[side]["alone_us"] for side in ("kernel", "collective")]
        self.assertLess(serial["time_us"], 0.97 * sum(alone))  # a product in turns with others is less hot
        self.assertAlmostEqual(serial["ideal_speedup"] * max(alone) / serial["time_us"], 1, delta=3e-3)
        # Engines hide the whole all-gather, up to what it costs the product.
        hidden = (serial["time_us"] - engines["time_us"]) / (serial["time_us"] - max(alone))
        self.assertGreater(hidden, 0.9)
        share = hidden * max(alone) / engines["time_us"]
        self.assertAlmostEqual(engines["share_of_ideal"], share, delta=0.01)

    def level_on(self, system, *arguments):
        """What table, JSON and file say of the level of large products."""
        table = self.run_on(system, *arguments).stdout
        found = json.loads(self.run_on(system, "--json", *arguments).stdout)["sustained_level"]
        with h5py.File(self.folder / "power.h5") as file:
            written = {name: value for name, value in file.attrs.items() if name.startswith("level_")}
        self.assertEqual(written["level_evidence"], found["evidence"])
        self.assertEqual(written.get("level_measured_on"), found["measured_on"])
        for ours, theirs in (("level_rate", "tflop_s"), ("level_low", "low_tflop_s"), ("level_high", "high_tflop_s")):
            if found[theirs] is None:
                self.assertNotIn(ours, written)
            else:
                self.assertAlmostEqual(int(written[ours]) / 1e12, found[theirs], places=6)
        return [line for line in table.splitlines() if line.startswith("large 16-bit products sustain")], found

    def test_a_part_that_was_not_measured_says_so_with_a_range_and_one_that_was_says_nothing(self):
        lines, level = self.level_on("gb200-nvl4")
        self.assertEqual(level["evidence"], "none")
        self.assertAlmostEqual(level["low_tflop_s"] / level["tflop_s"], 0.9)
        self.assertAlmostEqual(level["high_tflop_s"] / level["tflop_s"], 1.1)
        [line] = lines
        self.assertRegex(line, r"sustain \d+ TFLOP/s \(\d+ to \d+, \+-10 %\): no part of this chip, board and limit was measured$")
        lines, level = self.level_on("h200-sxm-8")
        self.assertEqual((level["evidence"], level["measured_on"]), ("relative", "h100-sxm"))
        self.assertIn("as h100-sxm, of the same chip, board and limit", lines[0])
        lines, level = self.level_on("h100-sxm-8")
        self.assertEqual((level["evidence"], level["low_tflop_s"], lines), ("measured", None, []))

    def test_what_moves_the_level_moves_what_is_said_of_it(self):
        lines, level = self.level_on("h100-sxm-8", "--set", "gpu.power_limit=500 W")
        self.assertEqual((level["evidence"], len(lines)), ("none", 1))
        lines, level = self.level_on("h100-sxm-8", "--set", "gpu.sustained_level=600 TFLOP/s")
        self.assertEqual((level["evidence"], lines), ("node", []))
        self.assertAlmostEqual(level["tflop_s"], 600)
        lines, level = self.level_on("gb200-nvl4", "--set", "gpu.clock_state=\"burst\"")
        self.assertEqual((level["evidence"], lines), ("none", []))  # a burst does not come down to it
        done = self.run_on("h100-sxm-8", "--set", "gpu.level_measured_on=h100-sxn")
        self.assertEqual(done.returncode, 3)
        self.assertIn("did you mean 'h100-sxm'?", done.stderr)

    def test_a_gpu_of_unknown_power_has_neither(self):
        done = self.run_on("mi300x-8", "--json")
        self.assertIsNone(json.loads(done.stdout)["clock_state"])
        self.assertNotIn("board power", c3sim("inspect", "power.h5", folder=self.folder).stdout)


if __name__ == "__main__":
    unittest.main()
