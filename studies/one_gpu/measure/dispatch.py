"""Kernels that fill an SM with each block and do nothing for a while, on 1 to 16 streams: how many run at once."""
import cupy
import torch

from common import replay_ms, report, table

SPIN = r"""
extern "C" __global__ void __launch_bounds__(384, 1) spin(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {}
}
"""
KERNELS = 64
SHARED = 200 * 1024  # bytes: no second block finds room on an SM
GHZ = 1.98


def graph_of(kernel, streams, blocks, ns):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        root = torch.cuda.current_stream()
        others = [torch.cuda.Stream() for _ in range(streams)]
        for stream in others:
            stream.wait_stream(root)
            with cupy.cuda.ExternalStream(stream.cuda_stream):
                for _ in range(KERNELS // streams):
                    kernel((blocks,), (384,), (cupy.int64(ns * GHZ),), shared_mem=SHARED)
        for stream in others:
            root.wait_stream(stream)
    return graph


def main():
    rows = table("dispatch.csv", ["blocks", "ns", "streams", "us_each"])
    kernel = cupy.RawKernel(SPIN, "spin")
    kernel.max_dynamic_shared_size_bytes = SHARED
    kernel((1,), (384,), (cupy.int64(10),), shared_mem=SHARED)
    torch.cuda.synchronize()
    for blocks in (1, 16, 44, 66, 88, 128, 132):
        for ns in (0, 1000, 5000, 20000):
            for streams in (1, 2, 4, 8, 16):
                rows(blocks=blocks, ns=ns, streams=streams, us_each=1e3 * replay_ms(graph_of(kernel, streams, blocks, ns), 9) / KERNELS)


try:
    main()
except Exception as error:
    report("dispatch", error)
