"""Kernels of attention's backward pass, each with its time: short sequences, where it is slower than here."""
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from common import DEVICE, report, table

SHAPES = ((8, 16, 16, 512, 64), (8, 16, 16, 1024, 64), (16, 25, 25, 1024, 64), (4, 32, 8, 1024, 128), (4, 32, 8, 2048, 128), (2, 32, 8, 4096, 128), (1, 32, 8, 8192, 128),
          (2, 16, 16, 2048, 64), (4, 16, 16, 4096, 64))


def main():
    rows = table("attention_parts.csv", ["library", "dtype", "b", "heads", "kv_heads", "seq", "head_dim", "kernel", "us"])
    for name, backend in (("flash2", SDPBackend.FLASH_ATTENTION), ("cudnn", SDPBackend.CUDNN_ATTENTION)):
        for b, heads, kv, seq, dim in SHAPES:
            try:
                q = torch.randn(b, heads, seq, dim, device=DEVICE, dtype=torch.bfloat16, requires_grad=True)
                k, v = (torch.randn(b, kv, seq, dim, device=DEVICE, dtype=torch.bfloat16, requires_grad=True) for _ in range(2))
                g = torch.randn(b, heads, seq, dim, device=DEVICE, dtype=torch.bfloat16)
                with sdpa_kernel(backend):
                    y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=heads != kv)
                for _ in range(3):
                    torch.autograd.grad(y, (q, k, v), g, retain_graph=True)
                torch.cuda.synchronize()
                with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiled:
                    for _ in range(5):
                        torch.autograd.grad(y, (q, k, v), g, retain_graph=True)
                    torch.cuda.synchronize()
                sums = {}
                for e in profiled.events():
                    if str(e.device_type).endswith("CUDA"):
                        sums[e.name] = sums.get(e.name, 0.0) + e.time_range.elapsed_us() / 5
                for kernel, us in sums.items():
                    rows(library=name, dtype="bf16", b=b, heads=heads, kv_heads=kv, seq=seq, head_dim=dim, kernel=kernel[:120], us=us)
            except Exception as error:
                report(f"{name} {b} {heads} {seq} {dim}", error)


main()
