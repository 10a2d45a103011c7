"""Rows of a study's table may ask c3sim itself: their numbers are those of the command's JSON answer."""

import json
import os
import subprocess
import unittest

from command import COMMAND, ScratchTest

PRODUCT = ["kernel", "gemm", "-m", "4096", "-n", "4096", "-k", "4096", "--dtype", "bf16"]
CARD = """about = "Mine"
[[table]]
heading = "products"
cases = "cases.csv"
ask = "kernel gemm -m ${m} -n 4096 -k 4096 --dtype bf16 --gpu ${gpu} --layout ${layout}"
set = ["gpu.hbm_scale=${hbm}"]
id = "f"
value = "rows.0.time_us"
decimals = 6
"""


class StudyQuestions(ScratchTest):
    def reproduce(self, cases, card=CARD):
        study = self.folder / "studies/mine"
        study.mkdir(parents=True, exist_ok=True)
        (study / "study.toml").write_text(card)
        (study / "cases.csv").write_text("id,label,m,gpu,layout,hbm\n" + cases)
        (study / "published.csv").write_text("id,unit,published,low,high,gate,known_miss,source\nf,us,,,,none,,here\n")
        environment = os.environ | {"C3SIM_CONFIGS": str(self.folder)}
        return subprocess.run([COMMAND, "reproduce", "mine", "--json", "-q"], cwd=self.folder, env=environment,
                              capture_output=True, text=True, check=False)

    def time(self, *words):
        done = subprocess.run([COMMAND, *PRODUCT, *words, "--json"], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["rows"][0]["time_us"]

    def test_figures_are_the_answers_of_the_command(self):
        done = self.reproduce("a,plain,4096,h100-sxm,,\nb,wide,4096,h100-sxm,nt,0.1; gpu.flops_scale=0.1\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        figures = [figure["simulated"] for figure in json.loads(done.stdout)["figures"]]
        slow = ["--layout", "nt", "--set", "gpu.hbm_scale=0.1", "--set", "gpu.flops_scale=0.1"]
        self.assertEqual(figures, [self.time("--gpu", "h100-sxm"), self.time("--gpu", "h100-sxm", *slow)])
        self.assertNotEqual(*figures)

    def test_a_refused_row_is_named_with_what_c3sim_says_and_others_stay(self):
        done = self.reproduce("a,good,4096,h100-sxm,,\nb,bad,4096,h100-sx,,\n")
        self.assertEqual(done.returncode, 5)
        self.assertRegex(done.stderr, r"cases\.csv:3:1: b: c3sim kernel gemm .*unknown GPU preset 'h100-sx'; did you mean 'h100-sxm'")
        self.assertEqual([figure["simulated"] is None for figure in json.loads(done.stdout)["figures"]], [False, True])

    def test_a_number_that_the_answer_lacks_is_refused_with_the_nearest(self):
        done = self.reproduce("a,good,4096,h100-sxm,,\n", CARD.replace("rows.0.time_us", "rows.0.tim_us"))
        self.assertEqual(done.returncode, 5)
        self.assertIn("rows.0.time_us", done.stderr)


if __name__ == "__main__":
    unittest.main()
