#include "app/kernel/shape_options.hpp"

#include <string>
#include <string_view>

#include "base/options.hpp"

namespace c3 { inline namespace app {
namespace {

/// How --help describes each word of a shape.
std::string_view described(ShapeKey key) {
  switch (key) {
    case ShapeKey::op:
      return "gemm, attention, convolution, max_pool, average_pool, batch_norm, embedding_bag, gated_delta, "
             "mamba2, causal_conv, or vector operators such as softmax, gelu+add";
    case ShapeKey::dtype:
      return "bf16, fp16, fp8 or fp32; with --csv, for rows without one";
    case ShapeKey::b:
      return "Batch size: number of GEMMs, sequences, images or bags (default: 1)";
    case ShapeKey::m:
    case ShapeKey::n:
    case ShapeKey::k:
      return "Dimension of the gemm C[m,n] = A[m,k] B[k,n]; several values separated by commas";
    case ShapeKey::heads:
      return "Attention: query heads; recurrence: value heads";
    case ShapeKey::kv_heads:
      return "Attention: key and value heads (default: as many as query heads); recurrence: query and key "
             "heads, of mamba2 groups (default: as many as heads)";
    case ShapeKey::seq:
      return "Attention: queries in a sequence; recurrence, causal_conv: tokens in a sequence";
    case ShapeKey::kv_seq:
      return "Attention: keys in a sequence (default: as many as queries)";
    case ShapeKey::head_dim:
      return "Attention: elements in a head; recurrence: in a key, of mamba2 the state's dimension";
    case ShapeKey::value_dim:
      return "Attention, recurrence: elements in a head's values (default: as head-dim)";
    case ShapeKey::values:
      return "Attention: where the values are: apart, or in_keys, of which they are the first elements, as in "
             "latent attention's absorbed form (default: in_keys where several heads share one key and "
             "value-dim is below head-dim, else apart)";
    case ShapeKey::causal:
      return "Attention: a query does not see later keys";
    case ShapeKey::pass:
      return "forward or backward; convolution: forward, data or weight (default: forward)";
    case ShapeKey::rows:
    case ShapeKey::cols:
      return "Vector operator: size of its tensors; embedding_bag: of a table";
    case ShapeKey::layout:
      return "Gemm: tn, nn or nt, as forward, gradient of activations, gradient of weights (default: tn); "
             "of images: nchw or nhwc (default: nchw); causal_conv: channels_last or channels_first (default: "
             "channels_last)";
    case ShapeKey::warm:
      return "Operands that the caches still hold: of a gemm none, activations or all (default: none); of a "
             "vector operator all or none (default: all)";
    case ShapeKey::scales:
      return "Gemm in fp8: what shares a scale: tensor, block (128 of k) or mx (32 of k) (default: tensor)";
    case ShapeKey::result:
      return "Gemm: rounded to the operands' type, fp32, or added to C in memory: added, added_fp32 "
             "(default: rounded)";
    case ShapeKey::traffic:
      return "Gemm: tiled, or streamed if the GPU loads most operands from HBM again (default: tiled)";
    case ShapeKey::channels:
      return "Of images: channels of the input";
    case ShapeKey::filters:
      return "Convolution: channels of the output";
    case ShapeKey::height:
      return "Of images: height of the input";
    case ShapeKey::width:
      return "Of images: width of the input (default: as height)";
    case ShapeKey::filter_h:
      return "Convolution, pool: height of a filter or window";
    case ShapeKey::filter_w:
      return "Convolution, pool: width of a filter or window (default: as filter-h)";
    case ShapeKey::pad_h:
      return "Convolution, pool: rows of padding above and below (default: 0)";
    case ShapeKey::pad_w:
      return "Convolution, pool: columns of padding on each side (default: as pad-h)";
    case ShapeKey::stride_h:
      return "Convolution, pool: step of the filter or window down the input (default: 1, of a pool filter-h)";
    case ShapeKey::stride_w:
      return "Convolution, pool: step across it (default: as stride-h; of a pool without either, filter-w)";
    case ShapeKey::dilation_h:
      return "Convolution: rows between taps of a filter (default: 1)";
    case ShapeKey::dilation_w:
      return "Convolution: columns between them (default: as dilation-h)";
    case ShapeKey::groups:
      return "Convolution: groups of channels (default: 1)";
    case ShapeKey::solver:
      return "Convolution: implicit_gemm, gemm, direct, winograd, fft or fastest (default: fastest)";
    case ShapeKey::tables:
      return "Embedding_bag: tables alike in one kernel (default: 1)";
    case ShapeKey::lookups:
      return "Embedding_bag: rows that a bag adds";
    case ShapeKey::update:
      return "Embedding_bag backward: sgd, exact_sgd or exact_rowwise_adagrad (default: exact_sgd)";
    case ShapeKey::reuse:
      return "Embedding_bag: which rows are looked up: uniform or dlrm_2021 (default: uniform)";
    case ShapeKey::stage:
      return "Recurrence: which of its kernels: norm, cumsum, inverse, rows, states or output of gated_delta; "
             "cumsum, chunk_state, passing, product or output of mamba2; others with --pass backward";
    case ShapeKey::chunk:
      return "Recurrence: tokens in a chunk (default: 64 of gated_delta, 256 of mamba2)";
    case ShapeKey::window:
      return "Attention: keys that a causal query sees at most (default: all before it); causal_conv: tokens "
             "of a window, at most 4 (default: 4)";
    case ShapeKey::initial:
      return "Recurrence: fresh, or carried: the first state is loaded and the last one stored (default: "
             "fresh)";
    case ShapeKey::selected:
      return "Attention: keys that an indexer chooses for a causal query (default: all before it); "
             "index_select, index_target, index_gradient: how many it chooses";
  }
  return "";
}

}  // namespace

std::vector<ShapeKey> every_shape_key() {
  std::vector<ShapeKey> keys;
  for (std::size_t i = 0; i < kShapeKeys.size(); ++i)
    keys.push_back(static_cast<ShapeKey>(i));
  return keys;
}

void add_shape_options(Command& verb, KernelOptions& options, std::span<const ShapeKey> keys) {
  for (const ShapeKey key : keys) {
    if (key == ShapeKey::causal) {
      verb.add_flag(
          option_name(key), [&options] { options.shape[ShapeKey::causal] = {"1"}; },
          std::string(described(key)));
      continue;
    }
    Option& option = verb.add_option(option_name(key), options.shape[key], std::string(described(key)));
    const bool is_list = key == ShapeKey::m || key == ShapeKey::n || key == ShapeKey::k;
    is_list ? option.comma_separated().one_word() : option.one_word_once();
    option.type_name(is_text(key) ? "NAME" : "N");
  }
}

}}  // namespace c3::app
