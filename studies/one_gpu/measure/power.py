"""Streams of one kernel for seconds after a rest: time of an iteration, core clock and board power by time since its start."""
import threading
import time

import pynvml
import torch

from common import DEVICE, event, report, table

BF16, HALF = torch.bfloat16, torch.float16


def gemm(m, n, k, dtype=BF16):
    a = torch.randn(m, k, device=DEVICE, dtype=dtype)
    b = torch.randn(n, k, device=DEVICE, dtype=dtype)
    c = torch.empty(m, n, device=DEVICE, dtype=dtype)
    return lambda: torch.mm(a, b.t(), out=c)


def fp8(m, n, k):
    a = torch.randn(m, k, device=DEVICE).to(torch.float8_e4m3fn)
    b = torch.randn(n, k, device=DEVICE).to(torch.float8_e4m3fn)
    one = torch.ones((), device=DEVICE)
    return lambda: torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=BF16)


def attention(backward):
    q, k, v = (torch.randn(2, 32, 4096, 128, device=DEVICE, dtype=BF16, requires_grad=backward) for _ in range(3))
    g = torch.randn(2, 32, 4096, 128, device=DEVICE, dtype=BF16)

    def call():
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        if backward:
            torch.autograd.grad(out, (q, k, v), g)
    return call


def add(rows, cols):
    x, y, z = (torch.randn(rows, cols, device=DEVICE, dtype=BF16) for _ in range(3))
    return lambda: torch.add(x, y, out=z)


def alternating(rest_us):
    product = gemm(8192, 8192, 8192)
    stream = add(16384, 8192)

    def call():
        product()
        for _ in range(rest_us):
            stream()
    return call


def main():
    pynvml.nvmlInit()
    board = pynvml.nvmlDeviceGetHandleByIndex(0)
    print("limit W", pynvml.nvmlDeviceGetEnforcedPowerLimit(board) / 1e3, "max SM MHz", pynvml.nvmlDeviceGetMaxClockInfo(board, pynvml.NVML_CLOCK_SM),
          "memory MHz", pynvml.nvmlDeviceGetClockInfo(board, pynvml.NVML_CLOCK_MEM), flush=True)
    kernels = {
        "gemm bf16 8192 8192 8192": gemm(8192, 8192, 8192), "gemm bf16 4096 4096 4096": gemm(4096, 4096, 4096),
        "gemm bf16 2048 2048 2048": gemm(2048, 2048, 2048), "gemm bf16 8192 8192 1024": gemm(8192, 8192, 1024),
        "gemm bf16 128 8192 8192": gemm(128, 8192, 8192), "gemm bf16 8192 28672 8192": gemm(8192, 28672, 8192),
        "gemm fp32 8192 8192 8192": gemm(8192, 8192, 8192, torch.float32),
        "gemm fp8 8192 8192 8192": fp8(8192, 8192, 8192), "attention forward 2 32 4096 128": attention(False),
        "attention both 2 32 4096 128": attention(True), "add 16384 8192": add(16384, 8192),
        "gemm and add 1 4": alternating(4), "gemm and add 1 12": alternating(12),
    }
    times = table("sustained.csv", ["kernel", "since_ms", "each_ms"])
    states = table("board.csv", ["kernel", "since_ms", "sm_mhz", "power_w", "temperature"])
    for name, call in kernels.items():
        call()
        torch.cuda.synchronize()
        time.sleep(1.5)
        begin, first = event(), event()
        begin.record()
        for _ in range(3):
            call()
        first.record()
        torch.cuda.synchronize()
        each = max(begin.elapsed_time(first) / 3, 0.01)
        inner = max(1, int(2.0 / each))
        chunks = int(2500.0 / (inner * each))
        samples, done = [], threading.Event()

        def watch(samples=samples, done=done):
            while not done.is_set():
                value = pynvml.nvmlDeviceGetFieldValues(board, [pynvml.NVML_FI_DEV_POWER_INSTANT])[0].value.uiVal
                samples.append((time.perf_counter(), pynvml.nvmlDeviceGetClockInfo(board, pynvml.NVML_CLOCK_SM), value / 1e3,
                                pynvml.nvmlDeviceGetTemperature(board, 0)))
                time.sleep(0.004)
        time.sleep(1.5)
        watcher = threading.Thread(target=watch)
        watcher.start()
        time.sleep(0.05)
        origin = event()
        marks = [event() for _ in range(chunks)]
        start = time.perf_counter()
        origin.record()
        for i, mark in enumerate(marks):
            for _ in range(inner):
                call()
            mark.record()
            if i % 16 == 15 and i >= 32:
                marks[i - 32].synchronize()
        torch.cuda.synchronize()
        done.set()
        watcher.join()
        before = 0.0
        for mark in marks:
            now = origin.elapsed_time(mark)
            times(kernel=name, since_ms=now, each_ms=(now - before) / inner)
            before = now
        for at, mhz, watts, heat in samples:
            states(kernel=name, since_ms=(at - start) * 1e3, sm_mhz=mhz, power_w=watts, temperature=heat)


if __name__ == "__main__":
    try:
        main()
    except Exception as error:
        report("power", error)
