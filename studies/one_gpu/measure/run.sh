#!/usr/bin/env bash
# Everything that is measured of one GPU, in less than ten minutes; each part is cut off, not waited for.
cd "$(dirname "$0")"
export PYTHONUNBUFFERED=1
{
  nvidia-smi --query-gpu=name,driver_version,power.limit,clocks.max.sm,clocks.max.mem,pcie.link.gen.current,pcie.link.width.current --format=csv
  lscpu | grep -E 'Model name|^CPU\(s\)|MHz'
  python3 -c 'import torch; print(torch.__version__, torch.version.cuda, torch.backends.cudnn.version())'
} > "$OUT/machine.txt" 2>&1
cat "$OUT/machine.txt"
for part in "$@"; do
  IFS=: read -r file limit argument <<< "$part"
  echo "== $file"; date +%T
  timeout "$limit" python3 "$file.py" $argument 2>&1 | grep -v Warning | tail -40
done
date +%T; wc -l "$OUT"/*
