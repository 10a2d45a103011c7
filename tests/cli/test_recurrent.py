"""[recurrent]: training steps of recurrent networks, one, swept and as an epoch; measure.estimate on one."""

import json
import re
import unittest

import h5py
from command import SOURCE, ScratchTest, c3sim

STEP = """
schema = 1
name   = "speech"
system = "h100-sxm-8"

[recurrent]
batch    = 8
sequence = 40
dtype    = "bf16"
features = 80
classes  = 30
[[recurrent.front]]
channels_in     = 1
channels_out    = 16
kernel_time     = 5
kernel_features = 5
stride_time     = 2
stride_features = 2
[[recurrent.encoder]]
cell          = "gru"
inputs        = 640
hidden        = 512
bidirectional = true
[[recurrent.encoder]]
cell   = "lstm"
inputs = 1024
hidden = 512

[strategy.step]

[measure]
seeds      = 1
loss_split = false
alone      = false
"""
LENGTHS = """
[workload.lengths]
sequences = 6400
lognormal = { median = 20, deviation = 0.4 }
multiple  = 2
"""


# Two GRUs of 3 x 512 x (640 + 512), an LSTM of 4 x 512 x (1024 + 512), 16 kernels of 25, 30 classes.
PARAMETERS = 2 * 3 * 512 * (640 + 512) + 4 * 512 * (1024 + 512) + 16 * 25 + 30 * 512


class Recurrent(ScratchTest):
    def step(self, text=STEP):
        (self.folder / "step.toml").write_text(text)
        return self.folder / "step.toml"

    def run_step(self, *sets, text=STEP):
        sets = [part for one in sets for part in ("--set", one)]
        done = c3sim("run", self.step(text), *sets, "--json", "-o", self.folder / "step.h5")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["strategies"][0]

    def test_a_longer_sequence_takes_longer_and_gradients_are_summed_once(self):
        short, long = self.run_step("recurrent.sequence=20"), self.run_step("recurrent.sequence=80")
        self.assertGreater(long["time_us"], 2 * short["time_us"])
        said = short["throughput"]
        self.assertEqual((said["of"], said["of_step"]), ("sequences", 8 * 8))  # a batch of 8 on each of 8 GPUs
        self.assertAlmostEqual(said["per_second"], 64 / short["time_us"] * 1e6, places=3)
        with h5py.File(self.folder / "step.h5") as file:
            self.assertEqual(file["strategies/step/collectives/bytes"][:].tolist(), [2 * PARAMETERS])

    def test_the_estimate_by_stem_is_labelled_and_within_its_bound(self):
        grain = ('measure.vector_grain="cohort"', "recurrent.sequence=160")
        whole = self.run_step(*grain, "measure.estimate=none")
        found = self.run_step(*grain, "measure.estimate=stem", "measure.estimate_error=0.02")
        self.assertIsNone(whole["estimate"])
        estimate = found["estimate"]
        self.assertEqual(estimate["method"], "stem")
        self.assertGreaterEqual(estimate["bound"], 0.02)
        self.assertLess(estimate["share_simulated"], 0.9)
        self.assertLess(abs(found["time_us"] / whole["time_us"] - 1), estimate["bound"])
        self.assertLess(found["flows"], whole["flows"])
        label = rf"estimate by stem, within {100 * estimate['bound']:.2f}% at 95% confidence, .* simulated"
        self.assertRegex(c3sim("inspect", self.folder / "step.h5").stdout, label)
        inspected = json.loads(c3sim("inspect", self.folder / "step.h5", "--json").stdout)["strategies"][0]["estimate"]
        self.assertEqual((inspected["method"], inspected["bound"]), ("stem", estimate["bound"]))
        self.assertEqual(c3sim("report", self.folder / "step.h5").returncode, 0)
        self.assertRegex((self.folder / "step.html").read_text(), label)

    def test_a_sweep_of_estimates_says_so_on_its_page(self):
        swept = STEP.replace("[measure]", '[sweep.product]\n"recurrent.sequence" = [160, 170]\n[measure]\nvector_grain = "cohort"')
        for estimate, words in (("stem", "Estimates: 2 times were not simulated whole"), ("none", None)):
            with self.subTest(estimate=estimate):
                text = swept.replace("[measure]", f'[measure]\nestimate = "{estimate}"')
                folder, merged = self.folder / estimate, self.folder / f"{estimate}.h5"
                done = c3sim("sweep", self.step(text), "-q", "-o", folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(c3sim("merge", "-q", folder, "-o", merged).returncode, 0)
                self.assertEqual(c3sim("report", "-q", merged).returncode, 0)
                page = merged.with_suffix(".html").read_text()
                self.assertIn(words or "2 points", page)
                self.assertEqual("Estimates:" in page, words is not None)

    def test_an_epoch_is_within_its_bound_of_every_length_simulated(self):
        done = c3sim("sample", "epoch", self.step(STEP + LENGTHS), "--whole", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = json.loads(done.stdout)
        self.assertEqual((found["batch"], found["iterations"]), (64, 100))
        (step,) = found["strategies"]
        self.assertAlmostEqual(step["time_us"] / step["whole_us"], 1, delta=0.01)

    def test_what_does_not_fit_is_refused_at_its_place(self):
        for text, message in {
                STEP.replace("inputs = 1024", "inputs = 700"): r"recurrent\.encoder\[?.*inputs: must be the 512 or 1024 of the layer before",
                STEP.replace("inputs        = 640", "inputs        = 600"): r"recurrent\.encoder: inputs of the first layer must be the 640 that front leaves",
                STEP.replace("channels_in     = 1\n", "channels_in     = 3\n"): r"recurrent\.front: channels_in must be the 1 that are there",
                STEP.replace("classes  = 30", "classes  = 30\nattention = 64"): r"recurrent\.attention: requires a decoder",
                STEP.replace('"lstm"', '"lstn"'): r"unknown name 'lstn'; did you mean 'lstm'",
                STEP + '[[stream]]\nname = "a"\nrun = []\n': r"recurrent: cannot be combined with",
                STEP + LENGTHS + 'batches = "packed"\n': r'workload: batches = "packed" requires \[training\]',
                STEP.replace("seeds      = 1", "exact = true"): r"measure\.exact: is now 'estimate': \"none\" for true"}.items():
            with self.subTest(message=message):
                done = c3sim("config", "check", self.step(text))
                self.assertEqual(done.returncode, 3, done.stdout)
                self.assertRegex(done.stderr, r"step\.toml:\d+:\d+: ")
                self.assertTrue(re.search(message, done.stderr), done.stderr)

    def test_a_serial_strategy_sums_gradients_between_the_backward_pass_and_the_optimizer(self):
        done = c3sim("run", self.step(STEP + "[strategy.serial]\nserial = true\n"), "--json", "-o", self.folder / "step.h5")
        self.assertEqual(done.returncode, 0, done.stderr)
        step, serial = (each["time_us"] for each in json.loads(done.stdout)["strategies"])
        self.assertAlmostEqual(serial, step, delta=0.01 * step)  # nothing overlaps in either

    def test_the_shipped_networks_are_accepted(self):
        for name in ("gnmt_v100", "deep_speech_2_v100"):
            done = c3sim("config", "check", SOURCE / f"configs/experiments/recurrent/{name}.toml")
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
