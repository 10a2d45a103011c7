"""c3sim reproduce one_gpu: one H100 and one H200, measured by this project; needs no other data."""

import json
import os
import subprocess
import unittest


class OneGpuStudy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        command = [os.environ["C3SIM"], "reproduce", "one_gpu", "--json", "-q"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
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

    def test_every_step_is_there(self):
        self.assertEqual(len(self.of("steps.step")), 39)
        self.assertEqual(len(self.of("memory.error")), 39 + 2)

    def test_mean_errors_are_those_of_the_steps(self):
        steps = [figure["simulated"] for figure in self.of("steps.step")][:20]
        self.assertAlmostEqual(self.of("steps.signed")[0]["simulated"], sum(steps) / len(steps), places=6)


if __name__ == "__main__":
    unittest.main()
