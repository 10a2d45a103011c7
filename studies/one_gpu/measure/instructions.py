"""Vector kernels, each in a range of its name, for a profiler of hardware counters: what they issue and move."""
import torch
import torch.nn.functional as F

from common import DEVICE, report

ROWS, COLS = 16384, 8192


FP8 = torch.float8_e4m3fn
LARGEST = 448.0  # of FP8


def gated(x, y):
    return F.silu(x) * y


def gated_backward(grad, x, y):
    share = torch.sigmoid(x.float())
    silu = x.float() * share
    return (grad * y * (share * (1 + x.float() * (1 - share)))).to(x.dtype), (grad * silu).to(x.dtype)


def gelu_of_sum(x, bias):
    return F.gelu(x + bias, approximate="tanh")


def sum_and_rms(x, y, weight):
    total = x + y
    wide = total.float()
    return total, (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * weight


def dropped_sum(x, y):
    return F.dropout(x, 0.1) + y


def cast(x, scale):
    return (x.float() * scale).clamp(-LARGEST, LARGEST).to(FP8)


def cast_both(x, scale):
    narrow = (x.float() * scale).clamp(-LARGEST, LARGEST).to(FP8)
    return narrow, narrow.t().contiguous()


def largest(x):
    return x.abs().amax()


def blocks_of_32(x):
    blocks = x.view(x.shape[0], -1, 32).float()
    exponent = torch.floor(torch.log2(blocks.abs().amax(-1, keepdim=True) / LARGEST))
    return (blocks * torch.exp2(-exponent)).clamp(-LARGEST, LARGEST).to(FP8).view(x.shape), exponent.squeeze(-1).to(torch.int8)


def rotated(x, cos, sin):
    first, second = x.chunk(2, -1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


def compiled(dtype):
    """As a compiler fuses them; libraries' own kernels issue about as much."""
    x, y, z = (torch.randn(ROWS, COLS, device=DEVICE, dtype=dtype) for _ in range(3))
    weight = torch.randn(COLS, device=DEVICE, dtype=dtype)
    scale = torch.ones((), device=DEVICE)
    heads = x.view(ROWS, COLS // 128, 128)
    cos, sin = (torch.randn(ROWS, 1, 64, device=DEVICE, dtype=dtype) for _ in range(2))
    calls = {"silu_mul": (gated, x, y), "silu_mul_backward": (gated_backward, z, x, y), "bias_gelu": (gelu_of_sum, x, weight),
             "add_rmsnorm": (sum_and_rms, x, y, weight), "dropout_add": (dropped_sum, x, y), "cast_fp8": (cast, x, scale),
             "cast_fp8_both": (cast_both, x, scale), "absmax": (largest, x), "cast_mx": (blocks_of_32, x), "rope": (rotated, heads, cos, sin)}
    made = {}
    for name, (function, *arguments) in calls.items():
        whole = torch.compile(function)
        made[f"compiled_{name}"] = lambda whole=whole, arguments=arguments: whole(*arguments)
    return made


def kernels(dtype):
    x, y, out = (torch.randn(ROWS, COLS, device=DEVICE, dtype=dtype) for _ in range(3))
    weight, bias = (torch.randn(COLS, device=DEVICE, dtype=dtype) for _ in range(2))
    leaf = x.clone().requires_grad_()
    grow = weight.clone().requires_grad_()

    def backward(forward):
        made = forward()
        return lambda: torch.autograd.grad(made, [leaf] + ([grow] if forward in (norm, rms) else []), y, retain_graph=True)

    def norm():
        return F.layer_norm(leaf, (COLS,), grow, bias)

    def rms():
        return F.rms_norm(leaf, (COLS,), grow)

    other = torch.float32 if dtype != torch.float32 else torch.bfloat16
    return {
        "copy": lambda: out.copy_(x), "add": lambda: torch.add(x, y, out=out), "mul": lambda: torch.mul(x, y, out=out),
        "relu": lambda: torch.clamp_min(x, 0, out=out), "add_bias": lambda: torch.add(x, bias, out=out),
        "gelu": lambda: F.gelu(x), "gelu_tanh": lambda: F.gelu(x, approximate="tanh"), "silu": lambda: F.silu(x),
        "dropout": lambda: torch.native_dropout(x, 0.1, True), "cast": lambda: x.to(other),
        "gelu_backward": backward(lambda: F.gelu(leaf)), "silu_backward": backward(lambda: F.silu(leaf)),
        "layernorm": lambda: F.layer_norm(x, (COLS,), weight, bias), "rmsnorm": lambda: F.rms_norm(x, (COLS,), weight),
        "layernorm_backward": backward(norm), "rmsnorm_backward": backward(rms),
        "softmax": lambda: torch.softmax(x, -1), "sum_rows": lambda: x.sum(0),
    }


def optimizers(dtype):
    calls = {}
    for kind in ("fused", "foreach"):
        parameters = [torch.nn.Parameter(torch.randn(1 << 24, device=DEVICE, dtype=dtype)) for _ in range(8)]
        for parameter in parameters:
            parameter.grad = torch.randn_like(parameter)
        optimizer = torch.optim.AdamW(parameters, lr=1e-4, **{kind: True})
        optimizer.step()
        calls[f"adamw_{kind}"] = optimizer.step
    return calls


def main():
    for dtype in (torch.bfloat16, torch.float32):
        for name, call in {**kernels(dtype), **optimizers(dtype), **(compiled(dtype) if dtype == torch.bfloat16 else {})}.items():
            try:
                call()
                torch.cuda.synchronize()
                torch.cuda.cudart().cudaProfilerStart()
                torch.cuda.nvtx.range_push(f"{name} {str(dtype)[6:]}")
                call()
                torch.cuda.synchronize()
                torch.cuda.nvtx.range_pop()
                torch.cuda.cudart().cudaProfilerStop()
            except Exception as error:
                report(name, error)


main()
