"""c3sim reproduce interference: tiles of hipBLASLt, and a GEMM beside an all-reduce by channels."""

import json
import os
import subprocess
import unittest

from measured_data import DATA, skip_without

CHANNELS = 9  # rows with no more channels than RCCL has in a node
PRODUCTS = 11


class InterferenceStudy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        command = [os.environ["C3SIM"], "reproduce", "interference", "--data", DATA, "--json", "-q"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        cls.figures = json.loads(done.stdout)["figures"]

    def test_every_target_but_the_known_misses_is_met(self):
        missed = {figure["id"] for figure in self.figures if figure["gate"] != "none" and not figure["pass"]}
        self.assertEqual(missed, {"tiles.same", "gemm.error"})

    def of(self, name):
        return [figure for figure in self.figures if figure["id"] == name]

    def test_every_row_of_both_tables_is_there(self):
        self.assertEqual(len(self.of("tiles.same.one")), PRODUCTS)
        for side in ("gemm", "collective"):
            self.assertEqual(len(self.of(f"{side}.slowdown")), CHANNELS)

    def test_errors_are_those_of_the_rows(self):
        for side in ("gemm", "collective"):
            judged = self.of(f"{side}.slowdown")[3:]  # from 16 channels
            errors = [abs(row["simulated"] / row["beside"]["measured"] - 1) * 100 for row in judged]
            self.assertAlmostEqual(self.of(f"{side}.error")[0]["simulated"], sum(errors) / len(errors), places=6)
            self.assertEqual(self.of(f"{side}.error")[0]["rows"], len(judged))


if __name__ == "__main__":
    skip_without("interference")
    unittest.main()
