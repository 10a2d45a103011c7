"""c3sim reproduce one_gpu: one H100 and one H200, measured by this project; needs no other data."""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest


class OneGpuStudy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            rows = pathlib.Path(folder) / "rows.csv"
            command = [os.environ["C3SIM"], "reproduce", "one_gpu", "--json", "-q", "--rows", str(rows)]
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            with rows.open(newline="", encoding="utf-8") as file:
                cls.rows = list(csv.DictReader(file))
            picture = pathlib.Path(folder) / "beside.svg"
            script = pathlib.Path(os.environ["C3SIM_SOURCE"]) / "studies/one_gpu/plot_beside.py"
            cls.drawn = subprocess.run([sys.executable, "-B", script, rows, "-o", picture], capture_output=True, text=True, check=False)
            cls.picture = picture.read_text(encoding="utf-8") if picture.exists() else ""
        cls.figures = json.loads(done.stdout)["figures"]

    def of(self, name):
        return [figure for figure in self.figures if figure["id"] == name]

    def test_products_on_parts_of_both_gpus_meet_their_target(self):
        products = self.of("parts.products")
        self.assertEqual([figure["rows"] for figure in products], [133, 42])
        self.assertTrue(all(figure["pass"] for figure in products))

    def test_large_products_alone_are_within_four_per_cent(self):
        """Their coefficients are from another table of H100, and none of the H200."""
        large = [figure for figure in self.of("alone.error") if figure["rows"] == 37]
        self.assertEqual(len(large), 2)
        for figure in large:
            self.assertLess(figure["simulated"], 4.0)

    def test_what_adding_to_gradients_costs_is_within_seven_per_cent(self):
        """Over the same product with rounded results; 18 groups of way, GPU and tokens."""
        adding = self.of("adding.error")
        self.assertEqual([figure["rows"] for figure in adding], [10] * 18)
        for figure in adding:
            self.assertLess(figure["simulated"], 7.0)

    def test_boards_differ_where_power_limits_and_not_where_hbm_does(self):
        deviations = [figure["simulated"] for figure in self.of("boards.deviation")]
        self.assertEqual(len(deviations), 5)
        self.assertTrue(all(1.2 < deviation < 1.6 for deviation in deviations[:3]))
        self.assertTrue(all(deviation < 0.1 for deviation in deviations[3:]))

    def test_kernels_beside_copying_blocks_are_within_eleven_per_cent(self):
        beside = self.of("beside.error")
        self.assertEqual([figure["rows"] for figure in beside], [40, 40])
        for figure in beside:
            self.assertLess(figure["simulated"], 11.0)

    def test_unlike_kernels_in_pairs_gain_what_was_measured(self):
        pairs = [figure for figure in self.of("streams.gain") if figure["rows"] == 21]
        self.assertEqual(len(pairs), 2)
        for figure in pairs:
            self.assertLess(figure["simulated"], 3.0)

    def test_rows_list_every_kernel_beside_something(self):
        self.assertEqual(len(self.rows), 2 * 360 + 186)
        self.assertEqual(set(self.rows[0]), {"gpu", "case", "figure", "measured", "here"})

    def test_rows_can_be_drawn(self):
        self.assertEqual(self.drawn.returncode, 0, self.drawn.stderr)
        for words in ("h100-sxm: six products, mean", "h200-sxm: an addition", "write to HBM"):
            self.assertIn(words, self.picture)

    def test_half_precision_convolutions_of_both_gpus_are_within_twenty_per_cent(self):
        """Three passes of 75 layers of three networks in NHWC, on each."""
        sizes = {"forward": 75, "data": 72, "weight": 75}
        for gpu in ("h100-sxm", "h200-sxm"):
            for part, rows in sizes.items():
                (figure,) = [f for f in self.of("layers.error") if f["label"] == f"{gpu}: convolution fp16 nhwc {part}"]
                self.assertEqual(figure["rows"], rows)
                self.assertLess(figure["simulated"], 20.0, figure["label"])

    def test_every_step_of_a_network_of_images_is_there(self):
        steps = self.of("images.step")
        self.assertEqual(len(steps), 30)
        fp16 = [figure["simulated"] for figure in steps if figure["label"].startswith("h100-sxm") and " fp16 " in figure["label"]]
        self.assertEqual(len(fp16), 9)
        (mean,) = [f for f in self.of("images.error.fp16") if f["label"].startswith("h100-sxm")]
        self.assertAlmostEqual(mean["simulated"], sum(map(abs, fp16)) / len(fp16), places=6)

    def test_every_step_is_there(self):
        self.assertEqual(len(self.of("steps.step")), 39)
        memory = {figure["label"]: figure["beside"]["memory [%]"] for figure in self.of("steps.step")}
        of_h100 = [abs(error) for label, error in memory.items() if label.startswith("h100-sxm")]
        self.assertEqual((len(memory), len(of_h100)), (39, 20))
        self.assertAlmostEqual(self.of("memory.error")[0]["simulated"], sum(of_h100) / len(of_h100), places=6)

    def test_mean_errors_are_those_of_the_steps(self):
        steps = [figure["simulated"] for figure in self.of("steps.step")][:20]
        self.assertAlmostEqual(self.of("steps.signed")[0]["simulated"], sum(steps) / len(steps), places=6)


if __name__ == "__main__":
    unittest.main()
