"""Pools, batch norms, activations and additions of networks of images, forward and backward, in both layouts, from graphs."""
import torch
import torch.nn.functional as F

from common import DEVICE, graph_ms, report, table

BATCH = 64
COLD = 120e6  # bytes of all operands: more than the L2 holds twice
WAYS = (("fp16", "nhwc", torch.float16), ("fp16", "nchw", torch.float16), ("fp32", "nchw", torch.float32), ("fp32", "nhwc", torch.float32))
# channels, side of the image, window, stride, padding
MAX = ((64, 112, 3, 2, 1), (64, 224, 2, 2, 0), (128, 112, 2, 2, 0), (256, 56, 2, 2, 0), (512, 28, 2, 2, 0), (512, 14, 2, 2, 0), (64, 147, 3, 2, 0), (192, 71, 3, 2, 0),
       (288, 35, 3, 2, 0), (768, 17, 3, 2, 0))
AVERAGE = ((192, 35, 3, 1, 1), (288, 35, 3, 1, 1), (768, 17, 3, 1, 1), (1280, 8, 3, 1, 1), (2048, 8, 3, 1, 1))
NORMS = ((64, 112), (64, 56), (256, 56), (128, 28), (512, 28), (256, 14), (1024, 14), (512, 7), (2048, 7))


def images(channels, side, dtype, layout):
    x = torch.randn(BATCH, channels, side, side, device=DEVICE, dtype=dtype)
    return x.to(memory_format=torch.channels_last if layout == "nhwc" else torch.contiguous_format)


def copies(bytes_each):
    return max(1, min(12, int(COLD / bytes_each)))


def timed(calls):
    return graph_ms(calls * max(1, 4 // len(calls)), 5)


def pool(op, channels, side, window, stride, pad, dtype, layout):
    """Milliseconds forward and backward."""
    calls = {"forward": [], "backward": []}
    for _ in range(copies(1.25 * BATCH * channels * side * side * dtype.itemsize)):
        x = images(channels, side, dtype, layout)
        if op == "max_pool":
            y, at = torch.ops.aten.max_pool2d_with_indices(x, [window] * 2, [stride] * 2, [pad] * 2)
            calls["forward"].append(lambda x=x: torch.ops.aten.max_pool2d_with_indices(x, [window] * 2, [stride] * 2, [pad] * 2))
            calls["backward"].append(lambda x=x, y=y, at=at: torch.ops.aten.max_pool2d_with_indices_backward(y, x, [window] * 2, [stride] * 2, [pad] * 2, [1, 1], False, at))
        else:
            y = torch.ops.aten.avg_pool2d(x, [window] * 2, [stride] * 2, [pad] * 2)
            calls["forward"].append(lambda x=x: torch.ops.aten.avg_pool2d(x, [window] * 2, [stride] * 2, [pad] * 2))
            calls["backward"].append(lambda x=x, y=y: torch.ops.aten.avg_pool2d_backward(y, x, [window] * 2, [stride] * 2, [pad] * 2, False, True, None))
    return {way: timed(of) for way, of in calls.items()}


def norm(channels, side, dtype, layout):
    """Milliseconds forward and backward of a batch norm, of ReLU and of an addition, as a block of ResNet has them."""
    calls = {}
    for _ in range(copies(2 * BATCH * channels * side * side * dtype.itemsize)):
        x, g = images(channels, side, dtype, layout), images(channels, side, dtype, layout)
        w, b, mean, var = (torch.ones(channels, device=DEVICE) for _ in range(4))

        arguments = (w, b, mean, var, True, 0.1, 1e-5, True)
        _, saved_mean, saved_var, reserve, library = torch.ops.aten._batch_norm_impl_index(x, *arguments)

        def forward(x=x, arguments=arguments):
            return torch.ops.aten._batch_norm_impl_index(x, *arguments)

        def backward(x=x, g=g, w=w, mean=mean, var=var, saved=(saved_mean, saved_var), reserve=reserve, library=library):
            return torch.ops.aten._batch_norm_impl_index_backward(library, x, g, w, mean, var, *saved, True, 1e-5, [True] * 3, reserve)

        for name, call in (("batch_norm forward", forward), ("batch_norm backward", backward),
                           ("relu forward", lambda x=x: torch.relu(x)), ("relu_in_place forward", lambda x=x: torch.relu_(x)),
                           ("relu backward", lambda x=x, g=g: torch.ops.aten.threshold_backward(g, x, 0)), ("add forward", lambda x=x, g=g: x + g), ("add_in_place forward", lambda x=x, g=g: x.add_(g))):
            calls.setdefault(name, []).append(call)
    return {name: timed(of) for name, of in calls.items()}


def main():
    torch.backends.cudnn.benchmark = True
    rows = table("pools.csv", ["op", "dtype", "layout", "b", "channels", "height", "width", "filter_h", "filter_w", "pad_h", "pad_w", "stride_h", "stride_w", "pass", "ms"])
    for dtype, layout, torch_type in WAYS:
        for op, shapes in (("max_pool", MAX), ("average_pool", AVERAGE)):
            for channels, side, window, stride, pad in shapes:
                try:
                    for way, ms in pool(op, channels, side, window, stride, pad, torch_type, layout).items():
                        rows(**{"op": op, "dtype": dtype, "layout": layout, "b": BATCH, "channels": channels, "height": side, "width": side, "filter_h": window, "filter_w": window,
                                "pad_h": pad, "pad_w": pad, "stride_h": stride, "stride_w": stride, "pass": way, "ms": ms})
                except Exception as error:
                    report(f"{op} {channels} {side} {dtype} {layout}", error)
    rows = table("batch_norms.csv", ["op", "dtype", "layout", "b", "channels", "height", "width", "pass", "ms"])
    for dtype, layout, torch_type in WAYS:
        for channels, side in NORMS:
            try:
                for name, ms in norm(channels, side, torch_type, layout).items():
                    op, way = name.split()
                    rows(**{"op": op, "dtype": dtype, "layout": layout, "b": BATCH, "channels": channels, "height": side, "width": side, "pass": way, "ms": ms})
            except Exception as error:
                report(f"norm {channels} {side} {dtype} {layout}", error)


main()
