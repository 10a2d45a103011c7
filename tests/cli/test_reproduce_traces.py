"""c3sim reproduce traces on small traces of no real machine: figures of what is there, a line on what is not."""

import gzip
import json
import unittest

from command import ScratchTest, c3sim
from test_import_gpu import trace

H100 = "h100_gaunernst_bert-small-uncased__1016001"
MI300 = "mi300_gaunernst_bert-small-uncased__1016001"


class ReproduceTraces(ScratchTest):
    def write(self, folder, name, content):
        path = self.folder / "traces" / folder
        path.mkdir(parents=True, exist_ok=True)
        (path / f"{name}.json.gz").write_bytes(gzip.compress(json.dumps(content).encode()))

    def figures(self):
        done = c3sim("reproduce", "traces", "--data", self.folder, "--json")
        return done, {figure["id"]: figure for figure in json.loads(done.stdout)["figures"]}

    def test_a_pair_is_compared_class_by_class(self):
        self.write("tracelens", H100, trace("NVIDIA H100 80GB HBM3", 132, 85018279936))
        self.write("tracelens", MI300, trace("AMD Instinct MI300X VF", 304, 205571227648))
        done, figures = self.figures()
        self.assertEqual(done.returncode, 5)  # others are not there
        gemm = figures["retiming.bert.gemm"]
        self.assertEqual((gemm["low"], gemm["high"], gemm["rows"]), (-30, 30, 1))
        beside = gemm["beside"]
        self.assertAlmostEqual(gemm["simulated"], 100 * (beside["predicted [us]"] / beside["recorded there [us]"] - 1), places=6)
        self.assertAlmostEqual(beside["recorded there [us]"], 550)
        self.assertIsNone(figures["retiming.bert.attention"]["simulated"])
        self.assertIn(f"own.{MI300}.vector", figures)
        self.assertAlmostEqual(figures["shapes.pairs.bert.h100"]["simulated"], 100)

    def test_traces_that_are_not_there_are_named_and_their_figures_have_no_value(self):
        self.write("tracelens", H100, trace("NVIDIA H100 80GB HBM3", 132, 85018279936))
        done, figures = self.figures()
        self.assertEqual(done.returncode, 5)
        self.assertIn(MI300, done.stderr)
        missing = [its["simulated"] for name, its in figures.items() if name.startswith(("retiming.", "edges."))]
        self.assertEqual(missing, [None] * len(missing))

    def test_without_any_trace_the_folder_is_named(self):
        self.assert_one_line(c3sim("reproduce", "traces", "--data", self.folder), 74,
                             r"the measurements are not there: traces \(")


if __name__ == "__main__":
    unittest.main()
