"""Kernels on their own SMs beside blocks on others that copy, read, write, or stay within the L2."""
import statistics
import time

import torch

from common import WAYS, Copies, each, parts_of_gpu, report, table
from ten_kernels import KERNELS

LONG_MS = 8.0  # of the kernels beside blocks, so that hardly any of the blocks' time is alone


def median(call, stream, ms=0.0):
    """\param ms of one call, to repeat it for LONG_MS"""
    return statistics.median(each(call, max(9, int(LONG_MS / ms) if ms else 0), stream)[2:])


def main():
    rows = table("neighbours.csv", ["kernel", "way", "blocks", "alone_ms", "together_ms", "way_alone_GB_s", "way_together_GB_s"])
    for way in WAYS:
        beside = Copies(way=way)
        for blocks in (16, 32, 48):
            (_, for_blocks), (_, for_kernel) = parts_of_gpu(blocks)
            beside.start(blocks, for_blocks)
            time.sleep(0.004)
            way_alone = beside.stop()
            for name, call in KERNELS.items():
                try:
                    time.sleep(0.02)
                    alone = median(call, for_kernel)
                    time.sleep(0.02)
                    beside.start(blocks, for_blocks)
                    together = median(call, for_kernel, alone)
                    rows(kernel=name, way=way, blocks=blocks, alone_ms=alone, together_ms=together,
                         way_alone_GB_s=way_alone, way_together_GB_s=beside.stop())
                except Exception as error:
                    report(f"{name} beside {way}", error)


torch.cuda.init()
main()
