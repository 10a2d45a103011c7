"""c3sim reproduce training, whole: every figure is there, and misses are those that are known."""

import csv
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from measured_data import DATA, skip_without

GATED = {"titan.eager.speed", "titan.eager.memory", "titan.compiled.speed", "titan.compiled.memory", "memory.ratio", "memory.ran_refused",
         "memory.large_refused", "memory.in_use", "gpt.mean",
         "interference.difference", "gathers.gain", "gathers.gain_prioritized", "steps.titan128", "steps.titan_tp", "steps.mpt",
         "steps.mpt.signed", "steps.simumax.tp2", "steps.simumax.tp4", "steps.simumax.tp8", "steps.vtrain18b", "async_gain",
         "pieces.layer", "pieces.rest", "pieces.whole", "intervals.held", "intervals.least", "intervals.width", "cpu.step"}
# Misses of which it is known why; those behind may be met by an interval that a few draws make, near their limit, or by a machine without other work.
MISSED = {"titan.eager.speed", "gpt.mean", "steps.titan128", "steps.titan_tp",
          "steps.simumax.tp8", "pieces.layer", "pieces.whole"}
UNSURE = {"intervals.held", "intervals.least", "intervals.width", "pieces.rest", "cpu.step"}


class TrainingStudy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            rows = pathlib.Path(folder) / "rows.csv"
            command = [os.environ["C3SIM"], "-q", "reproduce", "training", "--data", DATA, "--json", "--rows", rows]
            cls.done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            cls.rows = [row for row in csv.DictReader(rows.read_text().splitlines()) if row["set"] == "gpt" and row["slow_host_ms"]]
        cls.figures = {figure["id"]: figure for figure in json.loads(cls.done.stdout)["figures"]}

    def test_every_figure_with_a_target_is_computed(self):
        gated = {name for name, figure in self.figures.items() if figure["gate"] != "none"}
        self.assertEqual(gated, GATED)
        for name in sorted(GATED):
            figure = self.figures[name]
            print(f"{name:<28} {figure['simulated']:10.3f}  published {figure['published']}  "
                  f"{'ok' if figure['pass'] else 'MISS'}")
            self.assertEqual(figure["kind"], "predicted")

    def test_the_misses_are_the_known_ones_and_say_why(self):
        self.assertEqual({name for name, figure in self.figures.items() if figure["pass"] is False} - UNSURE, MISSED)
        for name in MISSED:
            self.assertNotEqual(self.figures[name]["known_miss"], "")
        self.assertEqual(self.done.returncode, 1)

    def test_the_mean_error_is_that_of_the_400_rows(self):
        self.assertEqual(len(self.rows), 400)
        errors = [abs(float(row["here_ms"]) / float(row["measured_ms"]) - 1) for row in self.rows]
        self.assertAlmostEqual(100 * sum(errors) / len(errors), self.figures["gpt.mean"]["simulated"], places=2)
        # No worse than it was when this was written: 11.5 %.
        self.assertLess(self.figures["gpt.mean"]["simulated"], 12.5)

    def test_slower_hosts_make_no_step_shorter(self):
        for row in self.rows:
            self.assertGreater(float(row["slow_host_ms"]), 0.98 * float(row["here_ms"]), row["row"])


if __name__ == "__main__":
    skip_without("training")
    unittest.main()
