#pragma once
/// What the keys of an operation mean, in the `run` of a stream. Which of them go together, and what they
/// allow, their reader says (operation_reader.cpp).

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "collectives/call.hpp"
#include "configs/toml/rule.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/scan/scan_shape.hpp"
#include "gpu/kernels/shape_words.hpp"

namespace c3 { inline namespace configs {

/// Every operation that is a table with one key.
inline constexpr auto kOperations = std::to_array<KeyText>({
    {"all_reduce", "every rank ends with the sum over ranks: a size, or a table"},
    {"all_gather", "every rank ends with every rank's shard: a size, or a table"},
    {"reduce_scatter", "each rank ends with the sum of one shard: a size, or a table"},
    {"all_to_all", "each rank sends a shard to each other rank: a size, or a table"},
    {"all_to_all_v", "an all-to-all with a size for each pair of ranks"},
    {"broadcast", "every rank ends with the root's data: a size, or a table"},
    {"reduce", "the root ends with the sum over ranks: a size, or a table"},
    {"gather", "the root ends with every rank's shard: a size, or a table"},
    {"scatter", "each rank ends with one shard of the root: a size, or a table"},
    {"send_receive", "each rank sends to the next, the last to the first: size or table"},
    {"barrier", "no rank continues before all have arrived"},
    {"gemm", "a matrix product C[m,n] = A[m,k] B[k,n] on each GPU"},
    {"kernel", "any other kernel, by the words of `c3sim kernel`"},
    {"timed", "a kernel of which only the time is known: a time, or a table"},
    {"send", "bytes to another rank of a communicator's group, which receives them"},
    {"receive", "bytes from another rank of a communicator's group, which sends them"},
    {"exchange", "sends and receives that are launched together"},
    {"copy_to_host", "bytes from the GPU to pinned memory of its host: a size"},
    {"copy_from_host", "bytes from there to the GPU: a size"},
    {"record", "records the event of this name"},
    {"wait", "waits until the event of this name is recorded"},
});
static_assert(kOperations.size() == kCollectiveKinds.size() + 10,
              "collectives, gemm, kernel, timed, three of messages, two copies, record and wait");

inline constexpr auto kOperationNames = [] {
  std::array<std::string_view, kOperations.size()> names;
  std::ranges::transform(kOperations, names.begin(), &KeyText::key);
  return names;
}();

inline constexpr auto kGemmKeys = std::to_array<KeyText>({
    {"m", "rows of A and C"},
    {"n", "columns of B and C"},
    {"k", "columns of A, rows of B"},
    {"dtype", "data type of the operands"},
    {"traffic", "streamed: most loads reach HBM, whatever the tiles (gpu.streamed_*)",
     name_of(GemmTraffic::tiled)},
    {"on", "ranks that run it: a list, or \"0-3,6\"; default: all"},
});

inline constexpr auto kKernelKeys = std::to_array<KeyText>({
    {"op",
     "gemm, attention, convolution, max_pool, average_pool, batch_norm, embedding_bag, gated_delta, mamba2, "
     "causal_conv, index_logits, index_select, index_target, index_gradient, or vector operators such as "
     "softmax"},
    {"dtype", "data type: bf16, fp16, fp8 or fp32"},
    {"b", "number of matrix products, sequences, images or bags", std::int64_t{1}},
    {"m", "gemm: rows of A and C"},
    {"n", "gemm: columns of B and C"},
    {"k", "gemm: columns of A, rows of B"},
    {"heads", "attention: query heads; recurrence: value heads"},
    {"kv_heads",
     "attention: key and value heads; recurrence: query and key heads, of mamba2 groups; default: heads"},
    {"seq", "attention: queries of a sequence; recurrence, causal_conv: its tokens"},
    {"kv_seq", "attention: keys of a sequence; default: as many as queries"},
    {"head_dim", "attention: elements of a head; recurrence: of a key, of mamba2 the state dimension"},
    {"value_dim", "attention, recurrence: elements of a head's values; default: head_dim"},
    {"values",
     "attention: apart, or in_keys: the first elements of each key; default: in_keys of one key head "
     "for several heads with a lower value_dim, else apart"},
    {"causal", "attention: whether a query does not see later keys", false},
    {"pass", "forward or backward; of a convolution forward, data or weight", "forward"},
    {"rows", "vector operators: rows of their tensors; embedding_bag: of a table"},
    {"cols", "vector operators: columns of their tensors; embedding_bag: of a table"},
    {"traffic", "gemm: tiled or streamed", name_of(GemmTraffic::tiled)},
    {"layout",
     "gemm: tn, nn or nt, as forward, its gradients; of images: nchw, nhwc; causal_conv: channels_last, "
     "channels_first"},
    {"warm",
     "operands still in the caches: of a gemm none (default), activations or all; of vector operators all "
     "(default) or none"},
    {"scales", "gemm in fp8: what shares a scale: tensor, block (128 of k) or mx (32)",
     name_of(GemmScales::tensor)},
    {"result", "gemm: rounded or fp32; added, added_fp32 to C", name_of(GemmResult::rounded)},
    {"channels", "images: of the input; causal_conv: of a token"},
    {"filters", "convolution: channels of the output"},
    {"height", "images: of the input"},
    {"width", "default: height"},
    {"filter_h", "height of a filter or pool window"},
    {"filter_w", "default: filter_h"},
    {"pad_h", "padding on each side", std::int64_t{0}},
    {"pad_w", "default: pad_h"},
    {"stride_h", "step; default: 1, of a pool filter_h"},
    {"stride_w", "default: stride_h; of a pool without either, filter_w"},
    {"dilation_h", "convolution: distance of taps", std::int64_t{1}},
    {"dilation_w", "default: dilation_h"},
    {"groups", "convolution: of channels", std::int64_t{1}},
    {"solver", "convolution: implicit_gemm, gemm, direct, winograd or fft", "fastest"},
    {"tables", "embedding_bag: alike, in one kernel", std::int64_t{1}},
    {"lookups", "embedding_bag: rows that a bag adds"},
    {"update", "embedding_bag backward: sgd, exact_sgd or exact_rowwise_adagrad", "exact_sgd"},
    {"reuse", "embedding_bag: which rows are looked up: uniform or dlrm_2021", "uniform"},
    {"stage", "recurrence: which of its kernels, as `output`"},
    {"chunk", "recurrence: tokens of a chunk; default: 64 of gated_delta, 256 of mamba2"},
    {"window",
     "attention: keys that a causal query sees at most; default: all before it; causal_conv: tokens, at most "
     "4; "
     "default: 4"},
    {"initial", "recurrence: fresh, or carried: the first state is loaded and the last one stored",
     name_of(ScanState::fresh)},
    {"selected",
     "attention: keys that an indexer chooses for a causal query, of those before it; default: all; "
     "index_select, index_target, index_gradient: how many it chooses"},
    {"place", "vector operators: gpu, or pim, units in memory (gpu.pim_units)", name_of(Place::gpu)},
    {"on", "ranks that run it: a list, or \"0-3,6\"; default: all"},
});
static_assert(kKernelKeys.size() == kShapeKeys.size() + 2, "the words of a shape, place and on");

inline constexpr auto kCollectiveKeys = std::to_array<KeyText>({
    {"size", "bytes as nccl-tests counts them: \"896 MiB\", or OPERATION.weight, .input or .output"},
    {"sends", "sizes by sender (row) and receiver: [[\"0 B\", \"1 MiB\"], [\"1 MiB\", \"0 B\"]]"},
    {"in_place", "whether every rank's shard is already in its place", false},
    {"root", "rank that has the data before or after", std::int64_t{0}},
    {"ranks", "the group, in order: a list, or \"0-7,16-23\"; default: all"},
    {"groups", "several groups at once instead of `ranks`"},
    {"on", "ranks that run it: a list, or \"0-3,6\"; default: all"},
});

inline constexpr auto kTimedKeys = std::to_array<KeyText>({
    {"time", "what it takes with a GPU to itself"},
    {"read", "bytes that it reads from HBM, evenly over its time", "0 B"},
    {"written", "bytes that it writes to HBM", "0 B"},
    {"name", "its name in results", "timed"},
    {"on", "ranks that run it: a list, or \"0-3,6\"; default: all"},
});

inline constexpr auto kMessageKeys = std::to_array<KeyText>({
    {"size", "bytes"},
    {"to", "places further in the group, around it; -1: the one before"},
    {"from", "places further in the group, around it; -1: the one before"},
    {"over", "communicator"},
    {"sends", "messages that the rank sends"},
    {"receives", "messages that the rank receives"},
});

inline constexpr auto kGroupKeys = std::to_array<KeyText>({
    {"size", "ranks of each group; size x stride must divide the ranks"},
    {"stride", "distance between the members of a group", std::int64_t{1}},
});

}}  // namespace c3::configs
