"""Convolutions of torchvision's networks by cuDNN: the fastest kernel that it finds, replayed from graphs."""
import sys
import time

import torch
import torchvision

from common import DEVICE, graph_ms, report, table

BATCH = 64
NETWORKS = {"resnet-50": "resnet50", "vgg-16": "vgg16", "inception-v3": "inception_v3"}
SIDES = {"inception-v3": 299}
WAYS = (("fp16", "nhwc", torch.float16), ("fp32", "nchw", torch.float32))
COLD = 120e6  # bytes of all operands: more than the L2 holds twice


def layers(network):
    """The unlike convolutions of a network, each with the height and width of its input."""
    model = getattr(torchvision.models, NETWORKS[network])(weights=None).eval()
    found = {}

    def seen(module, inputs, _):
        found.setdefault((module.in_channels, module.out_channels, *inputs[0].shape[2:], *module.kernel_size, *module.padding,
                          *module.stride, module.groups))

    for module in model.modules():
        if isinstance(module, torch.nn.Conv2d):
            module.register_forward_hook(seen)
    with torch.no_grad():
        side = SIDES.get(network, 224)
        model(torch.zeros(1, 3, side, side))
    return list(found)


def calls(layer, dtype, layout, way):
    c, k, h, w, r, s, ph, pw, sh, sw, groups = layer
    memory = torch.channels_last if layout == "nhwc" else torch.contiguous_format
    p, q = (h + 2 * ph - r) // sh + 1, (w + 2 * pw - s) // sw + 1
    size = dtype.itemsize * BATCH * (c * h * w + k * p * q)
    made = []
    for _ in range(max(1, min(12, int(COLD / size)))):
        x = torch.randn(BATCH, c, h, w, device=DEVICE, dtype=dtype).to(memory_format=memory)
        f = torch.randn(k, c // groups, r, s, device=DEVICE, dtype=dtype).to(memory_format=memory)
        y = torch.randn(BATCH, k, p, q, device=DEVICE, dtype=dtype).to(memory_format=memory)
        if way == "forward":
            made.append(lambda x=x, f=f: torch.nn.functional.conv2d(x, f, None, (sh, sw), (ph, pw), 1, groups))
        else:
            mask = [way == "data", way == "weight", False]
            made.append(lambda x=x, f=f, y=y, mask=mask: torch.ops.aten.convolution_backward(
                y, x, f, None, [sh, sw], [ph, pw], [1, 1], False, [0, 0], groups, mask))
    return made * max(1, 4 // len(made))


def main():
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    budget = time.time() + float(sys.argv[1])
    rows = table("convolutions.csv", ["network", "op", "dtype", "layout", "b", "channels", "filters", "height", "width", "filter_h", "filter_w",
                                      "pad_h", "pad_w", "stride_h", "stride_w", "groups", "pass", "ms"])
    for dtype, layout, torch_type in WAYS:
        for network in NETWORKS:
            for layer in layers(network):
                for way in ("forward", "data", "weight"):
                    if time.time() > budget or (way == "data" and layer[0] == 3):
                        continue
                    try:
                        ms = graph_ms(calls(layer, torch_type, layout, way), 5)
                    except Exception as error:
                        report(f"{network} {layer} {way}", error)
                        continue
                    c, k, h, w, r, s, ph, pw, sh, sw, groups = layer
                    rows(**{"network": network, "op": "convolution", "dtype": dtype, "layout": layout, "b": BATCH, "channels": c, "filters": k,
                            "height": h, "width": w, "filter_h": r, "filter_w": s, "pad_h": ph, "pad_w": pw, "stride_h": sh, "stride_w": sw,
                            "groups": groups, "pass": way, "ms": ms})
            torch.cuda.empty_cache()


main()
