"""measure.kernel_grain = "auto" of steps with many micro-batches: the time of cohorts, for fewer flows."""

import json
import unittest

from command import SOURCE, ScratchTest, c3sim

TRAINING = SOURCE / "configs/experiments/training"
QUICK = ["measure.seeds=1", "measure.alone=false", "measure.loss_split=false"]
# By how much times may differ. Those of the pipeline by seed differ as much, at either grain: few micro-batches tell of 32.
STEPS = (("fsdp_dma_mi300x.toml", ["training.global_batch=96", "model.layers=4"], 0.003),
         ("llama3_70b_pipeline.toml", [], 0.01))


class AutomaticGrain(ScratchTest):
    def strategies(self, file, keys, grain):
        words = [word for key in [*QUICK, *keys, f'measure.kernel_grain="{grain}"'] for word in ("--set", key)]
        done = c3sim("-q", "run", TRAINING / file, "--json", "-o", self.folder / "run.h5", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)["strategies"]

    def test_the_time_is_that_of_cohorts(self):
        for file, keys, tolerance in STEPS:
            for cohorts, automatic in zip(self.strategies(file, keys, "cohort"), self.strategies(file, keys, "auto"), strict=True):
                with self.subTest(file=file, strategy=cohorts["strategy"]):
                    self.assertLess(abs(automatic["time_us"] / cohorts["time_us"] - 1), tolerance)
                    self.assertIn("replayed kernels", automatic["estimate"]["method"])
                    self.assertLess(automatic["flows"], 0.9 * cohorts["flows"])


if __name__ == "__main__":
    unittest.main()
