#!/usr/bin/env bash
# The GPCs of one NVIDIA GPU, kernels beside SMs that are held, their grids, and hardware counters of them, alone and
# beside blocks, to $OUT.
set -uo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
OUT=$(realpath -m -- "${OUT:?is the folder for what is measured}")
export OUT
mkdir -p -- "$OUT"
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
nvcc -O2 -arch=native probe.cu -o "$scratch/probe" && "$scratch/probe" | tee "$OUT/gpcs.txt" | grep clusters
timeout 120 python3 spin.py
timeout 180 ncu --clock-control none --csv --metrics dram__bytes_read.sum,dram__bytes_write.sum,lts__t_bytes.sum,gpu__time_duration.sum,sm__cycles_elapsed.avg.per_second,lts__cycles_elapsed.avg.per_second,launch__grid_size,launch__cluster_size python3 counters.py >"$OUT/ncu.csv"
timeout 130 ncu --clock-control none --profile-from-start off --nvtx --print-nvtx-rename kernel --csv --metrics smsp__thread_inst_executed.sum,smsp__inst_executed.sum,smsp__inst_executed_pipe_xu.sum,dram__bytes_read.sum,dram__bytes_write.sum,gpu__time_duration.sum,smsp__issue_active.avg.pct_of_peak_sustained_elapsed,sm__warps_active.avg.pct_of_peak_sustained_active python3 instructions.py >"$OUT/instructions_ncu.csv"
timeout 200 ncu --clock-control none --cache-control none --replay-mode app-range --csv --metrics dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,gpu__time_duration.sum python3 bytes_beside.py >"$OUT/ranges_ncu.csv"
timeout 300 ncu --clock-control none --profile-from-start off --nvtx --print-nvtx-rename kernel --csv --metrics smsp__thread_inst_executed.sum,smsp__inst_executed.sum,smsp__inst_executed_pipe_xu.sum,dram__bytes_read.sum,dram__bytes_write.sum,lts__t_bytes.sum,l1tex__t_sectors.sum,gpu__time_duration.sum,smsp__issue_active.avg.pct_of_peak_sustained_elapsed,sm__warps_active.avg.pct_of_peak_sustained_active,launch__registers_per_thread,launch__block_size,launch__grid_size python3 image_counters.py >"$OUT/image_ncu.csv"
