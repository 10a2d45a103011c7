#include <fmt/format.h>

#include <algorithm>

#include "gpu/kernels/attention/attention_kernel.hpp"
#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/operator_class.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr std::array<std::string_view, 5> kOperators = {"attention", "attention_flash2", "attention_flash1",
                                                        "attention_triton",
                                                        "attention_cudnn"};  // as AttentionKernel
constexpr std::array<std::string_view, 2> kAliases = {"sdpa", "flash_attention"};

double product(auto... extents) { return (... * static_cast<double>(extents)); }

AttentionKernel kernel_of(std::string_view op) {
  const auto* const found = std::ranges::find(kOperators, op);
  return found == kOperators.end() ? AttentionKernel::newest  // an alias
                                   : static_cast<AttentionKernel>(found - kOperators.begin());
}

Operator read(const ShapeWords& words) {
  using enum ShapeKey;
  constexpr double kMostProducts = 7;  // two of the forward pass and five of the backward one
  constexpr double kMostTensors = 8;   // q, k, v, o, and a gradient of each
  need(words, "attention", {dtype, heads, seq, head_dim});
  AttentionShape shape{.batch = extent_or(words, b, 1),
                       .heads = extent(words, heads),
                       .queries = extent(words, seq),
                       .head_dim = extent(words, head_dim),
                       .causal = flag_or(words, causal, false),
                       .dtype = chosen<DType>(words, dtype),
                       .pass = chosen_or(words, pass, Pass::forward),
                       .kernel = kernel_of(words[op])};
  shape.kv_heads = extent_or(words, kv_heads, shape.heads);
  shape.keys = extent_or(words, kv_seq, shape.queries);
  shape.window = extent_or(words, window, 0);
  if (shape.window > 0 && !shape.causal)
    refuse(window, "requires causal attention, whose queries see the keys right before them; set causal");
  if (shape.window >= shape.keys) shape.window = 0;
  shape.selected = extent_or(words, selected, 0);
  if (shape.selected > 0 && (!shape.causal || shape.window > 0))
    refuse(selected, "requires causal attention without a window; set causal, and leave window out");
  shape.value_dim = extent_or(words, value_dim, 0);
  if (shape.value_dim == shape.head_dim) shape.value_dim = 0;
  // Heads that share one key, whose value is narrower: nothing but latent attention has such shapes.
  const bool is_latent = shape.kv_heads == 1 && shape.heads > 1 && shape.value_width() < shape.head_dim;
  shape.values = chosen_or(words, values, is_latent ? AttentionValues::in_keys : AttentionValues::apart);
  if (shape.values == AttentionValues::in_keys && shape.value_width() > shape.head_dim)
    refuse(values,
           fmt::format("values of {} elements cannot be part of keys of {}; set value_dim to {} or less",
                       shape.value_width(), shape.head_dim, shape.head_dim));
  if (shape.heads % shape.kv_heads != 0)
    refuse(kv_heads, fmt::format("{} does not divide the {} heads", shape.kv_heads, shape.heads));
  const double in_a_row = product(shape.batch, shape.heads, std::max(shape.head_dim, shape.value_width()));
  refuse_absurd(seq,
                element_size(shape.dtype).value * kMostTensors * in_a_row *
                    static_cast<double>(std::max(shape.queries, shape.keys)),
                kMostProducts * 2.0 * in_a_row * product(shape.queries, shape.keys));
  return shape;
}

std::vector<ShapeField> fields(const AttentionShape& shape) {
  using enum ShapeKey;
  std::vector<ShapeField> fields = {
      {dtype, name_of(shape.dtype)}, {b, shape.batch},       {heads, shape.heads},
      {kv_heads, shape.kv_heads},    {seq, shape.queries},   {kv_seq, shape.keys},
      {head_dim, shape.head_dim},    {causal, shape.causal}, {pass, name_of(shape.pass)}};
  if (shape.value_dim > 0) fields.push_back({value_dim, shape.value_dim});
  const bool has_values = shape.value_dim > 0 || shape.values == AttentionValues::in_keys;
  if (has_values) fields.push_back({values, name_of(shape.values)});
  if (shape.window > 0) fields.push_back({window, shape.window});
  if (shape.selected > 0) fields.push_back({selected, shape.selected});
  return fields;
}

