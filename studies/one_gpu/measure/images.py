"""Training steps of networks of images in pure fp16: eager code, channels last, SGD with momentum."""
import gc
import json
import os
import statistics
import time

import torch
import torchvision

from common import DEVICE, OUT, event, report, table

NETWORKS = {"resnet-50": ("resnet50", 224), "vgg-16": ("vgg16", 224), "inception-v3": ("inception_v3", 299)}


def run(network, batch, rows):
    name, side = NETWORKS[network]
    extra = {"aux_logits": False, "init_weights": False} if network == "inception-v3" else {}
    torch.manual_seed(1)
    model = getattr(torchvision.models, name)(weights=None, **extra).to(DEVICE, torch.float16, memory_format=torch.channels_last).train()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6, momentum=0.9, fused=True)
    x = torch.randn(batch, 3, side, side, device=DEVICE, dtype=torch.float16).to(memory_format=torch.channels_last)
    y = torch.randint(0, 1000, (batch,), device=DEVICE)

    def step():
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    for _ in range(5):
        step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    began, marks, host = time.perf_counter(), [event()], []
    marks[0].record()
    while time.perf_counter() - began < 5.0:
        before = time.perf_counter()
        step()
        host.append(1e3 * (time.perf_counter() - before))
        marks.append(event())
        marks[-1].record()
        if len(marks) > 3:
            marks[-3].synchronize()
    torch.cuda.synchronize()
    times = [a.elapsed_time(b) for a, b in zip(marks, marks[1:])]
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiled:
        step()
        torch.cuda.synchronize()
    kernels = {}
    for e in profiled.events():
        if str(e.device_type).endswith("CUDA"):
            k = kernels.setdefault(e.name, [0, 0.0])
            k[0] += 1
            k[1] += e.time_range.elapsed_us()
    rows(network=network, batch=batch, ms=statistics.median(times[len(times) // 2:]), host_ms=min(host), kernels=sum(k[0] for k in kernels.values()),
         busy_ms=sum(k[1] for k in kernels.values()) / 1e3, allocated_gb=torch.cuda.max_memory_allocated() / 1e9)
    with open(os.path.join(OUT, "image_kernels.jsonl"), "a") as file:
        file.write(json.dumps(dict(network=network, batch=batch, kernels=sorted(([n[:160], *v] for n, v in kernels.items()), key=lambda v: -v[2])[:40])) + "\n")


def main():
    torch.backends.cudnn.benchmark = True
    rows = table("images.csv", ["network", "batch", "ms", "host_ms", "kernels", "busy_ms", "allocated_gb"])
    for network in NETWORKS:
        for batch in (32, 64, 256):
            try:
                run(network, batch, rows)
            except Exception as error:
                report(f"{network} {batch}", error)
            gc.collect()
            torch.cuda.empty_cache()


main()
