"""Kernels on parts of the GPU, alone, and beside copying blocks: partitioned and not."""
import statistics
import time

import torch

from common import DEVICE, Copies, each, parts_of_gpu, report, table
from ten_kernels import KERNELS


REPEATS = 9
LONG_MS = 8.0  # of kernels beside copies, so that hardly any of the copies' time is alone


def median(call, stream=None, repeats=REPEATS):
    return statistics.median(each(call, repeats, stream)[2:])


def alone_on_parts():
    rows = table("parts.csv", ["kernel", "sms", "ms"])
    for count in (8, 16, 32, 48, 64, 80, 96, 104, 112, 120, 124, 128):
        try:
            streams = parts_of_gpu(count)
        except Exception as error:
            report(f"part of {count}", error)
            continue
        for sms, stream in streams[:1]:
            for name, call in KERNELS.items():
                time.sleep(0.01)
                rows(kernel=name, sms=sms, ms=median(call, stream, 5 if sms < 48 else REPEATS))
    for name, call in KERNELS.items():
        time.sleep(0.05)
        rows(kernel=name, sms=132, ms=median(call))


def beside_copies():
    copies = Copies()
    rows = table("beside.csv", ["kernel", "how", "blocks", "sms", "alone_ms", "together_ms", "copy_alone_GB_s", "copy_together_GB_s"])
    free = torch.cuda.Stream()
    for blocks in (1, 2, 4, 8, 16, 24, 32, 48, 64):
        ways = [("shared", blocks, free, torch.cuda.Stream())]
        if blocks >= 8:
            try:
                (part, one), (_, other) = parts_of_gpu(blocks)
                ways.append(("parted", part, one, other))
            except Exception as error:
                report(f"parted {blocks}", error)
        for how, sms, for_copies, for_kernel in ways:
            copies.start(blocks, for_copies)
            time.sleep(0.004)
            copy_alone = copies.stop()
            for name, call in KERNELS.items():
                time.sleep(0.02)
                alone = median(call, for_kernel)
                time.sleep(0.02)
                copies.start(blocks, for_copies)
                together = median(call, for_kernel, max(5, min(100, int(LONG_MS / alone))))
                rows(kernel=name, how=how, blocks=blocks, sms=sms, alone_ms=alone, together_ms=together,
                     copy_alone_GB_s=copy_alone, copy_together_GB_s=copies.stop())


def beside_engines():
    rows = table("engines.csv", ["kernel", "way", "alone_ms", "together_ms", "copy_alone_GB_s", "copy_together_GB_s"])
    size = 256 << 20
    host = [torch.empty(size, dtype=torch.uint8).pin_memory() for _ in range(2)]
    device = [torch.empty(size, dtype=torch.uint8, device=DEVICE) for _ in range(4)]
    ways = {
        "to_host": [(host[0], device[0])],
        "from_host": [(device[1], host[1])],
        "both": [(host[0], device[0]), (device[1], host[1])],
        "within": [(device[2], device[3])],
    }
    for way, pairs in ways.items():
        streams = [torch.cuda.Stream() for _ in pairs]

        def copy(times):
            marks = []
            for (to, source), stream in zip(pairs, streams):
                with torch.cuda.stream(stream):
                    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                    begin.record()
                    for _ in range(times):
                        to.copy_(source, non_blocking=True)
                    end.record()
                    marks.append((begin, end))
            return lambda: sum(times * size / (b.elapsed_time(e) * 1e6) for b, e in marks)

        times = 200 if way == "within" else 8
        rate = copy(times)
        torch.cuda.synchronize()
        copy_alone = rate()
        for name, call in KERNELS.items():
            stream = torch.cuda.Stream()
            time.sleep(0.02)
            alone = median(call, stream)
            rate = copy(times)
            together = median(call, stream)
            torch.cuda.synchronize()
            rows(kernel=name, way=way, alone_ms=alone, together_ms=together, copy_alone_GB_s=copy_alone, copy_together_GB_s=rate())


for part in (alone_on_parts, beside_copies, beside_engines):
    try:
        part()
    except Exception as error:
        report(part.__name__, error)
