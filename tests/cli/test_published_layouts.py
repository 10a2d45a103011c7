"""Layouts and features with which published jobs were trained: which of them an experiment can say.

A layout is one that its source states, a feature one that frameworks have a word for. What cannot be said is listed by a key that would say
it, which must be refused: when it is built, this test asks for its line to move.
"""

import unittest

from command import ScratchTest, c3sim

FRAME = """schema = 1
system = "{system}"
nodes = {nodes}
[model]
use = "{model}"
dtype = "{dtype}"
[training]
framework = "{framework}"
sharding = "zero1"
{training}
[strategy.default]
"""

ALL_PARTS = dict(tensor_parallel="tp", pipeline="pp", virtual_stages="v", context_parallel="cp", expert_parallel="ep", micro_batch="mb",
                 global_batch="batch", sequence="s")


def layout(model, gpus, batch, s, system="a100-sxm-80gb-8", gpus_a_node=8, framework="megatron-lm-2021", dtype="bf16", more="", **parts):
    """The text of an experiment. `parts` are sizes by the short names that papers use."""
    parts = {"mb": 1, "batch": batch, "s": s, **parts}
    keys = [f"{key} = {parts[short]}" for key, short in ALL_PARTS.items() if parts.get(short)]
    return FRAME.format(system=system, nodes=gpus // gpus_a_node, model=model, dtype=dtype, framework=framework,
                        training="\n".join([*keys, *filter(None, [more])]))


FULL = 'recompute = "full"'
SELECTIVE = 'recompute = "selective"\nsequence_parallel = true'
H100 = dict(system="h100-sxm-8", framework="megatron-core")
GB200 = dict(system="gb200-nvl4", gpus_a_node=4, framework="megatron-bridge")

LAYOUTS = {
    # arXiv 2104.04473, table 1: tensor and pipeline parallel sizes, GPUs, sequences
    "GPT 1.7B": layout("gpt-1.7b", 32, 512, 2048, tp=1, mb=4, more=FULL),
    "GPT 3.6B": layout("gpt-3.6b", 64, 512, 2048, tp=2, mb=4, more=FULL),
    "GPT 7.5B": layout("gpt-7.5b", 128, 512, 2048, tp=4, mb=4, more=FULL),
    "GPT 18.4B": layout("gpt-18.4b", 256, 1024, 2048, tp=8, more=FULL),
    "GPT 39.1B": layout("gpt-39.1b", 512, 1536, 2048, tp=8, pp=2, more=FULL),
    "GPT 76.1B": layout("gpt-76.1b", 1024, 1792, 2048, tp=8, pp=4, more=FULL),
    "GPT 145.6B": layout("gpt-145.6b", 1536, 2304, 2048, tp=8, pp=8, more=FULL),
    "GPT 310.1B": layout("gpt-310.1b", 1920, 2160, 2048, tp=8, pp=16, more=FULL),
    "GPT 529.6B": layout("gpt-529.6b", 2520, 2520, 2048, tp=8, pp=35, more=FULL),
    "GPT 1T": layout("gpt-1t", 3072, 3072, 2048, tp=8, pp=64, more=FULL),
    # arXiv 2205.05198, table 3
    "GPT 22B, selective": layout("gpt-22b", 8, 4, 2048, tp=8, mb=4, more=SELECTIVE),
    "GPT 175B, selective, interleaved": layout("gpt3-175b", 64, 64, 2048, tp=8, pp=8, v=3, more=SELECTIVE),
    "GPT 530B, selective, interleaved": layout("gpt-529.6b", 280, 280, 2048, tp=8, pp=35, v=3, more=SELECTIVE),
    "GPT 1T, selective": layout("gpt-1t", 512, 512, 2048, tp=8, pp=64, more=SELECTIVE),
    # arXiv 2407.21783, table 4
    "Llama 3 405B, 8,192 GPUs": layout("llama-405b", 8192, 2048, 8192, tp=8, pp=16, **H100,
                                       more="sequence_parallel = true\nembedding_in_split = true\nloss_in_split = true"),
    "Llama 3 405B, 16,384 GPUs": layout("llama-405b", 16384, 2048, 8192, tp=8, pp=16, **H100,
                                        more="sequence_parallel = true\nembedding_in_split = true\nloss_in_split = true"),
    "Llama 3 405B, 131,072 tokens": layout("llama-405b", 16384, 128, 131072, tp=8, pp=16, cp=16, **H100,
                                           more='sequence_parallel = true\ncontext_exchange = "gather"\nembedding_in_split = true\nloss_in_split = true'),
    # arXiv 2412.19437, section 3
    "DeepSeek-V3, DualPipe, FP8": layout("deepseek-v3", 2048, 15360, 4096, pp=16, ep=64, **H100,
                                         more='schedule = "dualpipe"\nfirst_stage_layers = 3\nlast_stage_layers = 2\nprecision = "fp8_blockwise"\ndispatch = "deepep"\nfp8_dispatch = true'),
    # Megatron-Bridge's performance summary
    "Llama 3.1 405B, FP8": layout("llama-405b", 1024, 1536, 8192, tp=8, pp=8, v=8, cp=2, **H100, more='sequence_parallel = true\nprecision = "fp8_tensorwise"\nembedding_in_split = true\nloss_in_split = true'),
    "DeepSeek-V3, MXFP8": layout("deepseek-v3", 256, 2048, 4096, pp=4, v=4, ep=64, **GB200, more='pipeline_layout = "Et*4|(t*4|)*14tL"\nprecision = "mxfp8"'),
    "Qwen3 235B-A22B, FP8": layout("qwen3-235b-a22b", 256, 2048, 4096, tp=2, pp=8, v=4, ep=32, **H100,
                                   more='sequence_parallel = true\nexpert_tensor_parallel = 1\nembedding_in_split = true\nloss_in_split = true\n'
                                        'precision = "fp8_tensorwise"'),
    # MLPerf training 3.1 and 4.0
    "GPT-3 175B, FP8": layout("gpt3-175b", 256, 2048, 2048, tp=4, pp=8, v=6, **H100, more='sequence_parallel = true\nprecision = "fp8_delayed"'),
}


