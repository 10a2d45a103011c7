"""Bad training steps: exit code 3, one line on stderr that begins with file:line:col and names the key."""

import re
import unittest

from command import ScratchTest, c3sim

GOOD = """\
schema = 1
system = "mi300x-8"
[model]
use = "llama-3-8b"
dtype = "bf16"
[training]
framework = "pytorch-eager"
sequence = 512
micro_batch = 2
sharding = "fsdp"
[strategy.default]
all_gather.priority = 1
"""
STREAM = '[[stream]]\nname = "a"\nrun = [{ all_gather = "1 GiB" }]\n'
MODEL = """\
[model]
name = "m"
gated = true
hidden = 4096
ffn = 14336
heads = 32
kv_heads = 8
layers = 4
vocabulary = 1024
dtype = "bf16"
"""


def training(line):
    return GOOD.replace("micro_batch = 2\n", f"micro_batch = 2\n{line}\n")


def model(text):
    return GOOD.replace('[model]\nuse = "llama-3-8b"\ndtype = "bf16"\n', text)


# name: (text, line and column of the mistake, key, what the message says)
MISTAKES = {
    "heads": (training("tensor_parallel = 16").replace('system = "mi300x-8"', 'system = "mi300x-8"\nnodes = 2\nfabric = "ib-ndr"'),
              "12:19", "training.tensor_parallel", "16 does not divide the model's kv_heads, which is 8"),
    "ranks": (training("tensor_parallel = 3"), "10:19", "training.tensor_parallel", "3 does not divide the 8 ranks of the system"),
    "ffn": (training("tensor_parallel = 8").replace('"llama-3-8b"', '"llama-3-8b"\nffn = 14340'),
            "11:19", "training.tensor_parallel", "8 does not divide the model's ffn, which is 14340"),
    "global_batch": (training("global_batch = 24"), "10:16", "training.global_batch",
                     "24 is not a multiple of 16, micro_batch times 8 data-parallel ranks"),
    "both_batches": (training("micro_batches = 2\nglobal_batch = 32"), "11:16", "training.global_batch", "cannot be combined with micro_batches"),
    "stream": (GOOD.replace("all_gather.", "all_gathr."), "12:1", "strategy.default.all_gathr",
               "did you mean 'all_gather'?"),
    "stream_in_order": (GOOD.replace("all_gather.priority = 1", 'order = ["computee"]'), "12:10", "strategy.default.order",
                        "did you mean 'compute'?"),
    "framework": (GOOD.replace("pytorch-eager", "pytorch-eagr"), "7:13", "training.framework", "did you mean 'pytorch-eager'?"),
    "position_keys": (GOOD.replace('"llama-3-8b"', '"llama-3-8b"\nposition_keys = true'), "5:17", "model.position_keys",
                      'requires framework.attention = "products" (it is "flash2")'),
    "position_keys_parallel": (training("tensor_parallel = 2").replace('"llama-3-8b"', '"llama-3-8b"\nposition_keys = true')
                               + '[framework]\nattention = "products"\n', "5:17", "model.position_keys",
                               "requires tensor_parallel = 1 and context_parallel = 1 (they are 2 and 1)"),
    "host": (training('host = "grac"'), "10:8", "training.host", "did you mean 'grace'?"),
    "host_number": (training("host = 3"), "10:8", "training.host", "must be the name of a preset"),
    "host_key": (GOOD + '[host]\nkernel_lanch = "9 us"\n', "14:1", "host.kernel_lanch", "did you mean 'kernel_launch'?"),
    "host_unit": (GOOD + "[host]\nkernel_launch = 9\n", "14:17", "host.kernel_launch", "must be a string with a unit, not an integer"),
    "host_alone": ('schema = 1\nsystem = "mi300x-8"\n' + STREAM + '[host]\nevent = "1 us"\n[strategy.s]\n', "6:2", "host", "unknown key"),
    "framework_host": (GOOD + '[framework]\nhost = "grace"\n', "14:8", "framework.host", "cannot be overridden here: name the host in training.host"),
    "host_multiple": (GOOD + '[framework]\nhost_forward = "9 us"\n', "14:16", "framework.host_forward", "must be a number"),
    "vocabulary": (model(MODEL.replace("vocabulary = 1024\n", "")), "3:1", "model.vocabulary", "is missing"),
    "experts": (training("expert_parallel = 2"), "10:19", "training.expert_parallel", "and other keys of experts require a model with experts"),
    "expert_parallel": (model(MODEL + "experts = { count = 4, capacity = 64, interval = 2 }\n").replace("micro_batch = 2\n", "micro_batch = 2\nexpert_parallel = 3\n"),
                        "18:19", "training.expert_parallel", "3 does not divide the model's 4 experts"),
    "relative_buckets": (model(MODEL + "relative_buckets = 32\n"), "13:20", "model.relative_buckets", "relative position biases are not supported"),
    "sequence_parallel": (training("sequence_parallel = true"), "10:21", "training.sequence_parallel", "requires tensor_parallel > 1 (it is 1)"),
    "async_chunks": (training("async_chunks = 2"), "10:16", "training.async_chunks", "is now 'tensor_chunks', with tensor_overlap"),
    "async_sums": (training('async_sums = "copied"'), "10:14", "training.async_sums", "is now 'tensor_overlap'"),
    "overlap_alone": (training('tensor_overlap = "chunks"'), "10:18", "training.tensor_overlap", "requires tensor_parallel > 1 (it is 1)"),
    "overlap_chunks": (training('tensor_parallel = 8\ntensor_overlap = "chunks"\ntensor_chunks = 3'), "12:17", "training.tensor_chunks",
                       "3 parts do not divide the tokens of a micro-batch, which are 1024"),
    "overlap_count": (training('tensor_parallel = 8\ntensor_chunks = 4'), "11:17", "training.tensor_chunks",
                      'requires tensor_overlap = "chunks" or "user_buffers"'),
    "overlap_sequence": (training('tensor_parallel = 8\ntensor_overlap = "ring"'), "11:18", "training.tensor_overlap",
                         '"ring" requires sequence_parallel = true (it is false)'),
    "sequence_tokens": (training("tensor_parallel = 8\nsequence_parallel = true").replace("512", "513"),
                        "10:19", "training.tensor_parallel", "8 does not divide the tokens of a micro-batch, which is 1026"),
    "recompute_every": (training('recompute = "full"\nrecompute_every = 33'), "11:19", "training.recompute_every", "must not exceed the model's 32 layers (it is 33)"),
    "context": (training("context_parallel = 3"), "10:20", "training.context_parallel", "3 does not divide the 8 ranks that 1 tensor-parallel ranks and 1 stages leave of 8"),
    "context_batch": (training("context_parallel = 4\nglobal_batch = 3"), "11:16", "training.global_batch", "3 is not a multiple of 4, micro_batch times 2 data-parallel ranks"),
    "context_pieces": (training("context_parallel = 4").replace("sequence = 512", "sequence = 500"), "10:20", "training.context_parallel",
                       "cuts a sequence into 8 pieces, two of each rank, and 500 tokens do not divide among them"),
    "context_alone": (training('context_exchange = "ulysses"'), "10:20", "training.context_exchange", "requires context_parallel > 1 (it is 1)"),
    "context_name": (training('context_parallel = 2\ncontext_exchange = "ulyses"'), "11:20", "training.context_exchange", "did you mean 'ulysses'?"),
    "context_inner": (training('context_parallel = 8\ncontext_inner = 2'), "11:17", "training.context_inner", 'requires context_exchange = "hierarchical" (it is "ring")'),
    "context_groups": (training('context_parallel = 8\ncontext_exchange = "hierarchical"\ncontext_inner = 3'), "12:17", "training.context_inner",
                       "must divide context_parallel, which is 8, into at least two groups of at least two ranks (it is 3)"),
    "context_heads": (training('context_parallel = 8\ncontext_exchange = "ulysses"').replace('"llama-3-8b"', '"llama-3-8b"\nheads = 12\nkv_heads = 4\nhidden = 1536'),
                      "13:20", "training.context_parallel", "8 does not divide the model's heads, which is 12"),
    "context_products": (training("context_parallel = 2") + '[framework]\nattention = "products"\n', "10:20", "training.context_parallel",
                         'requires attention in one kernel; framework.attention is "products"'),
    "lora_rank": (training("tensor_parallel = 8") + "[training.lora]\nrank = 12\n", "15:8", "training.lora.rank", "must be a multiple of tensor_parallel, which is 8 (it is 12)"),
    "lora_targets": (GOOD + "[training.lora]\nrank = 8\nqkv = false\nout = false\n", "14:8", "training.lora.rank", "requires one of qkv, out, gate_up and down to be true"),
    "lora_all_to_all": (GOOD + "[training.lora]\nrank = 8\nall_to_all = true\n", "15:14", "training.lora.all_to_all", "requires training.sequence_parallel = true and tensor_parallel above 1"),
    "lora_key": (GOOD + "[training.lora]\nrank = 8\nalpha = 16\n", "15:1", "training.lora.alpha", "unknown key"),
    "document_mask": (GOOD + '[workload.lengths]\nsequences = 9\nlognormal = { median = 60, deviation = 0.5 }\ndocument_mask = true\n', "16:17", "workload.lengths.document_mask",
                      'requires batches = "packed" (it is "padded")'),
    "pipeline": (training("pipeline = 3"), "10:12", "training.pipeline", "3 stages of 1 tensor-parallel ranks do not divide the 8 ranks of the system"),
    "pipeline_alone": (training("virtual_stages = 2"), "6:1", "training.pipeline", "must be above 1 where other keys divide the pipeline"),
    "pipeline_layers": (training('pipeline = 4\nsharding = "ddp"').replace('"llama-3-8b"', '"llama-3-8b"\nlayers = 30').replace('\nsharding = "fsdp"', ""),
                        "11:12", "training.pipeline", "30 layers (embedding and loss counted where they are in the split) do not divide among 4 stages"),
    "pipeline_group": (training("pipeline = 4\nvirtual_stages = 2\nmicro_batches = 6"), "6:1", "training.schedule",
                       "6 micro-batches in groups of 4 leave 2 for the last group, fewer than the 4 stages"),
    "pipeline_zero2": (training("pipeline = 4").replace('"fsdp"', '"zero2"'), "11:12", "training.sharding", "requires pipeline = 1"),
    "pipeline_fsdp": (training('pipeline = 4\nschedule = "zb-h1"'), "12:12", "training.sharding", "fsdp cannot be combined with schedule = \"zb-h1\""),
    "pipeline_overlap": (training('pipeline = 4\npipeline_messages = "overlapped"'), "11:21", "training.pipeline_messages", "requires virtual stages"),
    "steady": (training('pipeline = 4\nschedule = "gpipe"\npipeline_messages = "steady"'), "12:21", "training.pipeline_messages",
               '"steady" requires schedule = "interleaved" (it is "gpipe")'),
    "scatter_alone": (training('pipeline = 4\nscatter_gather = true'), "11:18", "training.scatter_gather", "requires tensor_parallel > 1 (it is 1)"),
    "scatter_sequence": (training('pipeline = 4\ntensor_parallel = 2\nsequence_parallel = true\nscatter_gather = true'), "13:18",
                         "training.scatter_gather", "cannot be combined with sequence_parallel = true"),
    "deferred_split": (training('pipeline = 4\nschedule = "zb-h1"\ndeferred_head_gradients = 4').replace('"fsdp"', '"ddp"'), "12:27",
                       "training.deferred_head_gradients", 'cannot be combined with schedule = "zb-h1"'),
    "deferred_fsdp": (training('pipeline = 4\ndeferred_head_gradients = 4'), "11:27", "training.deferred_head_gradients",
                      'requires sharding = "ddp" or "zero1" (it is "fsdp")'),
    "deferred_alone": (training("deferred_head_gradients = 4"), "6:1", "training.pipeline", "must be above 1 where other keys divide the pipeline"),
    "gather_fsdp": (training('parameter_gather = "overlapped"'), "10:20", "training.parameter_gather",
                    '"overlapped" requires sharding = "zero1" or "zero2"'),
    "gather_aligned": (training('parameter_gather = "aligned"').replace('"fsdp"', '"zero1"'), "10:20", "training.parameter_gather",
                       '"aligned" requires schedule = "interleaved"'),
    "shard_group": (training("shard_group = 3"), "10:15", "training.shard_group", "3 does not divide the 8 data-parallel ranks"),
    "shard_group_ddp": (training("shard_group = 4").replace('"fsdp"', '"ddp"'), "10:15", "training.shard_group",
                        'requires sharding = "zero1", "zero2" or "fsdp" (it is "ddp")'),
    "pipeline_layout": (training('pipeline = 2\npipeline_layout = "Et*20|t*11L"'), "11:19", "training.pipeline_layout",
                        "has 31 layers, and the model has 32"),
    "pipeline_deadlock": (training('pipeline = 2\nmicro_batches = 2\nschedule = "table"\npipeline_table = ["F0 B0 F1 B1", "F0 F1 B0 B1"]'),
                          "13:18", "training.pipeline_table", "deadlock: stage 0 (ranks 0-3) waits at B0 for B0 of stage 1 (ranks 4-7), which cannot run: "
                          "stage 1 (ranks 4-7) waits at F1 for F1 of stage 0 (ranks 0-3)"),
    "pipeline_task": (training('pipeline = 2\nmicro_batches = 1\nschedule = "table"\npipeline_table = ["F0 X0", "F0 B0"]'),
                      "13:18", "training.pipeline_table", "'X0' is not a task"),
    "recompute_every_of_none": (training("recompute_every = 2"), "10:19", "training.recompute_every",
                                'requires recompute = "selective", "attention" or "full" (it is "none")'),
    "reshard_of_ddp": (training("reshard_after_forward = false").replace('"fsdp"', '"ddp"'), "10:25", "training.reshard_after_forward",
                       'requires sharding = "fsdp"'),
    "concentration_alone": (training("routing_concentration = 2.0"), "10:25", "training.routing_concentration",
                            'requires routing = "dirichlet" (it is not set)'),
    "seed_of_routing_alone": (training("routing_seed = 2"), "10:16", "training.routing_seed", 'requires routing = "dirichlet" (it is not set)'),
    "shares_alone": (training("routing_shares = [1, 2]"), "10:18", "training.routing_shares", 'requires routing = "histogram" (it is not set)'),
    "error_of_no_estimate": (GOOD + "[measure]\nestimate_error = 0.02\n", "14:18", "measure.estimate_error",
                             'requires estimate = "stem" (it is not set)'),
    "positions": (model(MODEL + "positions = 256\n"), "16:12", "training.sequence", "must not exceed the 256 positions of the model (it is 512)"),
    "two_works": (GOOD + STREAM, "13:1", "stream", "cannot be combined with [training]"),
    "training_key": (training('recomput = "full"'), "10:1", "training.recomput", "did you mean 'recompute'?"),
    "framework_key": (GOOD + "[framework]\nprefech = 2\n", "14:1", "framework.prefech", "did you mean 'prefetch'?"),
    "framework_alone": ('schema = 1\nsystem = "mi300x-8"\n' + STREAM + "[framework]\nprefetch = 2\n[strategy.s]\n", "6:2",
                        "framework", "unknown key"),
    "sharding": (GOOD.replace('"fsdp"', '"fsp"'), "10:12", "training.sharding", "did you mean 'fsdp'?"),
    "tokens": (GOOD.replace('dtype = "bf16"', 'dtype = "bf16"\ntokens = 2048'), "6:1", "model.tokens", "unknown key"),
    "sequence": (GOOD.replace("sequence = 512\n", ""), "6:1", "training.sequence", "is missing"),
    "fp8": (GOOD.replace('dtype = "bf16"', 'dtype = "fp8"'), "5:9", "model.dtype", "a step in fp8 needs a recipe"),
    "recipe": (training('precision = "fp8_tensorwis"'), "10:13", "training.precision", "did you mean 'fp8_tensorwise'?"),
    "recipe_without_rate": (training('precision = "nvfp4"'), "10:13", "training.precision",
                            '"nvfp4" requires a rate of fp4, which mi300x does not have; the nearest that it runs is "fp8_blockwise"'),
    "recipe_without_scaling": (training('precision = "mxfp8"'), "10:13", "training.precision", "requires matrix units that scale blocks of 32 or fewer"),
    "no_recipe": (training("quantized_parameters = true"), "10:24", "training.quantized_parameters", "requires a precision of 8 or 4 bits"),
    "recipe_of_ddp": (training('precision = "fp8_tensorwise"\nquantized_parameters = true').replace('"fsdp"', '"ddp"'), "11:24",
                      "training.quantized_parameters", 'requires sharding = "fsdp" with this framework'),
    "no_recipe_of_attention": (training("quantized_attention = true"), "10:23", "training.quantized_attention", "requires a precision of 8 or 4 bits"),
    "no_recipe_of_activations": (training("quantized_activations = true"), "10:25", "training.quantized_activations", "requires a precision of 8 or 4 bits"),
    "gathered_attention": (training('precision = "fp8_delayed"\nquantized_attention = true\ncontext_parallel = 2\ncontext_exchange = "gather"')
                           + '[framework]\nattention = "newest"\n', "11:23", "training.quantized_attention", 'requires context_exchange = "ring" (it is "gather")'),
    "recipe_of_attention": (training('precision = "fp8_blockwise"\nquantized_attention = true'), "11:23", "training.quantized_attention",
                            'one scale a tensor: "fp8_delayed" or "fp8_tensorwise" (it is "fp8_blockwise")'),
    "transposes_of_blocks": (training('precision = "fp8_blockwise"\nkept_transposes = false'), "11:19", "training.kept_transposes", 'false requires one scale a tensor: "fp8_delayed" or "fp8_tensorwise" (precision is "fp8_blockwise")'),
    "ends": (training('precision = "fp8_tensorwise"\nfirst_layers_16bit = 20\nlast_layers_16bit = 20'), "12:21", "training.last_layers_16bit",
             "40 layers at both ends exceed the model's 32"),
    "graphs": (training('graphs = "step"') + "[framework]\nsyncs_passes = true\n", "10:10", "training.graphs", "requires framework.syncs_passes = false"),
    "serial": (training("pipeline = 2\nschedule = \"zb-v\"\nvirtual_stages = 2\nmicro_batches = 4").replace('"fsdp"', '"ddp"').replace(
                   "all_gather.priority = 1\n", "") + "[strategy.one_by_one]\nserial = true\n", "17:10", "strategy.one_by_one.serial",
               'requires training.pipeline_messages = "batched" (it is "overlapped")'),
    "no_model": (GOOD.replace('[model]\nuse = "llama-3-8b"\ndtype = "bf16"\n', ""), "1:1", "model", "is missing"),
}

