"""Products for a minute, from a cool GPU on: time of one, core clock, board power and temperature by seconds; then other kernels while it is hot."""
import sys
import time

import pynvml
import torch

from common import DEVICE, event, table
from power import add, attention, fp8, gemm


class Board:
    def __init__(self):
        pynvml.nvmlInit()
        self.handle = pynvml.nvmlDeviceGetHandleByIndex(0)

    def name(self):
        """Tells two GPUs of one type apart, without naming either: the end of its serial identity."""
        return pynvml.nvmlDeviceGetUUID(self.handle)[-6:]

    def state(self):
        field = pynvml.nvmlDeviceGetFieldValues(self.handle, [pynvml.NVML_FI_DEV_POWER_INSTANT, pynvml.NVML_FI_DEV_MEMORY_TEMP])
        return {"sm_mhz": pynvml.nvmlDeviceGetClockInfo(self.handle, pynvml.NVML_CLOCK_SM), "power_w": field[0].value.uiVal / 1e3,
                "temperature": pynvml.nvmlDeviceGetTemperature(self.handle, 0), "memory_temperature": field[1].value.uiVal}


def run_hot(board, write, name, call, seconds, window_ms=250.0):
    """Rows of one kernel back to back: each the mean of a window, and the board's state as the window ends."""
    call()
    torch.cuda.synchronize()
    begin, end = event(), event()
    begin.record()
    call()
    end.record()
    torch.cuda.synchronize()
    inner = max(1, int(window_ms / begin.elapsed_time(end)))
    since = time.perf_counter()
    marks = [event()]
    marks[0].record()
    while time.perf_counter() - since < seconds:
        for _ in range(inner):
            call()
        marks.append(event())
        marks[-1].record()
        if len(marks) > 2:  # the next window is queued before the last one ends, so that the GPU never rests
            marks[-2].synchronize()
            write(gpu=board.name(), kernel=name, since_s=time.perf_counter() - since,
                  each_ms=marks[-3].elapsed_time(marks[-2]) / inner, **board.state())
    torch.cuda.synchronize()


def main():
    board = Board()
    columns = ["gpu", "kernel", "since_s", "each_ms", "sm_mhz", "power_w", "temperature", "memory_temperature"]
    write = table("heat.csv", columns)
    print(board.name(), board.state(), flush=True)
    product = gemm(8192, 8192, 8192)
    run_hot(board, write, "gemm bf16 8192 8192 8192", product, float(sys.argv[1]))
    for name, call in {"gemm fp8 8192 8192 8192": fp8(8192, 8192, 8192), "attention forward 2 32 4096 128": attention(False),
                       "gemm bf16 128 8192 8192": gemm(128, 8192, 8192), "add 16384 8192": add(16384, 8192)}.items():
        run_hot(board, write, name, call, 4.0)
    print(board.state(), flush=True)


main()
