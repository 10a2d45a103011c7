"""Whole modules of latent attention to tokens that an indexer chooses, prefill on an H100: their kernels' times, summed up, beside
calls of two libraries. What the choice of tokens costs was found from these rows; nothing else of it is fitted. Calls that take less
than twice as long as the shortest one wait for their host, and are left out."""

import csv
import statistics
import unittest

from kernel_times import kernel_times
from measured_data import DATA, skip_without

SELECTED, KV_RANK, ROTATED, INDEX_DIM = 2048, 512, 64, 128
# hidden, rank of queries, head without rotation, head of values, heads of the indexer
MODELS = {"deepseek-ai/DeepSeek-V3.2": (7168, 1536, 128, 128, 64), "zai-org/GLM-5": (6144, 2048, 192, 256, 32)}


def operators(row):
    """Kernels of one module, as rows of a table of shapes."""
    hidden, rank, plain, value, index_heads = MODELS[row["model"]]
    batch, heads, new = int(row["batch_size"]), int(row["num_heads"]), int(row["isl"])
    keys, tokens = new + int(row["step"]), batch * new

    def gemm(n, k, of=1):
        return {"op": "gemm", "dtype": "bf16", "b": of, "m": tokens, "n": n, "k": k}

    def vector(op, rows, cols):
        return {"op": op, "dtype": "bf16", "rows": rows, "cols": cols}

    of_index = {"b": batch, "seq": new, "kv_seq": keys}
    found = [gemm(rank + KV_RANK + ROTATED, hidden), vector("rmsnorm", tokens, rank), vector("rmsnorm", tokens, KV_RANK),
             gemm(heads * (plain + ROTATED), rank), gemm(KV_RANK, plain, heads), vector("mulu", tokens, (heads + 1) * ROTATED),
             vector("copy", tokens, heads * (KV_RANK + ROTATED)),
             gemm(index_heads * INDEX_DIM, rank), gemm(INDEX_DIM, hidden), gemm(index_heads, hidden),
             vector("layernorm", tokens, INDEX_DIM), vector("mulu", tokens, (index_heads + 1) * ROTATED),
             vector("quantize_1x128", tokens, (index_heads + 1) * INDEX_DIM),
             {"op": "index_logits", "dtype": "fp8", "heads": index_heads, "head_dim": INDEX_DIM} | of_index,
             {"op": "index_select", "selected": SELECTED} | of_index,
             {"op": "attention", "dtype": "bf16", "heads": heads, "kv_heads": 1, "head_dim": KV_RANK + ROTATED, "value_dim": KV_RANK,
              "causal": "true", "selected": SELECTED} | of_index,
             gemm(value, KV_RANK, heads), gemm(hidden, heads * value)]
    return found


def predicted(rows):
    """Microseconds of each module."""
    modules = [operators(row) for row in rows]
    times = iter(kernel_times([shape for module in modules for shape in module], "h100-sxm"))
    return [sum(next(times) for _ in module) for module in modules]


def measured(framework):
    with open(DATA / "kernels" / "sparse_attention_h100.csv", newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["framework"] == framework and row["model"] in MODELS
                and row["op_name"] == "dsa_context_module" and row["gemm_type"] == row["kv_cache_dtype"] == "bfloat16"]
    floors = {model: min(float(row["us"]) for row in rows if row["model"] == model) for model in MODELS}
    return [row for row in rows if float(row["us"]) > 2.0 * floors[row["model"]]]


class SparseAttention(unittest.TestCase):
    def errors(self, framework, heads):
        rows = [row for row in measured(framework) if int(row["num_heads"]) in heads]
        errors = [time / float(row["us"]) - 1.0 for row, time in zip(rows, predicted(rows), strict=True)]
        print(f"{framework}, {heads[0]} to {heads[-1]} heads: {len(errors)} modules, mean absolute error "
              f"{100 * statistics.mean(map(abs, errors)):.1f} %, mean {100 * statistics.mean(errors):+.1f} %")
        return errors

    def test_modules_of_whole_models(self):
        """As many heads as both models have, whose rows fill tiles. No kernel's time is above that of the module around it."""
        errors = self.errors("VLLM", (64, 128))
        self.assertEqual(len(errors), 62)
        self.assertLess(statistics.mean(map(abs, errors)), 0.19)
        self.assertLess(max(errors), 0.05)

    def test_modules_of_ranks_that_share_heads(self):
        """Fewer heads than a tile has rows."""
        errors = self.errors("VLLM", (1, 2, 4, 8, 16, 32))
        self.assertEqual(len(errors), 162)
        self.assertLess(statistics.mean(map(abs, errors)), 0.31)

    def test_another_library(self):
        """TensorRT-LLM's modules take three times as long: the model, of FlashMLA's and DeepGEMM's kernels, is not one of them."""
        errors = self.errors("TRTLLM", (1, 2, 4, 8, 16, 32, 64, 128))
        self.assertLess(statistics.mean(errors), -0.5)


if __name__ == "__main__":
    skip_without("sparse attention")
    unittest.main()
