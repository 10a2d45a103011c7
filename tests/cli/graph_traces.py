"""Small traces that are graphs of nodes: PyTorch execution traces, the Kineto traces beside them, and Chakra traces."""


def node(number, name, parent, inputs=(), record=None, **more):
    """Of schema 1.0.1; inputs are (value, shape, type)."""
    values, shapes, types = ([list(column) for column in zip(*inputs)] or [[], [], []])
    return {"id": number, "name": name, "rf_id": number if record is None else record, "parent": parent, "fw_parent": 0, "seq_id": -1,
            "scope": 0, "tid": 1, "fw_tid": 0, "op_schema": f"{name}(..)" if "::" in name else "", "inputs": values,
            "input_shapes": shapes, "input_types": types, "outputs": [], "output_shapes": [], "output_types": [], **more}


def tensor(number, *dims, kind="float"):
    elements = 1
    for size in dims:
        elements *= size
    return [number, number + 1, 0, elements, 4, "cuda:0"], list(dims), f"Tensor({kind})"


def tensor_list(number, *dims):
    value, shape, kind = tensor(number, *dims)
    return [value], [shape], f"GenericList[{kind}]"


def execution_trace(rank=None, splits=None):
    """Two products and an all-reduce of 4 KiB, or an all-to-all of 4 rows of 4 KiB in all whose splits are (in, out)."""
    name, (ins, outs) = ("all_to_allv", splits) if splits else ("allreduce", ((), ()))
    lists = [(list(rows), [[] for _ in rows], f"GenericList[{','.join('Int' for _ in rows)}]") for rows in (ins, outs)]
    nodes = [node(1, "[pytorch|profiler|execution_trace|process]", 1), node(2, "[pytorch|profiler|execution_trace|thread]", 1),
             node(3, "aten::linear", 2, [tensor(20, 8, 16), tensor(22, 32, 16)]),
             node(4, "aten::addmm", 3, [tensor(20, 8, 16), tensor(22, 32, 16), (1, [], "Int")]),
             node(5, "record_param_comms", 2, [tensor_list(24, 4, 256), (7, [], "Int"), (["0", "default_pg"], [[], []], "Tuple[String,String]"),
                                               (rank or 0, [], "Int"), (name, [], "String"), *lists, (0, [], "Int"), (1, [], "Int"), (2, [], "Int")]),
             node(6, "record_param_comms", 2, [(7, [], "Int"), (["", ""], [[], []], "Tuple[String,String]"), (1, [], "Int"),
                                               ("wait", [], "String"), ([], [], "GenericList[]"), ([], [], "GenericList[]"), (-1, [], "Int"),
                                               (-1, [], "Int"), (1, [], "Int")])]
    return {"schema": "1.0.1", "pid": 100, "nodes": nodes}


def kineto(rank, record_ids=False, collective="ncclDevKernel_AllReduce_Sum_f32_RING_LL"):
    """The same operators, without shapes, each of 20 us, and the kernels of the product and the collective."""
    events = []
    for start, number, name in ((0, 3, "aten::linear"), (5, 4, "aten::addmm"), (100, 5, "record_param_comms")):
        arguments = {"External id": number} | ({"Record function id": number} if record_ids else {})
        events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 100 + rank, "tid": 100, "ts": start, "dur": 30 - start % 10 * 2,
                       "args": arguments})
    for start, stream, name in ((10, 7, "ampere_gemm"), (110, 20, collective)):
        events += [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 100 + rank, "tid": 100, "ts": start, "dur": 5,
                    "args": {"correlation": start}},
                   {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": start + 10, "dur": 50,
                    "args": {"device": 0, "stream": stream, "correlation": start}}]
    return {"distributedInfo": {"rank": rank, "world_size": 2}, "traceEvents": events}


def varint(number):
    text = b""
    while True:
        text += bytes([number & 127 | (128 if number > 127 else 0)])
        number >>= 7
        if number == 0:
            return text


def field(number, value):
    """An integer, or bytes of a text or message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value & (1 << 64) - 1)
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(*fields):
    text = b"".join(field(number, value) for number, value in fields)
    return varint(len(text)) + text


def chakra_node(number, name, kind, duration, data=(), control=(), **attributes):
    """Integers of attributes take turns through int64, uint64 and int32."""
    values = [field(1, key.encode()) + (field(27, int(value)) if isinstance(value, bool) else field((9, 13, 7)[i % 3], value))
              for i, (key, value) in enumerate(attributes.items())]
    return message((1, number), (2, name.encode()), (3, kind), *((4, other) for other in control), *((5, other) for other in data),
                   (7, duration), (99, b"of a later schema"), *((10, value) for value in values))


def chakra(*nodes):
    return message((1, b"1.0.0"), (2, field(1, b"schema") + field(29, b"1.0.1"))) + b"".join(nodes)


def chakra_step():
    """80 us: an operator, its kernel, and the collective behind it. Node 4 is an operator that only calls a collective."""
    return chakra(chakra_node(1, "aten::mm", 4, 10, is_cpu_op=True, tid=1),
                  chakra_node(2, "ampere_gemm", 4, 30, data=[1], is_cpu_op=False, tid=7),
                  chakra_node(3, "ncclKernel_AllReduce", 7, 40, data=[2], control=[999], is_cpu_op=False, comm_type=0, comm_size=4096, pg_name=0),
                  chakra_node(4, "c10d::allreduce_", 7, 5, data=[1], is_cpu_op=True, tid=1))
