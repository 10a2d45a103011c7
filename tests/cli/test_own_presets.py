"""A preset of one's own, in a folder of C3SIM_CONFIGS, extends what is shipped as configs/README.md says."""

import json
import os
import subprocess
import unittest

from command import COMMAND, ScratchTest


class OwnPresets(ScratchTest):
    def preset(self, text, name="mine"):
        (self.folder / "gpus").mkdir(exist_ok=True)
        (self.folder / f"gpus/{name}.toml").write_text(text)

    def c3sim(self, *words):
        environment = os.environ | {"C3SIM_CONFIGS": str(self.folder)}
        return subprocess.run([COMMAND, *words], cwd=self.folder, env=environment, capture_output=True, text=True, check=False)

    def test_what_lies_beside_the_shipped_folder_is_found_from_the_same_place(self):
        for extends in ('["../kernels/hopper.toml", "../gpus/h100-sxm.toml"]', '"h100-sxm.toml"', '"../gpus/h100-sxm.toml"', '"gpus/h100-sxm"'):
            with self.subTest(extends=extends):
                self.preset(f'extends = {extends}\nname = "mine"\n')
                done = self.c3sim("config", "check", "gpus/mine.toml", "-q")
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_what_lies_nowhere_is_refused_at_its_place(self):
        self.preset('name = "mine"\nextends = "../kernels/nosuch.toml"\n')
        done = self.c3sim("config", "check", "gpus/mine.toml")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"^gpus/mine\.toml:2:11: extends: .*kernels/nosuch\.toml' does not exist|extends: .*does not exist")

    def test_a_sibling_with_a_lower_peak_keeps_the_share_of_it_that_was_measured(self):
        sibling = ('extends = "mi300x.toml"\nname = "mine"\n'
                   'bf16_peak = { value = "600 TFLOP/s", kind = "published", source = "here" }\n')
        self.preset(sibling)
        done = self.c3sim("config", "check", "gpus/mine.toml", "-q")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

        def time(gpu):
            done = self.c3sim("kernel", "gemm", "--gpu", gpu, "-m", "8192", "-n", "8192", "-k", "8192", "--dtype", "bf16",
                              "--state", "sustained", "--json", "-q")
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)["rows"][0]["time_us"]
        # Large products take as much longer as the peak is lower: 1307.4 of 600 TFLOP/s.
        self.assertAlmostEqual(time("mine") / time("mi300x"), 1307.4 / 600, delta=0.1)

    def test_a_rate_that_the_sibling_states_stays_as_it_is(self):
        self.preset('extends = "mi300x.toml"\nname = "mine"\n'
                    'bf16_peak = { value = "600 TFLOP/s", kind = "published", source = "here" }\n'
                    'bf16_sustained = { value = "700 TFLOP/s", kind = "measured", source = "here" }\n')
        done = self.c3sim("config", "check", "gpus/mine.toml")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"bf16_sustained: must not be above the peak, which is 600 TFLOP/s")


if __name__ == "__main__":
    unittest.main()
