"""What the measuring programs of one GPU share: events, tables, background loads, parts of the GPU."""
import csv
import os
import statistics
import sys
import time

import torch

DEVICE = torch.device("cuda")
OUT = os.environ.get("OUT", ".")


def table(name, columns):
    """A CSV file in OUT that is written row by row, so that what was measured survives an error."""
    file = open(os.path.join(OUT, name), "w", newline="")
    writer = csv.DictWriter(file, columns)
    writer.writeheader()

    def add(**row):
        writer.writerow({key: (f"{value:.6g}" if isinstance(value, float) else value) for key, value in row.items()})
        file.flush()

    return add


def event():
    return torch.cuda.Event(enable_timing=True)


def each(call, repeats, stream=None):
    """Milliseconds of each of `repeats` calls on a stream, by events between them."""
    with torch.cuda.stream(stream or torch.cuda.current_stream()):
        marks = [event() for _ in range(repeats + 1)]
        marks[0].record()
        for mark in marks[1:]:
            call()
            mark.record()
    marks[-1].synchronize()  # not the device: what runs beside goes on until it is stopped
    return [a.elapsed_time(b) for a, b in zip(marks, marks[1:])]


def replay_ms(graph, replays, pause=0.0):
    """Median milliseconds of a graph, after one replay that does not count."""
    graph.replay()
    torch.cuda.synchronize()
    times = []
    for _ in range(replays):
        start, end = event(), event()
        start.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
        time.sleep(pause)
    return statistics.median(times)


def graph_ms(calls, replays=7):
    """Median milliseconds of one of `calls`, replayed as a graph: no host, no launch beyond the device's."""
    for call in calls:
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for call in calls:
            call()
    return replay_ms(graph, replays) / len(calls)


def parts_of_gpu(count):
    """Streams of two disjoint parts of the GPU: `count` SMs (or the next number that it allows), and the others."""
    from cuda.bindings import driver

    def checked(result):
        if int(result[0]) != 0:
            raise RuntimeError(str(result[0]))
        return result[1] if len(result) == 2 else result[1:]

    device = checked(driver.cuDeviceGet(0))
    whole = checked(driver.cuDeviceGetDevResource(device, driver.CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM))
    groups, _, rest = checked(driver.cuDevSmResourceSplitByCount(1, whole, 0, count))
    streams = []
    for part in (groups[0], rest):
        if part.sm.smCount == 0:
            continue
        description = checked(driver.cuDevResourceGenerateDesc([part], 1))
        context = checked(driver.cuGreenCtxCreate(description, device, driver.CUgreenCtxCreate_flags.CU_GREEN_CTX_DEFAULT_STREAM))
        stream = checked(driver.cuGreenCtxStreamCreate(context, driver.CUstream_flags.CU_STREAM_NON_BLOCKING, 0))
        streams.append((part.sm.smCount, torch.cuda.ExternalStream(int(stream))))
    return streams


COPY = r"""
extern "C" __global__ void __launch_bounds__(512, 1)
copy_until(const uint4* from, uint4* to, unsigned long long elements, volatile int* stop,
           unsigned long long* moved, unsigned long long limit_ns) {
  unsigned long long begin;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  const unsigned long long share = elements / gridDim.x;
  const uint4* f = from + share * blockIdx.x;
  uint4* t = to + share * blockIdx.x;
  const unsigned long long step = 512ull * 4;
  unsigned long long rounds = 0, now = begin, at = 0;
  while (true) {
    uint4 v[4] = {};
    #pragma unroll
    for (int i = 0; i < 4; ++i) if (READS) v[i] = LOAD(f + at + threadIdx.x + 512 * i);
    #pragma unroll
    for (int i = 0; i < 4; ++i) if (WRITES || v[i].x == 77) STORE(t + at + threadIdx.x + 512 * i, v[i]);
    at += step;
    if (at + step > (RESIDENT ? 2 * step : share)) at = 0;
    if ((++rounds & 63) == 0) {
      __shared__ int ends;
      __syncthreads();
      if (threadIdx.x == 0) {
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
        ends = *stop || now - begin > limit_ns;
      }
      __syncthreads();
      if (ends) break;
    }
  }
  if (threadIdx.x == 0) {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    moved[2 * blockIdx.x] = rounds * step * 16;
    moved[2 * blockIdx.x + 1] = now - begin;
  }
}
"""


# What blocks do until they are stopped: copy past the caches or through them, only read, only write, or read the same
# 64 KiB each again and again, which the L2 holds.
WAYS = {
    "copy": "-DREADS=1 -DWRITES=1 -DRESIDENT=0 -DLOAD=__ldcs -DSTORE=__stcs",
    "copy_cached": "-DREADS=1 -DWRITES=1 -DRESIDENT=0 -DLOAD=__ldcg -DSTORE=__stcg",
    "read": "-DREADS=1 -DWRITES=0 -DRESIDENT=0 -DLOAD=__ldcs -DSTORE=__stcs",
    "write": "-DREADS=0 -DWRITES=1 -DRESIDENT=0 -DLOAD=__ldcs -DSTORE=__stcs",
    "read_l2": "-DREADS=1 -DWRITES=0 -DRESIDENT=1 -DLOAD=__ldcg -DSTORE=__stcg",
    "write_l2": "-DREADS=0 -DWRITES=1 -DRESIDENT=1 -DLOAD=__ldcg -DSTORE=__stcg",
}


class Copies:
    """Blocks of 512 threads that copy HBM to HBM, 32 KiB in flight each, until they are stopped: as channels do."""

    def __init__(self, limit_ms=60.0, way="copy"):
        import cupy
        self.cupy = cupy
        self.kernel = cupy.RawKernel(COPY, "copy_until", options=("--std=c++17", *WAYS[way].split()))
        self.elements = (1 << 30) // 16
        self.source = cupy.ones(1 << 30, dtype=cupy.uint8)
        self.target = cupy.empty(1 << 30, dtype=cupy.uint8)
        self.flag = torch.zeros(1, dtype=torch.int32, device=DEVICE)
        self.one = torch.ones(1, dtype=torch.int32).pin_memory()
        self.moved = torch.zeros(512, dtype=torch.int64, device=DEVICE)
        self.stopper = torch.cuda.Stream()
        self.limit = int(limit_ms * 1e6)

    def start(self, blocks, stream):
        self.flag.zero_()
        self.moved.zero_()
        torch.cuda.synchronize()
        self.blocks = blocks
        with self.cupy.cuda.ExternalStream(stream.cuda_stream):
            self.kernel((blocks,), (512,), (self.source, self.target, self.cupy.uint64(self.elements),
                                            self.flag.data_ptr(), self.moved.data_ptr(), self.cupy.uint64(self.limit)))

    def stop(self):
        """GB/s read (as many are written), of all blocks."""
        with torch.cuda.stream(self.stopper):
            self.flag.copy_(self.one, non_blocking=True)
        torch.cuda.synchronize()
        rows = self.moved[: 2 * self.blocks].view(-1, 2).cpu().tolist()
        return sum(b / t for b, t in rows if t)


def report(name, error):
    print(f"{name}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr, flush=True)
