"""Host and device of a layer with experts in eager code: launches, the host's time to issue them, the device's to run them."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

from common import DEVICE, event, report, table

# hidden, width of an expert, experts that a GPU has, experts of a token, heads, kv heads, size of a head
MODELS = {"qwen3-30b, 16 experts": (2048, 768, 16, 8, 32, 4, 128), "qwen3-30b, all": (2048, 768, 128, 8, 32, 4, 128),
          "mixtral 8x7b": (4096, 14336, 8, 2, 32, 8, 128)}


class Experts(nn.Module):
    """As torchtitan's: tokens sorted by expert, three products of all experts, results added where they came from."""

    def __init__(self, h, width, experts, chosen):
        super().__init__()
        self.router, self.chosen, self.experts = nn.Linear(h, experts, bias=False), chosen, experts
        self.gate, self.up = (nn.Parameter(torch.randn(experts, h, width) * 0.02) for _ in range(2))
        self.down = nn.Parameter(torch.randn(experts, width, h) * 0.02)

    def forward(self, x):
        tokens = x.view(-1, x.shape[-1])
        scores, chosen = F.softmax(self.router(tokens).float(), dim=-1).topk(self.chosen, dim=-1)
        scores = scores / scores.sum(-1, keepdim=True)
        order = chosen.flatten().argsort(stable=True)
        ends = torch.bincount(chosen.flatten(), minlength=self.experts).cumsum(0).int()
        rows = tokens.index_select(0, order // self.chosen)
        y = F.silu(torch._grouped_mm(rows, self.gate, offs=ends)) * torch._grouped_mm(rows, self.up, offs=ends)
        y = torch._grouped_mm(y, self.down, offs=ends)
        y = (y.float() * scores.flatten()[order, None]).to(x.dtype)
        return torch.zeros_like(tokens).index_add(0, order // self.chosen, y).view_as(x)


class Layer(nn.Module):
    def __init__(self, h, width, experts, chosen, heads, kv, d):
        super().__init__()
        self.heads, self.kv, self.d = heads, kv, d
        self.first, self.second, self.qn, self.kn = nn.RMSNorm(h), nn.RMSNorm(h), nn.RMSNorm(d), nn.RMSNorm(d)
        self.q, self.k, self.v = (nn.Linear(h, n * d, bias=False) for n in (heads, kv, kv))
        self.o = nn.Linear(heads * d, h, bias=False)
        self.experts = Experts(h, width, experts, chosen)

    def forward(self, x):
        b, s, _ = x.shape
        n = self.first(x)
        q, k, v = (p(n).view(b, s, -1, self.d).transpose(1, 2) for p in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(self.qn(q), self.kn(k), v, is_causal=True, enable_gqa=True)
        x = x + self.o(y.transpose(1, 2).reshape(b, s, -1))
        return x + self.experts(self.second(x))


def run(model, tokens, rows):
    torch.manual_seed(1)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device(DEVICE):
        layers = nn.Sequential(*(Layer(*MODELS[model]) for _ in range(4)))
        x = torch.randn(1, tokens, MODELS[model][0], requires_grad=True)
    torch.set_default_dtype(torch.float32)
    grad = torch.randn_like(x)
    for _ in range(3):
        layers(x).backward(grad)
    torch.cuda.synchronize()
    host = {"forward": [], "backward": []}
    device = {"forward": [], "backward": []}
    for _ in range(12):
        torch.cuda.synchronize()
        a, b, c = event(), event(), event()
        t0 = time.perf_counter()
        a.record()
        y = layers(x)
        b.record()
        t1 = time.perf_counter()
        torch.cuda.synchronize()
        t2 = time.perf_counter()
        y.backward(grad)
        t3 = time.perf_counter()
        c.record()
        torch.cuda.synchronize()
        t4 = time.perf_counter()
        host["forward"].append(t1 - t0)
        host["backward"].append(t3 - t2)
        device["forward"].append(a.elapsed_time(b) / 1e3)
        device["backward"].append(t4 - t2)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA, torch.profiler.ProfilerActivity.CPU]) as profiled:
        y = layers(x)
        torch.cuda.synchronize()
        y.backward(grad)
        torch.cuda.synchronize()
    kernels = [e for e in profiled.events() if str(e.device_type).endswith("CUDA")]
    syncs = [e for e in profiled.events() if "Synchronize" in e.name]
    rows(model=model, tokens=tokens, layers=4, kernels=len(kernels), busy_ms=sum(e.time_range.elapsed_us() for e in kernels) / 1e3, syncs=len(syncs),
         **{f"{side}_{way}_ms": 1e3 * sorted(times[way])[len(times[way]) // 2] for side, times in (("host", host), ("all", device)) for way in times})
    print(profiled.key_averages().table(sort_by="cuda_time_total", row_limit=25, max_name_column_width=70))


def main():
    rows = table("experts.csv", ["model", "tokens", "layers", "kernels", "busy_ms", "syncs", "host_forward_ms", "host_backward_ms", "all_forward_ms", "all_backward_ms"])
    for model in MODELS:
        for tokens in (512, 4096):
            try:
                run(model, tokens, rows)
            except Exception as error:
                report(f"{model} {tokens}", error)
            torch.cuda.empty_cache()


main()