# What facts about frameworks name, on a small step of each kind: keys beside those of its frame.
DENSE = layout("llama-3-8b", 64, 64, 4096, tp=2, pp=4, mb=1, **H100)
EXPERTS = layout("qwen3-30b-a3b", 64, 64, 4096, tp=1, ep=8, mb=1, **H100)

FEATURES = {
    "tensor parallelism": (DENSE, ""),
    "sequence parallelism": (DENSE, "sequence_parallel = true"),
    "overlap of tensor parallelism by user buffers": (DENSE, 'sequence_parallel = true\ntensor_overlap = "user_buffers"'),
    "overlap of tensor parallelism in a ring": (DENSE, 'sequence_parallel = true\ntensor_overlap = "ring"'),
    "asynchronous tensor parallelism": (DENSE, 'sequence_parallel = true\ntensor_overlap = "chunks"'),
    "GPipe": (DENSE, 'schedule = "gpipe"'),
    "1F1B": (DENSE, 'schedule = "1f1b"'),
    "interleaved 1F1B": (DENSE, 'virtual_stages = 2\nschedule = "interleaved"'),
    "ZB-H1": (DENSE, 'schedule = "zb-h1"'),
    "ZB-V": (DENSE, 'virtual_stages = 2\nschedule = "zb-v"'),
    "DualPipe": (DENSE, 'schedule = "dualpipe"'),
    "a layout of stages as text": (DENSE, 'pipeline_layout = "Et*8|t*8|t*8|t*8L"'),
    "uneven stages": (DENSE, "first_stage_layers = 7\nlast_stage_layers = 7"),
    "overlapped messages of a pipeline": (DENSE, 'virtual_stages = 2\npipeline_messages = "overlapped"'),
    "scatter and gather of messages": (DENSE, "scatter_gather = true"),
    "deferred gradients of the head": (DENSE, "deferred_head_gradients = 2"),
    "data parallelism": (DENSE.replace('"zero1"', '"ddp"'), ""),
    "distributed optimizer": (DENSE, ""),
    "overlap of its gathers": (DENSE, 'parameter_gather = "overlapped"'),
    "several instances of it (HSDP)": (DENSE, "shard_group = 4"),
    "FSDP": (DENSE.replace('"zero1"', '"fsdp"').replace("pipeline = 4\n", ""), ""),
    "parameters kept after the forward pass": (DENSE.replace('"zero1"', '"fsdp"').replace("pipeline = 4\n", ""), "reshard_after_forward = false"),
    "FSDP of experts and of all else apart": (EXPERTS.replace('"zero1"', '"fsdp"').replace("megatron-core", "torchtitan"), ""),
    "HSDP of both": (EXPERTS.replace('"zero1"', '"fsdp"').replace("megatron-core", "torchtitan"), "shard_group = 16"),
    "full recomputation": (DENSE, FULL),
    "selective recomputation": (DENSE, 'recompute = "selective"'),
    "recomputation of some layers": (DENSE, FULL + "\nrecompute_every = 2"),
    "context parallelism in a ring": (DENSE, 'context_parallel = 2\ncontext_exchange = "ring"'),
    "context parallelism by gathers": (DENSE, 'context_parallel = 2\ncontext_exchange = "gather"'),
    "context parallelism by all-to-alls": (DENSE, 'context_parallel = 2\ncontext_exchange = "ulysses"'),
    "hierarchical context parallelism": (DENSE, 'context_parallel = 4\ncontext_exchange = "hierarchical"\ncontext_inner = 2'),
    "packed sequences": (DENSE, '[workload.lengths]\nlognormal = { median = 500, deviation = 1.0 }\nsequences = 1000\nbatches = "packed"'),
    "delayed FP8": (DENSE, 'precision = "fp8_delayed"'),
    "tensorwise FP8": (DENSE, 'precision = "fp8_tensorwise"'),
    "blockwise FP8": (DENSE, 'precision = "fp8_blockwise"'),
    "MXFP8": (layout("llama-3-8b", 64, 64, 4096, pp=4, **GB200), 'precision = "mxfp8"'),
    "NVFP4": (layout("llama-3-8b", 64, 64, 4096, pp=4, **GB200), 'precision = "nvfp4"'),
    "parameters in FP8": (DENSE, 'precision = "fp8_delayed"\nquantized_parameters = true'),
    "gradients of weights in 16 bits": (DENSE, 'precision = "fp8_delayed"\nquantized_wgrad = false'),
    "first and last layers in 16 bits": (DENSE, 'precision = "fp8_tensorwise"\nfirst_layers_16bit = 1\nlast_layers_16bit = 1'),
    "attention in FP8": (DENSE, 'precision = "fp8_delayed"\nquantized_attention = true'),
    "graphs of layers": (DENSE, 'graphs = "layers"'),
    "a graph of the step": (DENSE, 'graphs = "step"'),
    "expert parallelism": (EXPERTS, ""),
    "expert-tensor parallelism": (layout("qwen3-30b-a3b", 64, 64, 4096, tp=2, ep=8, **H100), "sequence_parallel = true\nexpert_tensor_parallel = 2"),
    "dispatch by all-gathers": (EXPERTS, 'dispatch = "allgather"'),
    "DeepEP": (EXPERTS, 'dispatch = "deepep"'),
    "Hybrid-EP": (layout("qwen3-235b-a22b", 64, 64, 4096, tp=1, ep=32, mb=1, **H100), 'dispatch = "hybridep"'),
    "dispatch in FP8": (EXPERTS, "fp8_dispatch = true"),
    "capacity of experts": (EXPERTS, "capacity_factor = 1.25"),
    "padding of experts": (EXPERTS, "expert_padding = 16"),
    "shared experts beside dispatch": (layout("deepseek-v3", 64, 64, 4096, ep=64, **H100), "shared_expert_overlap = true"),
    "experts' exchange beside another micro-batch": (layout("qwen3-30b-a3b", 64, 128, 4096, tp=1, ep=8, mb=1, **H100), "micro_batch_overlap = true"),
    "delayed gradients of weights": (layout("qwen3-30b-a3b", 64, 128, 4096, tp=1, ep=8, mb=1, **H100),
                                     "micro_batch_overlap = true\ndelayed_weight_gradients = true"),
    "uneven routing": (EXPERTS, 'routing = "dirichlet"'),
    "sparse latent attention with tensor parallelism": (layout("deepseek-v3.2", 64, 64, 4096, tp=2, ep=32, **H100), "sequence_parallel = true\nexpert_tensor_parallel = 1"),
    "latent attention with tensor parallelism": (layout("deepseek-v3", 64, 64, 4096, tp=2, ep=32, **H100), "sequence_parallel = true\nexpert_tensor_parallel = 1"),
    "offload of activations": (DENSE, "offload_layers = 4"),
    "offload of some modules' activations": (DENSE, 'offload_layers = 4\noffload_parts = ["attn.kernel", "mlp.activation"]'),
    "offload of the optimizer": (DENSE, "offload_optimizer = 0.5"),
    "attention in FP8 with context parallelism": (DENSE, 'context_parallel = 2\nprecision = "fp8_delayed"\nquantized_attention = true'),
    "LoRA of experts": (EXPERTS, "[training.lora]\nrank = 16\ngate_up = true\ndown = true"),
    "LoRA": (layout("llama-2-70b", 8, 8, 8192, tp=4, **H100), "[training.lora]\nrank = 16"),
}


class PublishedLayouts(ScratchTest):
    def check(self, text):
        (self.folder / "layout.toml").write_text(text)
        return c3sim("config", "check", "layout.toml", folder=self.folder)

    @staticmethod
    def with_keys(frame, keys):
        """A table of its own goes after the strategy."""
        head, table, rest = f"\n{keys}".partition("\n[")
        return frame.replace("[strategy.default]", f"{head}\n[strategy.default]") + table + rest

    def test_every_layout_that_a_source_states_is_accepted(self):
        for name, text in LAYOUTS.items():
            with self.subTest(layout=name):
                done = self.check(text)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_features_that_frameworks_name_are_accepted(self):
        for name, (frame, keys) in FEATURES.items():
            with self.subTest(feature=name):
                done = self.check(self.with_keys(frame, keys))
                self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