# What was a time of the framework: what it is called since hosts are presets, and which time of the host it multiplies.
RENAMED = {
    "forward_launch": ("host_forward", "kernel_launch"),
    "backward_launch": ("host_backward", "kernel_launch"),
    "collective_launch": ("host_collective", "collective_launch"),
    "event_launch": ("host_event", "event"),
    "layer_forward": ("host_layer_forward", "layer_forward"),
    "layer_backward": ("host_layer_backward", "layer_backward"),
}
MISTAKES |= {
    f"renamed_{old}": (GOOD + f'[framework]\n{old} = "9 us"\n', f"14:{len(old) + 4}", f"framework.{old}",
                       f"is now '{new}', a multiple of {of} of the host (c3sim list hosts), without unit")
    for old, (new, of) in RENAMED.items()
}


class BadTraining(ScratchTest):
    def test_the_step_that_the_mistakes_are_made_in_is_good(self):
        (self.folder / "good.toml").write_text(GOOD)
        done = c3sim("config", "check", "good.toml", folder=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_each_mistake_has_a_line_at_its_position(self):
        for name, (text, position, key, message) in MISTAKES.items():
            file = f"{name}.toml"
            (self.folder / file).write_text(text)
            for verb in (["config", "check"], ["run"]):
                with self.subTest(name=name, verb=verb):
                    done = c3sim(*verb, file, folder=self.folder)
                    self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
                    self.assertRegex(done.stderr, rf"\A{re.escape(f'{file}:{position}: {key}')}: [^\n]+\n({file}:\d+:\d+: training\.[^\n]+\n)?\Z")
                    self.assertIn(message, done.stderr)
                    self.assertEqual(list(self.folder.glob("*.h5")), [])

    def test_all_conflicts_of_a_step_are_said_at_once(self):
        text = training('expert_parallel = 8\nmicro_batch_overlap = true\nshared_expert_overlap = true\nrecompute = "full"\n'
                        "sequence_parallel = true\ncontext_exchange = \"ulysses\"\nmicro_batches = 2").replace(
                            '"llama-3-8b"', '"qwen3-30b-a3b"')
        (self.folder / "step.toml").write_text(text)
        done = c3sim("config", "check", "step.toml", folder=self.folder)
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        keys = re.findall(r"(?m)step\.toml:\d+:\d+: training\.(\w+): ", done.stderr)
        self.assertEqual(sorted(keys), ["context_exchange", "micro_batch_overlap", "micro_batch_overlap", "micro_batch_overlap",
                                        "sequence_parallel", "shared_expert_overlap"], done.stderr)
        self.assertEqual(done.stderr.count("\n"), len(keys))

    def test_a_misspelt_key_is_named_beside_the_conflict_that_it_causes(self):
        text = training("expert_paralel = 8\nmicro_batch_overlap = true").replace('"llama-3-8b"', '"qwen3-30b-a3b"')
        (self.folder / "step.toml").write_text(text)
        done = c3sim("config", "check", "step.toml", folder=self.folder)
        self.assertEqual(done.returncode, 3)
        self.assertIn("training.expert_paralel: unknown key; did you mean 'expert_parallel'?", done.stderr)
        self.assertIn("training.micro_batch_overlap: ", done.stderr)

    def test_keys_of_a_routing_or_an_estimate_that_a_sweep_or_exact_replaces_are_allowed(self):
        for name, text in {
                "routing": training('routing = "balanced"\nrouting_concentration = 2.0\nrouting_seed = 2\nexpert_parallel = 8').replace(
                    "llama-3-8b", "qwen3-30b-a3b").replace("pytorch-eager", "torchtitan"),
                "estimate": GOOD + '[measure]\nestimate = "none"\nestimate_error = 0.02\n'}.items():
            with self.subTest(name=name):
                (self.folder / "kept.toml").write_text(text)
                done = c3sim("config", "check", "kept.toml", folder=self.folder)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_mistake_in_a_set_is_named_by_its_number(self):
        (self.folder / "good.toml").write_text(GOOD)
        done = c3sim("run", "good.toml", "--set", "training.tensor_parallel=5", folder=self.folder)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertRegex(done.stderr, r"\A--set:1:1: training\.tensor_parallel: 5 does not divide [^\n]+\n\Z")


if __name__ == "__main__":
    unittest.main()
