"""Kernels on their own SMs beside blocks on others that copy, read, write, or stay within the L2."""
import statistics
import time

import torch

from common import WAYS, Copies, each, parts_of_gpu, report, table
from ten_kernels import KERNELS

REPEATS = 9


def median(call, stream):
    return statistics.median(each(call, REPEATS, stream)[2:])


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
                    together = median(call, for_kernel)
                    rows(kernel=name, way=way, blocks=blocks, alone_ms=alone, together_ms=together,
                         way_alone_GB_s=way_alone, way_together_GB_s=beside.stop())
                except Exception as error:
                    report(f"{name} beside {way}", error)


torch.cuda.init()
main()