std::string name_of_kernel(const AttentionShape& shape) {
  return std::string(kOperators.at(static_cast<std::size_t>(shape.kernel)));
}

std::string shape_text(const AttentionShape& shape) {
  std::string values = shape.value_dim > 0 ? fmt::format("/{}", shape.value_dim) : "";
  if (shape.values == AttentionValues::in_keys) values += " in keys";
  const std::string window = shape.window > 0     ? fmt::format(" in windows of {}", shape.window)
                             : shape.selected > 0 ? fmt::format(" to {} selected", shape.selected)
                                                  : "";
  return fmt::format("{} of {}/{} heads, {}{} x {} x {}{}{} {}{}", shape.batch, shape.heads, shape.kv_heads,
                     shape.causal ? "causal " : "", shape.queries, shape.keys, shape.head_dim, values, window,
                     name_of(shape.dtype), shape.pass == Pass::backward ? " backward" : "");
}

Bytes output(const AttentionShape& shape) {
  const double queries = product(shape.batch, shape.heads, shape.queries);
  const double keys = product(shape.batch, shape.kv_heads, shape.keys);
  const auto head = static_cast<double>(shape.head_dim), value = static_cast<double>(shape.value_width());
  return element_size(shape.dtype) * (shape.pass == Pass::forward
                                          ? queries * value
                                          : queries * head + keys * static_cast<double>(shape.key_width()));
}

// Masked scores do not count.
Flops matrix_flops(const AttentionShape& shape) {
  return Flops{2.0 * visible_pairs(shape) * static_cast<double>(shape.batch * shape.heads) *
               products_of_pair(shape)};
}

std::string_view coefficients(const AttentionShape&) { return "attention"; }

DType multiplies(const AttentionShape& shape) { return shape.dtype; }

/// Vector units have no share of their own for attention: they sustain what they do in a large GEMM.
GpuUse uses(const AttentionShape& shape, const GpuSpec&) {
  GpuUse use{.coefficients = {"attention"}, .peaks = {shape.dtype}};
  if (shape.dtype == DType::fp32) {
    use.sustained.insert(shape.dtype);
    use.coefficients.insert("vector_gemm");
  }
  return use;
}

std::vector<std::int64_t> shape_numbers(const AttentionShape& shape) {
  return {shape.batch,
          shape.heads,
          shape.kv_heads,
          shape.queries,
          shape.keys,
          shape.head_dim,
          std::int64_t{shape.causal},
          static_cast<std::int64_t>(shape.dtype),
          static_cast<std::int64_t>(shape.pass),
          shape.window,
          shape.selected};
}

}  // namespace

extern constexpr OperatorClass kAttentionClass = {.name = "attention",
                                                  .operators = kOperators,
                                                  .aliases = kAliases,
                                                  .read = read,
                                                  .fields = on_shape<&fields>,
                                                  .shape_text = on_shape<&shape_text>,
                                                  .describe = on_shape<&describe_attention>,
                                                  .output = on_shape<&output>,
                                                  .name_of = on_shape<&name_of_kernel>,
                                                  .multiplies = on_shape<&multiplies>,
                                                  .matrix_flops = on_shape<&matrix_flops>,
                                                  .coefficients = on_shape<&coefficients>,
                                                  .uses = on_shape<&uses>,
                                                  .shape_numbers = on_shape<&shape_numbers>};

const OperatorClass& operator_class(const AttentionShape&) { return kAttentionClass; }

double products_of_pair(const AttentionShape& shape) {
  const auto head = static_cast<double>(shape.head_dim), value = static_cast<double>(shape.value_width());
  return shape.pass == Pass::forward ? head + value : 3.0 * head + 2.0 * value;
}

double causal_pairs(std::int64_t queries, std::int64_t keys, std::int64_t most) {
  const auto all = static_cast<double>(queries), before = static_cast<double>(keys - queries);
  if (most == 0) return all * (before + 0.5 * (all + 1.0));
  const double growing = std::clamp(static_cast<double>(most) - before, 0.0, all);
  return growing * (before + 0.5 * (growing + 1.0)) + (all - growing) * static_cast<double>(most);
}

double visible_pairs(const AttentionShape& shape) {
  if (!shape.causal) return product(shape.queries, shape.keys);
  return causal_pairs(shape.queries, shape.keys, shape.window > 0 ? shape.window : shape.selected);
}

}}  // namespace c3::gpu
