"""Gradients of weights: products whose 16-bit results are stored, whose fp32 results are, and that add to what is in memory (beta = 1)."""
import torch

from common import DEVICE, graph_ms, report, table

# Tokens, and rows and columns of the weight: layers of LLaMA 3 8B and 70B (TP 4), of GPT-3 175B (TP 4) and 18.4B (TP 8).
TOKENS = [2048, 4096, 8192]
WEIGHTS = [(4096, 4096), (6144, 4096), (28672, 4096), (4096, 14336), (9216, 12288), (12288, 12288), (12288, 3072), (14336, 8192), (2304, 6144), (3072, 6144)]
COPIES = 3  # with operands of their own each, so that none is warm


def calls(way, m, n, k):
    made = []
    for _ in range(COPIES):
        left = torch.randn(k, m, device=DEVICE, dtype=torch.bfloat16)
        right = torch.randn(k, n, device=DEVICE, dtype=torch.bfloat16)
        dtype = torch.float32 if way in ("fp32", "added_fp32") else torch.bfloat16
        into = torch.zeros(m, n, device=DEVICE, dtype=dtype)
        made.append({
            "rounded": lambda a=left, b=right, c=into: torch.mm(a.t(), b, out=c),
            "fp32": lambda a=left, b=right, c=into: torch.mm(a.t(), b, out_dtype=torch.float32, out=c),
            "added": lambda a=left, b=right, c=into: torch.addmm(c, a.t(), b, out=c),
            "added_fp32": lambda a=left, b=right, c=into: torch.addmm(c, a.t(), b, out_dtype=torch.float32, out=c),
        }[way])
    return made


def main():
    write = table("adding.csv", ["way", "m", "n", "k", "ms"])
    for m, n in WEIGHTS:
        for k in TOKENS:
            for way in ("rounded", "fp32", "added", "added_fp32"):
                try:
                    write(way=way, m=m, n=n, k=k, ms=graph_ms(calls(way, m, n, k)))
                except Exception as error:
                    report(f"{way} {m} {n} {k}", error)


main()
