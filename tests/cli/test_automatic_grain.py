"""measure.kernel_grain = "auto" of steps: the time of cohorts, for a fraction of their flows."""

import json
import unittest

from command import SOURCE, ScratchTest, c3sim

TRAINING = SOURCE / "configs/experiments/training"
QUICK = ["measure.seeds=1", "measure.alone=false", "measure.loss_split=false"]
MOST_OFF = 0.005  # of the time: docs/experiments.md says 0.5 % of these
# Collectives on CUs in order of launch and by priority, on masked CUs and on copy engines; FSDP, a pipeline, experts, LoRA.
STEPS = ("fsdp_dma_mi300x.toml", "llama3_8b_fsdp8.toml", "llama3_8b_bridge.toml", "qwen3_30b_ep8.toml", "llama2_70b_lora_mi300x.toml",
         "gpt_18b_a100.toml")


class AutomaticGrain(ScratchTest):
    def strategies(self, file, grain):
        words = [word for key in [*QUICK, f'measure.kernel_grain="{grain}"'] for word in ("--set", key)]
        done = c3sim("-q", "run", TRAINING / file, "--json", "-o", self.folder / "run.h5", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)["strategies"]

    def test_the_time_is_that_of_cohorts(self):
        for file in STEPS:
            for cohorts, automatic in zip(self.strategies(file, "cohort"), self.strategies(file, "auto"), strict=True):
                with self.subTest(file=file, strategy=cohorts["strategy"]):
                    self.assertLess(abs(automatic["time_us"] / cohorts["time_us"] - 1), MOST_OFF)
                    self.assertIn("kernels as flows", automatic["estimate"]["method"])
                    self.assertLess(automatic["flows"], 0.7 * cohorts["flows"])


if __name__ == "__main__":
    unittest.main()
