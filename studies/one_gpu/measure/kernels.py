"""Kernels alone, in bursts: products of many sizes and types, experts, convolutions, embeddings, optimizers, losses."""
import time

import torch
import torch.nn.functional as F

from common import DEVICE, graph_ms, report, table

BF16 = torch.bfloat16
rows = table("kernels.csv", ["what", "dtype", "shape", "ms", "bytes", "flops"])


def measure(what, dtype, shape, calls, bytes=0, flops=0):
    try:
        time.sleep(0.01)
        rows(what=what, dtype=dtype, shape=shape, ms=graph_ms(calls), bytes=int(bytes), flops=int(flops))
    except Exception as error:
        report(f"{what} {shape}", error)
        torch.cuda.synchronize()


def sets_for(bytes_each):
    """As many sets of operands as together exceed L2 four times, so that each call finds it cold; at most 24."""
    return int(min(24, max(4, 200e6 // max(bytes_each, 1) + 1)))


def randn(*shape, dtype=BF16):
    return torch.randn(*shape, device=DEVICE, dtype=torch.float32).to(dtype)


def products():
    shapes = [(m, n, k) for m in (16, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
              for n, k in ((4096, 4096), (14336, 4096), (4096, 14336), (2048, 2048), (6144, 4096), (8192, 8192))]
    shapes += [(s, s, s) for s in (128, 256, 384, 512, 640, 768, 1000, 1024, 1280, 1536, 2000, 2048, 3072, 5120, 6144)]
    for m, n, k in shapes:
        if m * n * k > 3e11:
            continue
        size = 2 * (m * k + n * k + m * n)
        operands = [(randn(m, k), randn(n, k), torch.empty(m, n, device=DEVICE, dtype=BF16)) for _ in range(sets_for(size))]
        measure("gemm", "bf16", f"{m} {n} {k}", [lambda o=o: torch.mm(o[0], o[1].t(), out=o[2]) for o in operands], size, 2 * m * n * k)
        if m >= 256 and n * k < 7e7:
            one = torch.ones((), device=DEVICE)
            eight = [(randn(m, k).to(torch.float8_e4m3fn), randn(n, k).to(torch.float8_e4m3fn)) for _ in range(sets_for(m * k + n * k + 2 * m * n))]
            measure("gemm", "fp8", f"{m} {n} {k}",
                    [lambda o=o: torch._scaled_mm(o[0], o[1].t(), scale_a=one, scale_b=one, out_dtype=BF16, use_fast_accum=True) for o in eight],
                    m * k + n * k + 2 * m * n, 2 * m * n * k)


def layouts():
    for m, n, k in ((4096, 4096, 4096), (4096, 14336, 4096), (14336, 4096, 8192), (8192, 8192, 2048)):
        tn = [(randn(m, k), randn(n, k)) for _ in range(4)]
        measure("gemm tn", "bf16", f"{m} {n} {k}", [lambda o=o: torch.mm(o[0], o[1].t()) for o in tn], 0, 2 * m * n * k)
        nn = [(randn(m, k), randn(k, n)) for _ in range(4)]
        measure("gemm nn", "bf16", f"{m} {n} {k}", [lambda o=o: torch.mm(o[0], o[1]) for o in nn], 0, 2 * m * n * k)
        nt = [(randn(k, m), randn(k, n)) for _ in range(4)]
        measure("gemm nt", "bf16", f"{m} {n} {k}", [lambda o=o: torch.mm(o[0].t(), o[1]) for o in nt], 0, 2 * m * n * k)


def grouped():
    """Experts' products: tokens of each expert alike, and drawn from a Dirichlet distribution of 0.5 an expert."""
    generator = torch.Generator().manual_seed(1)
    for experts, tokens, hidden, ffn in ((8, 8192, 4096, 14336), (64, 8192, 2048, 1408), (128, 16384, 2048, 768), (32, 16384, 4096, 2048)):
        weights = randn(experts, ffn, hidden)
        for kind in ("balanced", "skewed"):
            share = torch.full((experts,), 1.0 / experts)
            if kind == "skewed":
                drawn = torch._sample_dirichlet(torch.full((experts,), 0.5), generator=generator)
                share = drawn / drawn.sum()
            counts = (share * tokens / 16).floor().long() * 16
            offsets = counts.cumsum(0).to(torch.int32).to(DEVICE)
            x = randn(int(counts.sum()), hidden)
            measure("grouped " + kind, "bf16", f"{experts} {tokens} {hidden} {ffn} largest {int(counts.max())}",
                    [lambda: torch._grouped_mm(x, weights.transpose(1, 2), offs=offsets)] * 4,
                    2 * (x.numel() + weights.numel() + x.shape[0] * ffn), 2 * x.shape[0] * hidden * ffn)


def convolutions():
    layers = [(3, 64, 7, 2, 224), (64, 64, 1, 1, 56), (64, 64, 3, 1, 56), (64, 256, 1, 1, 56), (256, 128, 1, 1, 56), (128, 128, 3, 2, 56),
              (128, 128, 3, 1, 28), (512, 128, 1, 1, 28), (256, 256, 3, 1, 14), (1024, 256, 1, 1, 14), (512, 512, 3, 1, 7), (2048, 512, 1, 1, 7)]
    torch.backends.cudnn.benchmark = True
    for dtype in (torch.float16, torch.float32):
        for c, k, f, stride, size in layers:
            for batch in (32, 256):
                x = randn(batch, c, size, size, dtype=dtype).to(memory_format=torch.channels_last).requires_grad_()
                w = randn(k, c, f, f, dtype=dtype).to(memory_format=torch.channels_last).requires_grad_()
                y = F.conv2d(x, w, stride=stride, padding=f // 2)
                g = torch.randn_like(y)
                flops = 2 * y.numel() * c * f * f
                shape = f"{batch} {c} {size} {k} {f} {stride}"
                name = str(dtype)[6:]
                with torch.no_grad():
                    measure("conv forward", name, shape, [lambda: F.conv2d(x, w, stride=stride, padding=f // 2)] * 4, 0, flops)
                back = lambda mask: torch.ops.aten.convolution_backward(g, x.detach(), w.detach(), None, [stride] * 2, [f // 2] * 2, [1, 1], False, [0, 0], 1, mask)
                measure("conv data", name, shape, [lambda: back([True, False, False])] * 4, 0, flops)
                measure("conv weight", name, shape, [lambda: back([False, True, False])] * 4, 0, flops)


def embeddings():
    for tables, hashes, lookups, dim, batch in ((1, 1_000_000, 1, 128, 2048), (8, 1_000_000, 10, 64, 2048), (8, 100_000, 100, 64, 2048),
                                                (26, 1_000_000, 1, 128, 4096), (1, 10_000_000, 30, 128, 2048), (4, 1_000_000, 50, 32, 1024)):
        weights = [torch.randn(hashes, dim, device=DEVICE) for _ in range(tables)]
        offsets = torch.arange(0, batch * lookups, lookups, device=DEVICE)
        for kind in ("uniform", "power"):
            index = []
            for _ in range(tables):
                if kind == "uniform":
                    index.append(torch.randint(0, hashes, (batch * lookups,), device=DEVICE))
                else:
                    u = torch.rand(batch * lookups, device=DEVICE)
                    index.append((hashes ** u).long().clamp_(max=hashes - 1))
            calls = [lambda i=i, w=w: F.embedding_bag(i, w, offsets, mode="sum") for i, w in zip(index, weights)]
            measure("embedding bag " + kind, "fp32", f"{tables} {hashes} {lookups} {dim} {batch}", calls, 4 * batch * (lookups + 1) * dim)
        index = torch.randint(0, hashes, (batch * lookups,), device=DEVICE)
        bag = torch.arange(batch, device=DEVICE).repeat_interleave(lookups)
        gradient = torch.randn(batch, dim, device=DEVICE)
        measure("embedding bag update", "fp32", f"1 {hashes} {lookups} {dim} {batch}", [lambda: weights[0].index_add_(0, index, gradient[bag])] * 4,
                4 * batch * lookups * dim * 3)


def vectors():
    for r, c in ((1024, 1024), (4096, 4096), (8192, 4096), (16384, 8192), (8192, 14336), (2048, 50304), (8192, 128256)):
        x = randn(r, c)
        size = x.numel() * 2
        weight = randn(c)
        measure("softmax", "bf16", f"{r} {c}", [lambda: torch.softmax(x, -1)] * 4, 2 * size)
        measure("layernorm", "bf16", f"{r} {c}", [lambda: F.layer_norm(x, (c,), weight, weight)] * 4, 2 * size)
        measure("rmsnorm", "bf16", f"{r} {c}", [lambda: F.rms_norm(x, (c,), weight)] * 4, 2 * size)
        measure("gelu", "bf16", f"{r} {c}", [lambda: F.gelu(x)] * 4, 2 * size)
        measure("silu mul", "bf16", f"{r} {c}", [lambda: F.silu(x) * x] * 4, 5 * size)
        measure("cast fp32", "bf16", f"{r} {c}", [lambda: x.float()] * 4, 3 * size)
        measure("transpose", "bf16", f"{r} {c}", [lambda: x.t().contiguous()] * 4, 2 * size)
        measure("amax", "bf16", f"{r} {c}", [lambda: x.abs().amax()] * 4, 3 * size)
        measure("cast fp8", "bf16", f"{r} {c}", [lambda: x.to(torch.float8_e4m3fn)] * 4, 1.5 * size)
        measure("norm of gradients", "bf16", f"{r} {c}", [lambda: torch.linalg.vector_norm(x)] * 4, size)
    for tokens, vocabulary in ((4096, 50304), (8192, 128256)):
        logits = randn(tokens, vocabulary).requires_grad_()
        labels = torch.randint(0, vocabulary, (tokens,), device=DEVICE)
        measure("cross entropy forward", "bf16", f"{tokens} {vocabulary}", [lambda: F.cross_entropy(logits.float(), labels)] * 2, 0)

        def both():
            torch.autograd.grad(F.cross_entropy(logits.float(), labels), logits)
        measure("cross entropy both", "bf16", f"{tokens} {vocabulary}", [both] * 2, 0)


def optimizers():
    for dtype in (torch.float32, BF16):
        for count, each in ((1, 1 << 20), (1, 1 << 26), (100, 1 << 20), (290, 4 << 20)):
            parameters = [torch.nn.Parameter(randn(each, dtype=dtype)) for _ in range(count)]
            for p in parameters:
                p.grad = torch.randn_like(p)
            for kind in ("fused", "foreach"):
                optimizer = torch.optim.AdamW(parameters, lr=1e-4, **{kind: True}, capturable=True)
                optimizer.step()
                width = 4 if dtype == torch.float32 else 2
                measure(f"adamw {kind}", str(dtype)[6:], f"{count} {each}", [optimizer.step] * 2, 7 * width * count * each)


def attentions():
    for b, heads, kv, seq, dim in ((8, 16, 16, 1024, 64), (4, 32, 8, 2048, 128), (2, 32, 8, 4096, 128), (1, 32, 8, 8192, 128), (1, 64, 8, 16384, 128),
                                   (1, 16, 16, 32768, 64), (16, 25, 25, 1024, 64), (4, 128, 128, 2048, 128)):
        q = randn(b, heads, seq, dim).requires_grad_()
        k, v = (randn(b, kv, seq, dim).requires_grad_() for _ in range(2))
        g = randn(b, heads, seq, dim)
        flops = 2 * 2 * b * heads * seq * seq * dim / 2
        from torch.nn.attention import SDPBackend, sdpa_kernel
        for name, backend in (("flash2", SDPBackend.FLASH_ATTENTION), ("cudnn", SDPBackend.CUDNN_ATTENTION)):
            def forward():
                with sdpa_kernel(backend):
                    return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=heads != kv)

            def both():
                torch.autograd.grad(forward(), (q, k, v), g)
            with torch.no_grad():
                measure(f"attention {name} forward", "bf16", f"{b} {heads} {kv} {seq} {dim}", [forward] * 2, 0, flops)
            measure(f"attention {name} both", "bf16", f"{b} {heads} {kv} {seq} {dim}", [both] * 2, 0, 3.5 * flops)


for part in (products, layouts, attentions, grouped, vectors, optimizers, embeddings, convolutions):
    began = time.time()
    try:
        part()
    except Exception as error:
        report(part.__name__, error)
    torch.cuda.empty_cache()
    print(part.__name__, f"{time.time() - began:.1f} s", flush=True)
