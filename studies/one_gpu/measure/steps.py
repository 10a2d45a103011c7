"""Training steps of one GPU in pure bf16: time, memory, launches, kernels of a profiled step."""
import gc
import json
import os
import statistics
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

from common import DEVICE, OUT, event, report, table
from jobs import JOBS


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c, d = c, c["hidden"] // c["heads"]
        bias = c["kind"] == "gpt"
        self.d = d
        if bias:
            self.qkv = nn.Linear(c["hidden"], 3 * c["hidden"], bias=True)
        else:
            self.q = nn.Linear(c["hidden"], c["heads"] * d, bias=False)
            self.k = nn.Linear(c["hidden"], c["kv"] * d, bias=False)
            self.v = nn.Linear(c["hidden"], c["kv"] * d, bias=False)
        self.o = nn.Linear(c["heads"] * d, c["hidden"], bias=bias)

    def forward(self, x, rotation):
        b, s, _ = x.shape
        c = self.c
        if c["kind"] == "gpt":
            q, k, v = (t.view(b, s, c["heads"], self.d).transpose(1, 2) for t in self.qkv(x).split(c["hidden"], dim=-1))
        else:
            q, k, v = self.q(x).view(b, s, c["heads"], self.d), self.k(x).view(b, s, c["kv"], self.d), self.v(x).view(b, s, c["kv"], self.d)
            q, k = rotate(q, rotation), rotate(k, rotation)
            repeats = c["heads"] // c["kv"]
            if repeats > 1:
                k, v = (t[:, :, :, None, :].expand(b, s, c["kv"], repeats, self.d).reshape(b, s, c["heads"], self.d) for t in (k, v))
            q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).contiguous().view(b, s, -1))


def rotate(x, rotation):
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * rotation.view(1, x.shape[1], 1, -1)).flatten(3).type_as(x)


class FeedForward(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.gpt = c["kind"] == "gpt"
        if self.gpt:
            self.up, self.down = nn.Linear(c["hidden"], c["ffn"]), nn.Linear(c["ffn"], c["hidden"])
        else:
            self.gate, self.up = (nn.Linear(c["hidden"], c["ffn"], bias=False) for _ in range(2))
            self.down = nn.Linear(c["ffn"], c["hidden"], bias=False)

    def forward(self, x):
        if self.gpt:
            return self.down(F.gelu(self.up(x)))
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        norm = (lambda: nn.LayerNorm(c["hidden"])) if c["kind"] == "gpt" else (lambda: nn.RMSNorm(c["hidden"]))
        self.first, self.second, self.attention, self.mlp = norm(), norm(), Attention(c), FeedForward(c)

    def forward(self, x, rotation):
        x = x + self.attention(self.first(x), rotation)
        return x + self.mlp(self.second(x))


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.tokens = nn.Embedding(c["vocabulary"], c["hidden"])
        self.positions = nn.Embedding(c["sequence"], c["hidden"]) if c["kind"] == "gpt" else None
        self.layers = nn.ModuleList(Layer(c) for _ in range(c["layers"]))
        self.norm = nn.LayerNorm(c["hidden"]) if c["kind"] == "gpt" else nn.RMSNorm(c["hidden"])
        self.head = nn.Linear(c["hidden"], c["vocabulary"], bias=False)
        if c["kind"] == "gpt":
            self.head.weight = self.tokens.weight
        d = c["hidden"] // c["heads"]
        angles = torch.outer(torch.arange(c["sequence"]).float(), 5e5 ** (-torch.arange(0, d, 2).float() / d))
        self.rotation = torch.polar(torch.ones_like(angles), angles).to(DEVICE)

    def forward(self, tokens, full):
        x = self.tokens(tokens)
        if self.positions is not None:
            x = x + self.positions(torch.arange(tokens.shape[1], device=DEVICE))
        for layer in self.layers:
            if full:
                x = torch.utils.checkpoint.checkpoint(layer, x, self.rotation, use_reentrant=False)
            else:
                x = layer(x, self.rotation)
        return self.head(self.norm(x))


def run(name, compiled, rows):
    c, sequence, batch, micro, recompute = JOBS[name]
    c = dict(c, sequence=sequence)
    torch.manual_seed(1)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device(DEVICE):
        model = Model(c)
    torch.set_default_dtype(torch.float32)
    parameters = sum(p.numel() for p in model.parameters())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    if compiled:
        for layer in model.layers:
            layer.compile()
    data = [torch.randint(0, c["vocabulary"], (batch, sequence + 1), device=DEVICE) for _ in range(micro)]

    def step():
        for tokens in data:
            logits = model(tokens[:, :-1], recompute == "full")
            loss = F.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())
            del logits
            loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    for _ in range(3):
        step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    began = time.perf_counter()
    marks = [event()]
    marks[0].record()
    while time.perf_counter() - began < 6.0 and len(marks) < 200:
        step()
        marks.append(event())
        marks[-1].record()
        if len(marks) > 3:
            marks[-3].synchronize()
    torch.cuda.synchronize()
    times = [a.elapsed_time(b) for a, b in zip(marks, marks[1:])]
    later = times[len(times) // 2:]
    rows(job=name, compiled=int(compiled), parameters=parameters, steps=len(times), first_ms=statistics.median(times[:3]), ms=statistics.median(later),
         p5_ms=sorted(later)[len(later) // 20], p95_ms=sorted(later)[-1 - len(later) // 20],
         allocated_gb=torch.cuda.max_memory_allocated() / 1e9, reserved_gb=torch.cuda.max_memory_reserved() / 1e9)
    if os.environ.get("PROFILE", "1") == "1":
        from torch.profiler import ProfilerActivity, profile
        with profile(activities=[ProfilerActivity.CUDA]) as profiled:
            step()
            torch.cuda.synchronize()
        kernels = {}
        spans = []
        for e in profiled.events():
            if str(e.device_type).endswith("CUDA"):
                k = kernels.setdefault(e.name, [0, 0.0])
                k[0] += 1
                k[1] += e.time_range.elapsed_us()
                spans.append((e.time_range.start, e.time_range.end))
        busy = sum(v[1] for v in kernels.values())
        with open(os.path.join(OUT, "step_kernels.jsonl"), "a") as file:
            file.write(json.dumps(dict(job=name, compiled=compiled, busy_us=busy, kernels=sorted(([n[:160], *v] for n, v in kernels.items()), key=lambda v: -v[2])[:60])) + "\n")


def main():
    rows = table("steps.csv", ["job", "compiled", "parameters", "steps", "first_ms", "ms", "p5_ms", "p95_ms", "allocated_gb", "reserved_gb"])
    budget = time.time() + float(sys.argv[1])
    for compiled in (False, True):
        for name in JOBS:
            if time.time() > budget:
                print("no time for", name, compiled, flush=True)
                continue
            began = time.time()
            try:
                run(name, compiled, rows)
            except Exception as error:
                report(f"{name} {compiled}", error)
            torch._dynamo.reset()
            gc.collect()
            torch.cuda.empty_cache()
            print(name, compiled, f"{time.time() - began:.1f} s", flush=True)


main()
