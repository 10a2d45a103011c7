"""Each kernel twice, for a profiler of hardware counters."""
import torch
from ten_kernels import KERNELS
for call in KERNELS.values():
    call()
    torch.cuda.synchronize()
    call()
    torch.cuda.synchronize()
