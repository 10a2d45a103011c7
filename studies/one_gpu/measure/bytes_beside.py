"""HBM's bytes of products beside blocks, for a profiler of hardware counters over ranges (probe.sh): writes what it ran,
in the order of the ranges, to $OUT/ranges.csv."""
import time

import torch

from common import Copies, parts_of_gpu, table
from ten_kernels import KERNELS

REPEATS = 8


def run(beside, blocks, streams, call):
    for_blocks, for_kernel = streams
    with torch.cuda.stream(for_kernel):
        call()
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    if beside:
        beside.start(blocks, for_blocks)
    with torch.cuda.stream(for_kernel):
        for _ in range(REPEATS):
            call()
        end = torch.cuda.Event()
        end.record()
    end.synchronize()
    moved = 0
    if beside:
        beside.stop()
        moved = sum(beside.moved[: 2 * blocks].view(-1, 2)[:, 0].tolist())
    torch.cuda.synchronize()
    torch.cuda.profiler.stop()
    return moved


def main():
    rows = table("ranges.csv", ["kernel", "way", "blocks", "repeats", "blocks_GB"])
    ways = {way: Copies(way=way) for way in ("copy", "read", "write")}
    for blocks, way in ((32, None), (16, "copy"), (32, "copy"), (32, "read"), (32, "write")):
        (_, for_blocks), (_, for_kernel) = parts_of_gpu(blocks)
        for name, call in KERNELS.items():
            moved = run(ways.get(way), blocks, (for_blocks, for_kernel), call)
            rows(kernel=name, way=way or "alone", blocks=blocks, repeats=REPEATS, blocks_GB=moved / 1e9)
            time.sleep(0.01)


main()
