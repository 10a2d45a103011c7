#!/usr/bin/env bash
# Measures one NVIDIA GPU and writes what it finds to $OUT. Needs PyTorch, CuPy, cuda-bindings and pynvml; probe.sh also
# nvcc and ncu. Each argument is a program of this folder, the seconds after which it is cut off, and its own argument:
#   OUT=raw ./run.sh partitions:150: streams:60: power:110: kernels:220: steps:230:215
set -uo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
OUT=$(realpath -m -- "${OUT:?is the folder for what is measured}")
export OUT PYTHONUNBUFFERED=1
mkdir -p -- "$OUT"
{
  nvidia-smi --query-gpu=name,driver_version,power.limit,clocks.max.sm,clocks.max.mem,pcie.link.gen.current,pcie.link.width.current --format=csv
  lscpu | grep -E 'Model name|^CPU\(s\)|MHz'
  python3 -c 'import torch; print(torch.__version__, torch.version.cuda, torch.backends.cudnn.version())'
} 2>&1 | tee "$OUT/machine.txt"
for part in "$@"; do
  IFS=: read -r program seconds argument <<<"$part"
  printf '== %s, %s\n' "$program" "$(date +%T)"
  timeout "$seconds" python3 "$program.py" ${argument:+"$argument"} || printf '%s ended with %s\n' "$program" "$?"
done
