"""Makes the study's tables of what the other programs of this folder wrote: tables.py TABLE_FOLDER GPU=RAW_FOLDER .."""

import csv
import pathlib
import statistics
import sys

from jobs import JOBS

SHAPE = ["op", "dtype", "b", "m", "n", "k", "heads", "kv_heads", "seq", "head_dim", "causal", "pass", "rows", "cols", "layout", "scales"]
IMAGES = ["op", "dtype", "layout", "b", "channels", "filters", "height", "width", "filter_h", "filter_w", "pad_h", "pad_w", "stride_h", "stride_w", "groups", "pass", "rows", "cols"]
MODEL = ["kind", "hidden", "ffn", "heads", "kv_heads", "layers", "vocabulary", "sequence", "micro_batch", "micro_batches", "recompute"]
ALL_SMS = 132
BATCH = 64  # images, of image_counters.py


def rows_of(path):
    """None of a program that this GPU was not given to."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path, columns, make, raws):
    """Rows of every GPU, which is the first column."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["gpu", *columns], restval="", extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for gpu, raw in raws:
            writer.writerows({"gpu": gpu} | row for row in make(raw))


def shape_of(name):
    """Of "gemm 8192 8192 8192", "attention 2 32 4096 128", "softmax 32768 4096"."""
    op, *numbers = name.split()
    if op == "gemm":
        if not numbers[0].isdigit():
            dtype, *numbers = numbers
            return dict(op=op, dtype=dtype) | dict(zip("mnk", numbers))
        return dict(op=op, dtype="bf16") | dict(zip("mnk", numbers))
    if op == "attention":
        numbers = [number for number in numbers if number.isdigit()]
        return dict(op="attention_cudnn", dtype="bf16", causal=1) | dict(zip(("b", "heads", "seq", "head_dim"), numbers))
    return dict(op=op, dtype="bf16") | dict(zip(("rows", "cols"), numbers))


def parts(raw):
    for row in rows_of(raw / "parts.csv"):
        yield dict(kernel=row["kernel"], how="parted", sms=row["sms"], ms=row["ms"]) | shape_of(row["kernel"])
    for row in rows_of(raw / "held.csv"):
        ms = float(row["together_ms"])
        yield dict(kernel=row["kernel"], how="held", sms=ALL_SMS - int(row["held"]), ms=f"{ms:.6g}") | shape_of(row["kernel"])


def beside(raw):
    rates = {"copy_alone_GB_s": "rate_alone_GB_s", "copy_together_GB_s": "rate_together_GB_s"}
    for row in rows_of(raw / "beside.csv"):
        if row["how"] == "parted":
            yield dict(way="copy") | {rates.get(name, name): value for name, value in row.items()}
    rates = {"way_alone_GB_s": "rate_alone_GB_s", "way_together_GB_s": "rate_together_GB_s"}
    for row in as_measured("neighbours.csv")(raw):
        if row["way"] != "copy":
            yield {rates.get(name, name): value for name, value in row.items()}


VECTORS = {"softmax": "softmax", "layernorm": "layernorm_eager", "rmsnorm": "rmsnorm_eager", "gelu": "gelu"}


