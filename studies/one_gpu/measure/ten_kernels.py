"""The kernels that are put on parts of a GPU."""
import torch

from common import DEVICE


def gemm(m, n, k):
    a = torch.randn(m, k, device=DEVICE, dtype=torch.bfloat16)
    b = torch.randn(n, k, device=DEVICE, dtype=torch.bfloat16)
    c = torch.empty(m, n, device=DEVICE, dtype=torch.bfloat16)
    return lambda: torch.mm(a, b.t(), out=c)


def attention(b, heads, seq, dim):
    q, k, v = (torch.randn(b, heads, seq, dim, device=DEVICE, dtype=torch.bfloat16) for _ in range(3))
    return lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def add(rows, cols):
    x, y, z = (torch.randn(rows, cols, device=DEVICE, dtype=torch.bfloat16) for _ in range(3))
    return lambda: torch.add(x, y, out=z)


def softmax(rows, cols):
    x = torch.randn(rows, cols, device=DEVICE, dtype=torch.bfloat16)
    return lambda: torch.softmax(x, -1)


KERNELS = {
    "gemm 8192 8192 8192": gemm(8192, 8192, 8192),
    "gemm 4096 4096 4096": gemm(4096, 4096, 4096),
    "gemm 4096 28672 8192": gemm(4096, 28672, 8192),
    "gemm 2048 8192 28672": gemm(2048, 8192, 28672),
    "gemm 8192 10240 8192": gemm(8192, 10240, 8192),
    "gemm 1024 8192 8192": gemm(1024, 8192, 8192),
    "gemm 128 8192 8192": gemm(128, 8192, 8192),
    "attention 2 32 4096 128": attention(2, 32, 4096, 128),
    "add 16384 8192": add(16384, 8192),
    "softmax 32768 4096": softmax(32768, 4096),
}
