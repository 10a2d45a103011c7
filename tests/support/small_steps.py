"""What tests of studies of training steps share: vTrain's columns, and a model small enough for seconds."""

VTRAIN_COLUMNS = ("# GPUs,global batch,micro batch,hidden size,attention heads,# layers,sequence length,tensor parallelism,"
                  "data parallelism,pipeline parallelism,iteration time (ms)\n")
SMALL_MODEL = """hidden = 512
ffn = 1024
heads = 8
kv_heads = 8
vocabulary = 1024
[training]
sequence = 256
[measure]
seeds = 1
"""
