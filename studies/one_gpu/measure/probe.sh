cd "$(dirname "$0")"
nvcc -O2 -arch=sm_90 probe.cu -o /tmp/probe && /tmp/probe > $OUT/gpcs.txt 2>&1; grep clusters $OUT/gpcs.txt
timeout 90 python3 spin.py
timeout 150 ncu --clock-control none --csv --metrics dram__bytes_read.sum,dram__bytes_write.sum,lts__t_bytes.sum,l1tex__m_xbar2l1tex_read_bytes.sum,gpu__time_duration.sum,sm__cycles_elapsed.avg.per_second,launch__grid_size,launch__block_size,launch__cluster_size,launch__waves_per_multiprocessor,lts__cycles_elapsed.avg.per_second python3 counters.py > $OUT/ncu.csv 2>$OUT/ncu.err; tail -2 $OUT/ncu.err; wc -l $OUT/*
cat $OUT/grids.txt
