"""The training steps that are measured: model, tokens of a sequence, sequences at once, micro-batches, recomputation."""


def llama(hidden, ffn, heads, kv, layers, vocabulary=128256):
    return dict(kind="llama", hidden=hidden, ffn=ffn, heads=heads, kv=kv, layers=layers, vocabulary=vocabulary)


def gpt(hidden, heads, layers):
    return dict(kind="gpt", hidden=hidden, ffn=4 * hidden, heads=heads, kv=heads, layers=layers, vocabulary=50304)


JOBS = {
    "llama-1b 2x4096": (llama(2048, 8192, 32, 8, 16), 4096, 2, 1, "none"),
    "llama-1b 1x8192": (llama(2048, 8192, 32, 8, 16), 8192, 1, 1, "none"),
    "llama-3b-of-8b 1x8192": (llama(4096, 14336, 32, 8, 8), 8192, 1, 1, "none"),
    "llama-3b-of-8b full 4x4096": (llama(4096, 14336, 32, 8, 8), 4096, 4, 1, "full"),
    "gpt-124m 1x1024": (gpt(768, 12, 12), 1024, 1, 1, "none"),
    "gpt-124m 32x1024": (gpt(768, 12, 12), 1024, 32, 1, "none"),
    "gpt-1.5b 8x1024": (gpt(1600, 25, 48), 1024, 8, 1, "none"),
    "gpt-1.3b 4x2048 of 4": (gpt(2048, 16, 24), 2048, 4, 4, "none"),
    "gpt-2.7b 2x2048": (gpt(2560, 32, 32), 2048, 2, 1, "none"),
    "gpt-1.3b full 16x2048": (gpt(2048, 16, 24), 2048, 16, 1, "full"),
}
