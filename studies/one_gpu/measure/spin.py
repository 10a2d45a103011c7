"""Kernels beside blocks that hold SMs and touch no memory; which SMs those are; names and grids of the kernels."""
import json
import statistics
import time

import torch

from common import DEVICE, OUT, each, report, table
from ten_kernels import KERNELS

SPIN = r"""
extern "C" __global__ void __launch_bounds__(512, 1)
hold(volatile int* stop, int* where, unsigned long long limit_ns) {
  extern __shared__ char held[];
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  int id;
  asm volatile("mov.u32 %0, %smid;" : "=r"(id));
  if (threadIdx.x == 0) { where[blockIdx.x] = id; held[0] = 1; }
  while (true) {
    __nanosleep(500);
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    if (*stop || now - begin > limit_ns) break;
  }
}
"""


def main():
    import cupy
    kernel = cupy.RawKernel(SPIN, "hold")
    kernel.max_dynamic_shared_size_bytes = 200 * 1024
    flag = torch.zeros(1, dtype=torch.int32, device=DEVICE)
    one = torch.ones(1, dtype=torch.int32).pin_memory()
    where = torch.full((256,), -1, dtype=torch.int32, device=DEVICE)
    stopper, stream, other = torch.cuda.Stream(), torch.cuda.Stream(), torch.cuda.Stream()
    rows = table("held.csv", ["kernel", "held", "alone_ms", "together_ms"])
    places = open(f"{OUT}/held_sms.txt", "w")
    for held in (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32, 36, 48, 64, 96):
        for name, call in KERNELS.items():
            time.sleep(0.01)
            alone = statistics.median(each(call, 9, other)[2:])
            time.sleep(0.01)
            flag.zero_()
            torch.cuda.synchronize()
            with cupy.cuda.ExternalStream(stream.cuda_stream):
                kernel((held,), (512,), (flag.data_ptr(), where.data_ptr(), cupy.uint64(60_000_000)), shared_mem=200 * 1024)
            time.sleep(0.0005)
            marks = [torch.cuda.Event(enable_timing=True) for _ in range(8)]
            with torch.cuda.stream(other):
                marks[0].record()
                for mark in marks[1:]:
                    call()
                    mark.record()
            marks[-1].synchronize()
            with torch.cuda.stream(stopper):
                flag.copy_(one, non_blocking=True)
            torch.cuda.synchronize()
            times = [a.elapsed_time(b) for a, b in zip(marks, marks[1:])]
            rows(kernel=name, held=held, alone_ms=alone, together_ms=statistics.median(times[1:]))
        places.write(f"{held}: {where[:held].tolist()}\n")
        places.flush()
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as profiled:
        for call in KERNELS.values():
            call()
        torch.cuda.synchronize()
    profiled.export_chrome_trace(f"{OUT}/trace.json")
    with open(f"{OUT}/grids.txt", "w") as file:
        for event in json.load(open(f"{OUT}/trace.json"))["traceEvents"]:
            if event.get("cat") == "kernel":
                a = event["args"]
                file.write(f"{event['name'][:90]} grid {a.get('grid')} block {a.get('block')} shared {a.get('shared memory')} registers {a.get('registers per thread')} us {event['dur']}\n")


try:
    main()
except Exception as error:
    report("spin", error)
