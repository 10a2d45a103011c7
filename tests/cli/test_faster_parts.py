"""Faster hardware makes no training step longer: memory, links, network, arithmetic and clock, with nothing drawn.

A library chooses by what it expects, not by what is fastest: NCCL's search counts rings of whole speeds, and its tuner
compares estimates. Faster links can make it choose otherwise, which may cost 1 %.
"""

import json
import unittest

from command import ScratchTest, c3sim
from test_folding import NO_DRAWS, STEPS, step

ROUNDING = 5e-4  # kernels and collectives that share memory meet at other dates
OTHER_CHOICE = 0.01

ZERO1 = 'sharding = "zero1"\n'
MORE = {
    "DDP": (step('sharding = "ddp"'), 1),
    "interleaved": (step(ZERO1 + "micro_batches = 4\ntensor_parallel = 2\npipeline = 4\nvirtual_stages = 2", layers=8), 1),
    "zb-v": (step('sharding = "ddp"\nschedule = "zb-v"\nmicro_batches = 4\ntensor_parallel = 2\npipeline = 4\n'
                  "virtual_stages = 2", layers=8), 1),
    "offload": (step("offload_layers = 2\noffload_optimizer = 0.5", "torchtitan"), 1),
    "8 bits": (step(ZERO1 + 'precision = "fp8_delayed"\ntensor_parallel = 2', "nemo"), 1),
    "GB200": (step("micro_batches = 1", "torchtitan", system="gb200-nvl8"), 1),
    "A100 on two nodes": (step("micro_batches = 1", "torchtitan", nodes=2, system="a100-sxm-80gb-8"), 1),
    "MI300X on two nodes": (step("micro_batches = 1", "pytorch-rocm", nodes=2, system="mi300x-8"), 1),
    "experts apart by all-to-all": (step(ZERO1 + "expert_parallel = 16", "nemo", nodes=2, model="qwen3-30b-a3b"), 1),
}

# What is faster by so much, and what that may cost.
FASTER = {
    "gpu.hbm_scale": (1.3, ROUNDING),
    "gpu.flops_scale": (1.3, ROUNDING),
    "node.link_scale": (1.3, OTHER_CHOICE),
    "fabric.scale": (1.3, ROUNDING),
}


class FasterParts(ScratchTest):
    def time(self, text, *sets):
        path = self.folder / "step.toml"
        path.write_text(text)
        words = [word for each in sets for word in ("--set", f"+{each}")]
        done = c3sim("run", path, "--json", "-q", "-o", self.folder / "step.h5", *NO_DRAWS, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["strategies"][0]["time_us"]

    def test_memory_links_network_and_arithmetic(self):
        shortened = set()
        for name, (text, _) in (STEPS | MORE).items():
            base = self.time(text)
            for key, (factor, cost) in FASTER.items():
                if key == "fabric.scale" and "nodes = 1\n" in text:
                    continue
                with self.subTest(name, key=key):
                    time = self.time(text, f"{key}={factor}")
                    self.assertLessEqual(time, (1.0 + cost) * base)
                    if time < 0.99 * base:
                        shortened.add(key)
        self.assertEqual(shortened, set(FASTER))

    def test_a_higher_clock_that_peaks_follow(self):
        for name in ("FSDP on MI300X", "FSDP on one node"):
            text, _ = STEPS[name]
            before = self.time(text)
            base = 1.98 if name == "FSDP on one node" else 2.1
            for factor in (1.05, 1.1, 1.3, 1.7, 2.5):
                with self.subTest(name, factor=factor):
                    time = self.time(text, f'gpu.boost_clock="{base * factor:.4f} GHz"')
                    self.assertLessEqual(time, (1.0 + ROUNDING) * before)
                    before = time


if __name__ == "__main__":
    unittest.main()
