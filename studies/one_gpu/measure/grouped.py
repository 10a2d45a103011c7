"""Products of many experts in one launch, with as many rows each and with unlike ones."""
import sys
import time

import torch

from common import DEVICE, graph_ms, report, table

MODELS = {"mixtral": (8, 4096, 14336), "qwen3-30b": (128, 2048, 768), "deepseek-v3": (32, 7168, 2048), "gpt-oss": (32, 2880, 2880)}


def rows_of(experts, mean, alpha):
    """Rows of each expert: equal ones, or shares drawn from a Dirichlet distribution."""
    if alpha is None:
        return [mean] * experts
    shares = torch.distributions.Dirichlet(torch.full((experts,), alpha)).sample()
    rows = (shares * mean * experts).round().int().tolist()
    rows[0] += mean * experts - sum(rows)
    return rows if rows[0] >= 0 else rows_of(experts, mean, alpha)


def main():
    torch.manual_seed(1)
    out = table("grouped.csv", ["model", "experts", "n", "k", "mean_rows", "most_rows", "fewest_rows", "alpha", "how", "ms"])
    for model, (experts, hidden, width) in MODELS.items():
        for n, k in ((width, hidden), (hidden, width)):
            weights = [torch.randn(experts, n, k, device=DEVICE, dtype=torch.bfloat16) for _ in range(2)]
            for mean in (16, 64, 256, 1024, 4096):
                if experts * mean * max(n, k) * 2 > 6e9:
                    continue
                a = torch.randn(experts * mean, k, device=DEVICE, dtype=torch.bfloat16)
                for alpha in (None, 4.0, 0.5):
                    rows = rows_of(experts, mean, alpha)
                    ends = torch.tensor(rows, device=DEVICE, dtype=torch.int32).cumsum(0).int()
                    ways = {"grouped": [lambda w=w: torch._grouped_mm(a, w.transpose(-2, -1), offs=ends, out_dtype=torch.bfloat16) for w in weights]}
                    if alpha is None:
                        ways["batched"] = [lambda w=w: torch.bmm(a.view(experts, mean, k), w.transpose(-2, -1)) for w in weights]
                    for how, calls in ways.items():
                        try:
                            time.sleep(0.02)
                            out(model=model, experts=experts, n=n, k=k, mean_rows=mean, most_rows=max(rows), fewest_rows=min(rows),
                                alpha="" if alpha is None else alpha, how=how, ms=graph_ms(calls * 3, 5))
                        except Exception as error:
                            report(f"{model} {mean} {alpha} {how}", error)
                            return


main()
