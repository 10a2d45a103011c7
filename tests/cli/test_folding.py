"""One rank of each class for all: without draws it takes as long as every rank does, and with draws what is expected.

Whole training steps, from files: kernels that share the GPU with collectives, hosts that launch, several nodes.
"""

import json
import unittest

from command import ScratchTest, c3sim

STEP = """schema = 1
system = "{system}"
nodes = {nodes}
[model]
use = "{model}"
layers = {layers}
dtype = "bf16"
[training]
framework = "{framework}"
sequence = 1024
micro_batch = 1
{training}
[strategy.step]
[measure]
seeds = 1
kernel_grain = "fluid"
estimate = "none"
"""

# No two GPUs are alike, and hosts stall now and then: both are drawn.
NO_STALLS = ("--set", '+host.stall="0 s"')
NO_DRAWS = ("--set", "+gpu.speed_spread=0", *NO_STALLS)

TENSOR = 'sharding = "zero1"\ntensor_parallel = {}\nsequence_parallel = true\n'


def step(training, framework="megatron-core", nodes=1, layers=2, model="llama-3-8b", system="h100-sxm-8"):
    return STEP.format(training=training, framework=framework, nodes=nodes, layers=layers, model=model, system=system)


# The text of each step, and how many ranks are simulated with fold = "exact"; where classes shatter: all.
STEPS = {
    "FSDP on one node": (step("micro_batches = 2", "torchtitan"), 1),
    "FSDP on MI300X": (step("micro_batches = 1", "pytorch-rocm", system="mi300x-8"), 1),
    "tensor parallelism": (step(TENSOR.format(4)), 1),
    "context parallelism": (step('sharding = "zero1"\ncontext_parallel = 4'), 8),
    "experts": (step('sharding = "zero1"\nexpert_parallel = 8', "nemo", model="qwen3-30b-a3b"), 1),
    "FSDP within four nodes": (step("shard_group = 8", "torchtitan", nodes=4), 32),
    "data parallelism on four nodes": (step('sharding = "ddp"', nodes=4), 4),
    "a pipeline of nodes": (step(TENSOR.format(8) + "micro_batches = 4\npipeline = 4", nodes=4, layers=4), 4),
    "two stages a node": (step(TENSOR.format(4) + "micro_batches = 4\npipeline = 4", nodes=2, layers=4), 4),
    "virtual stages": (
        step(TENSOR.format(8) + "micro_batches = 4\npipeline = 2\nvirtual_stages = 2", nodes=2, layers=4),
        2,
    ),
    "experts on two nodes": (
        step('sharding = "zero1"\nexpert_parallel = 8', "nemo", nodes=2, model="qwen3-30b-a3b"),
        16,
    ),
}


class Folding(ScratchTest):
    def strategy(self, text, *arguments):
        path = self.folder / "step.toml"
        path.write_text(text)
        result = c3sim("run", path, "--json", "-q", "-o", self.folder / "step.h5", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)["strategies"][0]

    def folded(self, text, fold, *arguments):
        return self.strategy(text, "--set", f'+measure.fold="{fold}"', *arguments)

    def test_without_draws_classes_of_equal_loads_take_as_long_as_all_ranks(self):
        for name, (text, simulated) in STEPS.items():
            with self.subTest(name):
                each = self.folded(text, "none", *NO_DRAWS)
                exact = self.folded(text, "exact", *NO_DRAWS)
                self.assertEqual(len(exact["classes"]), simulated)
                self.assertAlmostEqual(exact["time_us"] / each["time_us"], 1.0, delta=1e-9)

    def test_with_draws_a_rank_that_stands_for_others_has_the_expected_slowest_gpu(self):
        # Collectives that run beside nothing: the slowest of eight GPUs decides, whose speed is drawn by seed.
        text, _ = STEPS["tensor parallelism"]
        drawn = [
            self.folded(text, "none", *NO_STALLS, "--set", f"+measure.seed={seed}")["time_us"] for seed in range(1, 17)
        ]
        expected = self.folded(text, "exact", *NO_STALLS)["time_us"]
        without = self.folded(text, "exact", *NO_DRAWS)["time_us"]
        mean = sum(drawn) / len(drawn)
        self.assertGreater(max(drawn) - min(drawn), 1e-3 * mean)  # other samples
        self.assertAlmostEqual(expected, mean, delta=2e-3 * mean)
        self.assertGreater(mean - without, 2 * abs(expected - mean))


if __name__ == "__main__":
    unittest.main()