def kernels(raw):
    forward = {}
    for row in rows_of(raw / "kernels.csv"):
        what, numbers, ms = row["what"], row["shape"].split(), float(row["ms"])
        found = dict(ms=row["ms"], dtype={"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}.get(row["dtype"], row["dtype"]))
        if what.startswith("gemm"):
            m, n, k = map(int, numbers)
            size = "below 10 GFLOP" if 2 * m * n * k < 1e10 else "from 10 GFLOP"
            layout = what.split()[1] if " " in what else "tn"
            kind = "in three layouts" if " " in what else f"{found['dtype']} {size}"
            yield found | dict(group=f"gemm {kind}", op="gemm", m=m, n=n, k=k, layout=layout)
        elif what.startswith("attention"):
            _, kernel, way = what.split()
            shape = dict(zip(("b", "heads", "kv_heads", "seq", "head_dim"), numbers)) | dict(op=f"attention_{kernel}", causal=1)
            if way == "forward":
                forward[kernel, row["shape"]] = ms
            else:
                found["ms"] = f"{ms - forward[kernel, row['shape']]:.6g}"
            passes = "forward" if way == "forward" else "backward"
            yield found | shape | {"group": f"attention {kernel} {passes}", "pass": passes}
        elif what in VECTORS:
            yield found | dict(group=what, op=VECTORS[what], rows=numbers[0], cols=numbers[1])
        elif what == "adamw fused" and found["dtype"] == "fp32":
            yield found | dict(group="adam", op="adam", rows=numbers[0], cols=numbers[1])


def levels(raw):
    times, board = {}, {}
    for row in rows_of(raw / "sustained.csv"):
        times.setdefault(row["kernel"], []).append((float(row["since_ms"]), float(row["each_ms"])))
    for row in rows_of(raw / "board.csv"):
        board.setdefault(row["kernel"], []).append((float(row["since_ms"]), float(row["sm_mhz"]), float(row["power_w"])))
    for name, samples in times.items():
        if " and " in name or name.startswith("attention both"):
            continue
        settled = 0.6 * samples[-1][0]
        late = [ms for since, ms in samples if since > settled]
        states = [state for state in board[name] if settled < state[0] < samples[-1][0]]
        yield dict(kernel=name, burst_ms=f"{statistics.median(ms for since, ms in samples if 2 < since < 20 or len(samples) < 200):.6g}",
                   sustained_ms=f"{statistics.mean(late):.6g}", sm_mhz=f"{statistics.mean(s[1] for s in states):.0f}",
                   power_w=f"{statistics.mean(s[2] for s in states):.0f}") | shape_of(name)


def boards(raw):
    """Each raw folder is of another board; from 1.5 s on a kernel's clock has settled."""
    samples = [row for row in rows_of(raw / "heat.csv") if 1.5 <= float(row["since_s"]) <= 9.5]
    for name in dict.fromkeys(row["kernel"] for row in samples):
        of = [row for row in samples if row["kernel"] == name]
        mean = {key: statistics.mean(float(row[key]) for row in of) for key in ("each_ms", "sm_mhz", "power_w")}
        yield dict(board=of[0]["gpu"], kernel=name, ms=f"{mean['each_ms']:.6g}", sm_mhz=f"{mean['sm_mhz']:.0f}", power_w=f"{mean['power_w']:.0f}",
                   temperature=of[-1]["temperature"]) | shape_of(name)


def steps(raw):
    for row in rows_of(raw / "steps.csv"):
        model, sequence, micro_batch, micro_batches, recompute = JOBS[row["job"]]
        yield row | model | dict(kv_heads=model["kv"], sequence=sequence, micro_batch=micro_batch, micro_batches=micro_batches, recompute=recompute,
                                 framework="pytorch-compiled" if row["compiled"] == "1" else "pytorch-eager",
                                 positions=sequence if model["kind"] == "gpt" else "")


def layers(raw):
    """Convolutions, pools, norms, and what else a layer of a network of images runs; in place it takes as long."""
    norms = rows_of(raw / "batch_norms.csv")
    for row in rows_of(raw / "convolutions.csv") + rows_of(raw / "pools.csv") + [row for row in norms if row["op"] == "batch_norm"]:
        yield row | dict(group=f"{row['op']} {row['dtype']} {row['layout']} {row['pass']}")
    for row in norms:
        if row["op"] in ("relu", "add") and row["layout"] == "nchw":
            shape = dict(rows=int(row["b"]) * int(row["channels"]), cols=int(row["height"]) * int(row["width"]))
            yield {key: row[key] for key in ("op", "dtype", "pass", "ms")} | shape | dict(group=f"{row['op']} {row['dtype']}")


ATTENTION_PARTS = {"dot_do_o": "rows_of_gradient_times_output", "convert": "round_query_gradient", "reduce": "sum_of_heads", "elementwise": "copy_of_gradient", "Memset": "clear"}


def attention_parts(raw):
    """The kernels of a backward pass; the one that nothing here names multiplies."""
    for row in rows_of(raw / "attention_parts.csv"):
        part = next((words for name, words in ATTENTION_PARTS.items() if name in row["kernel"]), "products")
        yield row | dict(part=part)


def as_measured(name):
    return lambda raw: rows_of(raw / name)


def counters(path):
    """What a profiler counted in each range or kernel, by their order."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    first = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    counted = {}
    for row in csv.DictReader(lines[first:]):
        of = counted.setdefault(int(row["ID"]), {"kernel": row["Kernel Name"], "block": row["Block Size"], "grid": row["Grid Size"]})
        of[row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
    return counted


def instructions(raw):
    """Kernels of instructions.py, by element; those that another thread launches, backward, have no range and come in this order."""
    elements = 16384 * 8192
    backward = ["gelu_backward", "silu_backward", "layernorm_backward", "layernorm_backward", "rmsnorm_backward", "rmsnorm_backward"]
    sums, nameless = {}, 0
    for of in counters(raw / "instructions_ncu.csv").values():
        is_named = " bfloat16/" in of["kernel"] or " float32/" in of["kernel"]
        name = of["kernel"].split("/")[0] if is_named else f"{backward[nameless % 6]} {'bfloat16' if nameless < 6 else 'float32'}"
        nameless += not is_named
        sums.setdefault(name, []).append(of)
    for name, kernels in sums.items():
        total = {key: sum(of[key] for of in kernels) for key, value in kernels[0].items() if isinstance(value, float)}
        longest = max(kernels, key=lambda of: of["gpu__time_duration.sum"])
        kernel, dtype = name.split()
        yield dict(kernel=kernel, dtype={"bfloat16": "bf16", "float32": "fp32"}[dtype], kernels=len(kernels), us=f"{total['gpu__time_duration.sum'] / 1e3:.5g}",
                   instructions=f"{total['smsp__thread_inst_executed.sum'] / elements:.4g}", transcendental=f"{32 * total['smsp__inst_executed_pipe_xu.sum'] / elements:.3g}",
                   read_B=f"{total['dram__bytes_read.sum'] / elements:.4g}", written_B=f"{total['dram__bytes_write.sum'] / elements:.4g}",
                   issue_share=f"{longest['smsp__issue_active.avg.pct_of_peak_sustained_elapsed'] / 100:.3f}",
                   occupancy=f"{longest['sm__warps_active.avg.pct_of_peak_sustained_active'] / 100:.3f}")


def image_instructions(raw):
    """Kernels of image_counters.py, by element of the input image; instructions are those of whole warps."""
    for of in counters(raw / "image_ncu.csv").values():
        name, kernel = of["kernel"].split("/", 1)
        op, direction, dtype, layout, *sizes = name.split()
        if layout not in ("nchw", "nhwc"):
            continue  # attention's
        row = dict(zip(("channels", "height", "filter_h", "stride_h", "pad_h"), sizes)) | {"op": op, "pass": direction, "dtype": dtype, "layout": layout, "b": BATCH}
        elements = BATCH * int(row["channels"]) * int(row["height"]) ** 2
        symbol = kernel.replace("<unnamed>::", "").removeprefix("void ").split("<")[0].split("(")[0].split("::")[-1]
        yield row | dict(kernel=symbol, block=of["block"], grid=of["grid"], registers=f"{of['launch__registers_per_thread']:.0f}",
                         us=f"{of['gpu__time_duration.sum'] / 1e3:.5g}", instructions=f"{32 * of['smsp__inst_executed.sum'] / elements:.5g}",
                         issue_share=f"{of['smsp__issue_active.avg.pct_of_peak_sustained_elapsed'] / 100:.3f}",
                         occupancy=f"{of['sm__warps_active.avg.pct_of_peak_sustained_active'] / 100:.3f}", read_B=f"{of['dram__bytes_read.sum'] / elements:.4g}",
                         written_B=f"{of['dram__bytes_write.sum'] / elements:.4g}", l2_B=f"{of['lts__t_bytes.sum'] / elements:.4g}")


def bytes_of(raw):
    """Counters of the ranges that bytes_beside.py ran, in their order."""
    counted = counters(raw / "ranges_ncu.csv")
    for number, row in enumerate(rows_of(raw / "ranges.csv")):
        of = counted[number]
        yield row | dict(read_GB=f"{of['dram__bytes_read.sum'] / 1e9:.5g}", written_GB=f"{of['dram__bytes_write.sum'] / 1e9:.5g}",
                         l2_read_GB=f"{32 * of['lts__t_sectors_op_read.sum'] / 1e9:.5g}")


def main():
    tables = pathlib.Path(sys.argv[1])
    raws = [(gpu, pathlib.Path(raw)) for gpu, raw in (word.split("=") for word in sys.argv[2:])]
    write(tables / "parts.csv", ["kernel", "how", "sms", *SHAPE, "ms"], parts, raws)
    write(tables / "beside.csv", ["kernel", "way", "blocks", "alone_ms", "together_ms", "rate_alone_GB_s", "rate_together_GB_s"], beside, raws)
    write(tables / "engines.csv", ["kernel", "way", "alone_ms", "together_ms", "copy_alone_GB_s", "copy_together_GB_s"], as_measured("engines.csv"), raws)
    write(tables / "equal.csv", ["m", "n", "k", "degree", "each", "serial_ms", "at_once_ms"], as_measured("equal.csv"), raws)
    write(tables / "mixed.csv", ["first", "second", "first_ms", "second_ms", "serial_ms", "at_once_ms"], as_measured("mixed.csv"), raws)
    grouped = ["model", "experts", "n", "k", "mean_rows", "most_rows", "fewest_rows", "alpha", "how", "ms"]
    write(tables / "grouped.csv", grouped, as_measured("grouped.csv"), raws)
    write(tables / "dispatch.csv", ["blocks", "ns", "streams", "us_each"], as_measured("dispatch.csv"), raws)
    write(tables / "latency.csv", ["from", "way", "blocks", "ns", "rate_GB_s"], as_measured("latency.csv"), raws)
    write(tables / "bytes.csv", ["kernel", "way", "blocks", "repeats", "blocks_GB", "read_GB", "written_GB", "l2_read_GB"], bytes_of, raws)
    write(tables / "kernels.csv", ["group", *SHAPE, "ms"], kernels, raws)
    write(tables / "levels.csv", ["kernel", *SHAPE, "burst_ms", "sustained_ms", "sm_mhz", "power_w"], levels, raws)
    write(tables / "instructions.csv", ["kernel", "dtype", "kernels", "us", "instructions", "transcendental", "read_B", "written_B", "issue_share", "occupancy"],
          instructions, raws)
    image = ["op", "pass", "dtype", "layout", "b", "channels", "height", "filter_h", "stride_h", "pad_h"]
    counted = ["kernel", "block", "grid", "registers", "us", "instructions", "issue_share", "occupancy", "read_B", "written_B", "l2_B"]
    write(tables / "image_instructions.csv", [*image, *counted], image_instructions, raws)
    write(tables / "adding.csv", ["way", "m", "n", "k", "ms"], as_measured("adding.csv"), raws)
    write(tables / "boards.csv", ["board", "kernel", *SHAPE, "ms", "sm_mhz", "power_w", "temperature"], boards, raws)
    write(tables / "layers.csv", ["group", *IMAGES, "ms"], layers, raws)
    write(tables / "images.csv", ["network", "dtype", "layout", "batch", "ms", "graph_ms", "host_ms", "kernels", "busy_ms", "allocated_gb"], as_measured("images.csv"), raws)
    experts = ["model", "tokens", "layers", "kernels", "busy_ms", "syncs", "host_forward_ms", "host_backward_ms", "all_forward_ms", "all_backward_ms"]
    write(tables / "experts.csv", experts, as_measured("experts.csv"), raws)
    write(tables / "attention_parts.csv", ["library", "dtype", "b", "heads", "kv_heads", "seq", "head_dim", "part", "us"], attention_parts, raws)
    write(tables / "steps.csv", ["job", "compiled", *MODEL, "parameters", "ms", "p5_ms", "p95_ms", "allocated_gb", "reserved_gb"], steps, raws)


if __name__ == "__main__":
    main()
