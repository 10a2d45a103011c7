"""What tests of studies of training steps share: vTrain's columns, and a model small enough for seconds."""

import json
import os
import unittest.mock

from command import SOURCE, ScratchTest

VTRAIN_COLUMNS = ("GPUs,global batch,micro batch,hidden size,attention heads,# layers,sequence length,tensor parallelism,"
                  "data parallelism,pipeline parallelism,iteration time (ms)\n")
SMALL_MODEL = """hidden = 512
ffn = 1024
heads = 8
kv_heads = 8
vocabulary = 1024
[training]
sequence = 256
[measure]
seeds = 1
"""


class SmallStepsTest(ScratchTest):
    """Has a folder of configurations, of which c3sim is told, and one of measured tables, `data/training`."""

    def setUp(self):
        super().setUp()
        self.experiments = self.folder / "configs/experiments/training"
        self.tables = self.folder / "data/training"
        for folder in (self.experiments, self.tables):
            folder.mkdir(parents=True)
        patch = unittest.mock.patch.dict(os.environ, {"C3SIM_CONFIGS": str(self.folder / "configs")})
        patch.start()
        self.addCleanup(patch.stop)

    def add_experiment(self, name, nodes=None, layers=None):
        """The shipped one of that name, of a small model."""
        text = f"extends = [{json.dumps(str(SOURCE / 'configs/experiments/training' / name))}]\n"
        if nodes is not None:
            text += f"nodes = {nodes}\n"
        text += "[model]\n"
        if layers is not None:
            text += f"layers = {layers}\n"
        (self.experiments / name).write_text(text + SMALL_MODEL)

    def add_tables(self, tables):
        for name, text in tables.items():
            (self.tables / name).write_text(text)

    def add_steps(self, study, text):
        folder = self.folder / "configs/studies" / study
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "steps.csv").write_text(text)
