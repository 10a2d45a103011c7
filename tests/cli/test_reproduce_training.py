"""c3sim reproduce training, with small models and a few measured rows. tests/validation/test_training_study.py is the whole."""

import csv
import json
import os
import unittest
import unittest.mock

from command import SOURCE, ScratchTest, c3sim

COLUMNS = ("# GPUs,global batch,micro batch,hidden size,attention heads,# layers,sequence length,tensor parallelism,"
           "data parallelism,pipeline parallelism,iteration time (ms)\n")
ROWS = ["2,4,2,256,4,2,256,2,1,1,9.5", "2,8,1,512,8,2,256,1,2,1,30.25", "4,4,2,256,4,2,256,1,2,2,12.5"]  # the last has a pipeline
SMALL = """hidden = 512
ffn = 1024
heads = 8
kv_heads = 8
vocabulary = 1024
[training]
sequence = 256
[measure]
seeds = 1
"""
# As of the whole study.
GATED = {"titan.eager.speed", "titan.eager.memory", "titan.compiled.speed", "titan.compiled.memory", "memory.ratio", "memory.ran_refused", "memory.large_refused", "gpt.mean",
         "interference.difference", "gathers.gain", "gathers.gain_prioritized"}


class ReproduceTraining(ScratchTest):
    def setUp(self):
        super().setUp()
        experiments = self.folder / "configs/experiments/training"
        tables = self.folder / "data/training"
        for folder in (experiments, tables):
            folder.mkdir(parents=True)
        shipped = SOURCE / "configs/experiments/training"
        for name, layers in (("llama3_8b_fsdp8.toml", ""), ("fsdp_dma_mi300x.toml", "layers = 3\n")):  # the study sets the former's
            (experiments / name).write_text(f"extends = [{json.dumps(str(shipped / name))}]\n[model]\n{layers}{SMALL}")
        (tables / "gpt_one_node_a100_2_and_4_gpus.csv").write_text(COLUMNS + "".join(row + "\n" for row in ROWS))
        patch = unittest.mock.patch.dict(os.environ, {"C3SIM_CONFIGS": str(self.folder / "configs")})
        patch.start()
        self.addCleanup(patch.stop)

    def test_every_figure_is_there_and_those_made_of_others_agree_with_them(self):
        done = c3sim("reproduce", "training", "-q", "--data", self.folder / "data", "--json", "--rows", self.folder / "rows.csv")
        self.assertEqual(done.stderr, "")
        figures = {figure["id"]: figure for figure in json.loads(done.stdout)["figures"]}
        self.assertEqual({name for name, figure in figures.items() if figure["gate"] != "none"}, GATED)
        self.assertEqual({figure["kind"] for figure in figures.values()}, {"predicted"})
        # Whatever the size of the model: the parts of the loss split are what sharing costs.
        self.assertTrue(figures["interference.difference"]["pass"], figures["interference.difference"])
        self.assertEqual(done.returncode, 1 if any(figure["pass"] is False for figure in figures.values()) else 0)

        rows = list(csv.DictReader((self.folder / "rows.csv").read_text().splitlines()))
        self.assertEqual([float(row["measured_ms"]) for row in rows], [9.5, 30.25])  # those without a pipeline
        errors = [abs(float(row["here_ms"]) / float(row["measured_ms"]) - 1) for row in rows]
        self.assertAlmostEqual(100 * sum(errors) / len(errors), figures["gpt.mean"]["simulated"], places=2)
        for row in rows:
            self.assertGreater(float(row["slow_host_ms"]), 0.98 * float(row["here_ms"]), row["row"])


if __name__ == "__main__":
    unittest.main()
