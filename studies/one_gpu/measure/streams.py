"""Kernels beside kernels on streams of one GPU, from graphs: one after another, and at once."""
import torch

from common import DEVICE, replay_ms, report, table


def gemm(m, n, k, batch=None):
    shape = (lambda x, y: (x, y)) if batch is None else (lambda x, y: (batch, x, y))
    a = torch.randn(*shape(m, k), device=DEVICE, dtype=torch.bfloat16)
    b = torch.randn(*shape(n, k), device=DEVICE, dtype=torch.bfloat16)
    c = torch.empty(*shape(m, n), device=DEVICE, dtype=torch.bfloat16)
    if batch is None:
        return lambda: torch.mm(a, b.t(), out=c)
    return lambda: torch.bmm(a, b.transpose(1, 2), out=c)


def graph_of(lists, at_once):
    streams = [torch.cuda.Stream() for _ in lists]
    for calls in lists:
        for call in calls:
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        root = torch.cuda.current_stream()
        if not at_once:
            for calls in lists:
                for call in calls:
                    call()
        else:
            for stream, calls in zip(streams, lists):
                stream.wait_stream(root)
                with torch.cuda.stream(stream):
                    for call in calls:
                        call()
            for stream in streams:
                root.wait_stream(stream)
    return graph


def milliseconds(graph):
    return replay_ms(graph, 9, pause=0.002)


def equal_products():
    rows = table("equal.csv", ["m", "n", "k", "degree", "each", "serial_ms", "at_once_ms"])
    shapes = [(256, 256, 256), (512, 512, 512), (256, 1024, 1024), (1024, 1024, 1024), (128, 4096, 4096), (64, 4096, 1024),
              (1024, 1024, 4096), (2048, 2048, 2048), (512, 4096, 4096), (2048, 4096, 1024), (4096, 4096, 1024), (1024, 8192, 8192),
              (4096, 4096, 4096), (384, 3072, 768), (1536, 1536, 1536), (640, 640, 2560), (32, 4096, 4096), (256, 14336, 4096)]
    for m, n, k in shapes:
        repeats = 8 if 2 * m * n * k < 2e10 else 3
        for degree in (2, 4, 8, 16):
            if degree * (m * k + n * k + m * n) * 2 > 4e9:
                continue
            lists = [[gemm(m, n, k)] * repeats for _ in range(degree)]
            try:
                rows(m=m, n=n, k=k, degree=degree, each=repeats, serial_ms=milliseconds(graph_of(lists, False)),
                     at_once_ms=milliseconds(graph_of(lists, True)))
            except Exception as error:
                report(f"{m} {n} {k} x {degree}", error)


def mixed():
    rows = table("mixed.csv", ["first", "second", "first_ms", "second_ms", "serial_ms", "at_once_ms"])
    q = [torch.randn(2, 32, 4096, 128, device=DEVICE, dtype=torch.bfloat16) for _ in range(3)]
    x, y, z = (torch.randn(16384, 8192, device=DEVICE, dtype=torch.bfloat16) for _ in range(3))
    s = torch.randn(32768, 4096, device=DEVICE, dtype=torch.bfloat16)
    sides = {
        "gemm 4096 4096 4096": (gemm(4096, 4096, 4096), 6),
        "gemm 8192 8192 8192": (gemm(8192, 8192, 8192), 1),
        "gemm 128 8192 8192": (gemm(128, 8192, 8192), 20),
        "gemm 1024 1024 1024": (gemm(1024, 1024, 1024), 60),
        "attention 2 32 4096 128": (lambda: torch.nn.functional.scaled_dot_product_attention(*q, is_causal=True), 2),
        "add 16384 8192": (lambda: torch.add(x, y, out=z), 4),
        "softmax 32768 4096": (lambda: torch.softmax(s, -1), 6),
    }
    names = list(sides)
    for i, first in enumerate(names):
        for second in names[i + 1:]:
            lists = [[sides[name][0]] * sides[name][1] for name in (first, second)]
            try:
                rows(first=f"{first} x {sides[first][1]}", second=f"{second} x {sides[second][1]}",
                     first_ms=milliseconds(graph_of(lists[:1], False)), second_ms=milliseconds(graph_of(lists[1:], False)),
                     serial_ms=milliseconds(graph_of(lists, False)), at_once_ms=milliseconds(graph_of(lists, True)))
            except Exception as error:
                report(f"{first} beside {second}", error)


equal_products()
mixed()
