"""Pools, batch norms and biases of networks of images, each in a range of its name, for a profiler of hardware counters."""
import torch
import torch.nn.functional as F

from common import DEVICE, report

BATCH = 64
WAYS = (("fp16", "nhwc", torch.float16), ("fp16", "nchw", torch.float16), ("fp32", "nchw", torch.float32), ("fp32", "nhwc", torch.float32))
# channels, side of the image, window, stride, padding
MAX = ((64, 112, 3, 2, 1), (64, 224, 2, 2, 0), (288, 35, 3, 2, 0), (768, 17, 3, 2, 0))
AVERAGE = ((192, 35, 3, 1, 1), (768, 17, 3, 1, 1), (2048, 8, 3, 1, 1), (256, 56, 2, 2, 0))
NORMS = ((64, 112), (256, 56), (512, 28), (1024, 14))


def images(channels, side, dtype, layout):
    x = torch.randn(BATCH, channels, side, side, device=DEVICE, dtype=dtype)
    return x.to(memory_format=torch.channels_last if layout == "nhwc" else torch.contiguous_format)


def in_range(name, call):
    try:
        call()
        torch.cuda.synchronize()
        torch.cuda.cudart().cudaProfilerStart()
        torch.cuda.nvtx.range_push(name)
        call()
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_pop()
        torch.cuda.cudart().cudaProfilerStop()
    except Exception as error:
        report(name, error)


def pools(dtype, layout, torch_type):
    for channels, side, window, stride, pad in MAX:
        x = images(channels, side, torch_type, layout)
        sizes = ([window] * 2, [stride] * 2, [pad] * 2)
        y, at = torch.ops.aten.max_pool2d_with_indices(x, *sizes)
        shape = f"{dtype} {layout} {channels} {side} {window} {stride} {pad}"
        in_range(f"max_pool forward {shape}", lambda: torch.ops.aten.max_pool2d_with_indices(x, *sizes))
        in_range(f"max_pool backward {shape}", lambda: torch.ops.aten.max_pool2d_with_indices_backward(y, x, *sizes, [1, 1], False, at))
    for channels, side, window, stride, pad in AVERAGE:
        x = images(channels, side, torch_type, layout)
        sizes = ([window] * 2, [stride] * 2, [pad] * 2)
        y = torch.ops.aten.avg_pool2d(x, *sizes)
        shape = f"{dtype} {layout} {channels} {side} {window} {stride} {pad}"
        in_range(f"average_pool forward {shape}", lambda: torch.ops.aten.avg_pool2d(x, *sizes))
        in_range(f"average_pool backward {shape}", lambda: torch.ops.aten.avg_pool2d_backward(y, x, *sizes, False, True, None))


def norms(dtype, layout, torch_type):
    for channels, side in NORMS:
        x, g = images(channels, side, torch_type, layout), images(channels, side, torch_type, layout)
        w, b, mean, var = (torch.ones(channels, device=DEVICE) for _ in range(4))
        arguments = (w, b, mean, var, True, 0.1, 1e-5, True)
        _, saved_mean, saved_var, reserve, library = torch.ops.aten._batch_norm_impl_index(x, *arguments)
        shape = f"{dtype} {layout} {channels} {side}"
        in_range(f"batch_norm forward {shape}", lambda: torch.ops.aten._batch_norm_impl_index(x, *arguments))
        in_range(f"batch_norm backward {shape}", lambda: torch.ops.aten._batch_norm_impl_index_backward(library, x, g, w, mean, var, saved_mean, saved_var, True, 1e-5, [True] * 3, reserve))
        bias = torch.ones(channels, device=DEVICE, dtype=torch_type)
        in_range(f"bias forward {shape}", lambda: x.add_(bias.view(1, -1, 1, 1)))
        in_range(f"bias backward {shape}", lambda: g.sum((0, 2, 3)))
        in_range(f"relu forward {shape}", lambda: torch.relu_(x))
        in_range(f"relu backward {shape}", lambda: torch.ops.aten.threshold_backward(g, x, 0))
        in_range(f"concatenate forward {shape}", lambda: torch.cat((x, g), 1))


def attention():
    from torch.nn.attention import SDPBackend, sdpa_kernel
    for b, heads, kv, seq, dim in ((16, 25, 25, 1024, 64), (4, 32, 8, 1024, 128), (4, 32, 8, 2048, 128), (2, 32, 8, 4096, 128)):
        q = torch.randn(b, heads, seq, dim, device=DEVICE, dtype=torch.bfloat16)
        k, v = (torch.randn(b, kv, seq, dim, device=DEVICE, dtype=torch.bfloat16) for _ in range(2))
        k, v = (t.repeat_interleave(heads // kv, 1) for t in (k, v))
        out, lse, cq, ck, mq, mk, seed, offset, _ = torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, True)
        in_range(f"flash2 forward bf16 {b} {heads} {seq} {dim}", lambda: torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, True))
        in_range(f"flash2 backward bf16 {b} {heads} {seq} {dim}",
                 lambda: torch.ops.aten._scaled_dot_product_flash_attention_backward(out, q, k, v, out, lse, cq, ck, mq, mk, 0.0, True, seed, offset))


def main():
    for way in WAYS:
        pools(*way)
        norms(*way)
    attention()


main()
