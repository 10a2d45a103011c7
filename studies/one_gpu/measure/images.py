"""Training steps of networks of images by torchvision: fp16 by autocast in channels last, and fp32; eager, and replayed from a graph."""
import gc
import json
import os
import statistics
import sys
import time

import torch
import torchvision

from common import DEVICE, OUT, event, replay_ms, report, table

NETWORKS = {"resnet-50": ("resnet50", 224), "vgg-16": ("vgg16", 224), "inception-v3": ("inception_v3", 299)}
BATCHES = (32, 128, 256)
SECOND_CLASSIFIER = 0.4  # its part of Inception's loss


def model_of(network, layout):
    name, _ = NETWORKS[network]
    extra = {"aux_logits": True, "init_weights": False} if network == "inception-v3" else {}
    model = getattr(torchvision.models, name)(weights=None, **extra)
    return model.to(DEVICE, memory_format=torch.channels_last if layout == "nhwc" else torch.contiguous_format).train()


def step_of(network, dtype, layout, batch):
    model = model_of(network, layout)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6, momentum=0.9)
    side = NETWORKS[network][1]
    x = torch.randn(batch, 3, side, side, device=DEVICE).to(torch.float16 if dtype == "fp16" else torch.float32)
    x = x.to(memory_format=torch.channels_last if layout == "nhwc" else torch.contiguous_format)
    y = torch.randint(0, 1000, (batch,), device=DEVICE)

    def step():
        with torch.autocast("cuda", torch.float16, enabled=dtype == "fp16"):
            out = model(x)
            loss = torch.nn.functional.cross_entropy(out[0] if isinstance(out, tuple) else out, y)
            if isinstance(out, tuple):
                loss = loss + SECOND_CLASSIFIER * torch.nn.functional.cross_entropy(out[1], y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def eager(step, seconds):
    """Median time of the later half of the steps, and the host's least time to issue one."""
    began, marks, host = time.perf_counter(), [event()], []
    marks[0].record()
    while time.perf_counter() - began < seconds:
        before = time.perf_counter()
        step()
        host.append(1e3 * (time.perf_counter() - before))
        marks.append(event())
        marks[-1].record()
        if len(marks) > 3:
            marks[-3].synchronize()
    torch.cuda.synchronize()
    times = [a.elapsed_time(b) for a, b in zip(marks, marks[1:])]
    return statistics.median(times[len(times) // 2:]), min(host)


def kernels_of(step):
    """Number and microseconds of each kernel of one step."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiled:
        step()
        torch.cuda.synchronize()
    found = {}
    for e in profiled.events():
        if str(e.device_type).endswith("CUDA"):
            kernel = found.setdefault(e.name, [0, 0.0])
            kernel[0] += 1
            kernel[1] += e.time_range.elapsed_us()
    return found


def graph_of(step):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(2):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph


def run(network, dtype, layout, batch, rows):
    torch.manual_seed(1)
    step = step_of(network, dtype, layout, batch)
    for _ in range(4):
        step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    ms, host_ms = eager(step, 2.0)
    allocated = torch.cuda.max_memory_allocated()
    kernels = kernels_of(step)
    row = dict(network=network, dtype=dtype, layout=layout, batch=batch, ms=ms, host_ms=host_ms, kernels=sum(k[0] for k in kernels.values()),
               busy_ms=sum(k[1] for k in kernels.values()) / 1e3, allocated_gb=allocated / 1e9)
    with open(os.path.join(OUT, "image_kernels.jsonl"), "a") as file:
        file.write(json.dumps(dict(network=network, dtype=dtype, batch=batch, kernels=sorted(([n[:160], *v] for n, v in kernels.items()), key=lambda v: -v[2])[:60])) + "\n")
    try:
        row["graph_ms"] = replay_ms(graph_of(step), max(10, int(1000 / ms)))
    except Exception as error:
        report(f"graph of {network} {batch}", error)
    rows(**row)


def main():
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    budget = time.time() + float(sys.argv[1])
    rows = table("images.csv", ["network", "dtype", "layout", "batch", "ms", "graph_ms", "host_ms", "kernels", "busy_ms", "allocated_gb"])
    for dtype, layout in (("fp16", "nhwc"), ("fp32", "nchw")):
        for network in NETWORKS:
            for batch in BATCHES:
                if time.time() > budget or (dtype == "fp32" and batch == BATCHES[-1]):
                    continue
                try:
                    run(network, dtype, layout, batch, rows)
                except Exception as error:
                    report(f"{network} {dtype} {batch}", error)
                gc.collect()
                torch.cuda.empty_cache()


main()
