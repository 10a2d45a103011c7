"""Latency of a dependent load, from HBM and from the L2, beside blocks that copy, read or write on other SMs."""
import statistics
import time

import cupy
import torch

from common import DEVICE, WAYS, Copies, parts_of_gpu, report, table

CHASE = r"""
extern "C" __global__ void chase(const unsigned* next, unsigned start, int loads, unsigned* end, unsigned long long* ns) {
  unsigned at = start;
  for (int i = 0; i < 64; ++i) at = __ldcg(next + at);
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  for (int i = 0; i < loads; ++i) at = __ldcg(next + at);
  *end = at;
  __threadfence();
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  *ns = now - begin;
}
"""
LINE = 32  # words of 4 bytes
LOADS = 4000


def ring(megabytes):
    """A random cycle through every line."""
    lines = (megabytes << 20) // 128
    order = torch.randperm(lines, device=DEVICE)
    following = torch.empty(lines, dtype=torch.int64, device=DEVICE)
    following[order] = order.roll(-1)
    words = torch.zeros(lines * LINE, dtype=torch.int32, device=DEVICE)
    words[:: LINE] = (following * LINE).to(torch.int32)
    return words


def main():
    rows = table("latency.csv", ["from", "way", "blocks", "ns", "rate_GB_s"])
    kernel = cupy.RawKernel(CHASE, "chase")
    rings = {"hbm": ring(1024), "l2": ring(1)}
    out = torch.zeros(4, dtype=torch.int64, device=DEVICE)

    def latency(name, stream, start):
        with cupy.cuda.ExternalStream(stream.cuda_stream):
            kernel((1,), (1,), (rings[name].data_ptr(), cupy.uint32(start * LINE), LOADS, out.data_ptr(), out.data_ptr() + 8))
        stream.synchronize()
        return out[1].item() / LOADS

    for way in WAYS:
        beside = Copies(way=way)
        for blocks in (0, 8, 16, 24, 32, 40, 48, 64, 80, 96, 112):
            (_, for_blocks), (_, for_chase) = parts_of_gpu(max(8, blocks))
            for name in rings:
                found, rates = [], []
                for sample in range(5):
                    if blocks:
                        beside.start(blocks, for_blocks)
                        time.sleep(0.0003)
                    found.append(latency(name, for_chase, 1000 * sample + 17 * blocks))
                    rates.append(beside.stop() if blocks else 0.0)
                rows(way=way, blocks=blocks, ns=statistics.median(found), rate_GB_s=statistics.median(rates), **{"from": name})


try:
    main()
except Exception as error:
    report("latency", error)
