#!/bin/bash
# Pretraining of a small GPT by Megatron-LM.
#SBATCH --nodes=2
TP=4
PP=2
MODEL_ARGS=(
  --num-layers 24
  --hidden-size 2048
  --ffn-hidden-size 5632
  --num-attention-heads 16
  --group-query-attention
  --num-query-groups 8
  --seq-length 4096
  --max-position-embeddings 4096
  --swiglu
  --normalization RMSNorm
  --disable-bias-linear
  --untie-embeddings-and-output-weights
  --position-embedding-type rope
  --vocab-size 128256
)
torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py \
  "${MODEL_ARGS[@]}" \
  --tensor-model-parallel-size ${TP} --pipeline-model-parallel-size $PP --sequence-parallel \
  --micro-batch-size 1 --global-batch-size 64 \
  --bf16 --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather \
  --recompute-activations --lr 3e-4 --train-iters 1000 --data-path /data/tokens
