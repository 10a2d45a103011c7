#include "configs/kernel_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "base/nearest_name.hpp"
#include "configs/dtype_names.hpp"

namespace c3 {
namespace {

constexpr std::int64_t kLargestExtent = std::int64_t{1} << 40U;
constexpr double kTooMuch = 9.223372036854775808e18;  // 2^63: 64-bit counts end there

using Alias = std::pair<std::string_view, std::string_view>;
constexpr std::array<Alias, 8> kOpAliases = {{{"bmm", "gemm"},
                                              {"linear", "gemm"},
                                              {"matmul", "gemm"},
                                              {"sdpa", "attention"},
                                              {"flash_attention", "attention"},
                                              {"ln", "layernorm"},
                                              {"layer_norm", "layernorm"},
                                              {"rms_norm", "rmsnorm"}}};
constexpr std::array<std::pair<std::string_view, bool>, 4> kFlags = {
    {{"0", false}, {"1", true}, {"false", false}, {"true", true}}};
constexpr std::array<std::pair<std::string_view, Pass>, 2> kPasses = {
    {{"forward", Pass::forward}, {"backward", Pass::backward}}};

[[noreturn]] void refuse(ShapeKey key, const std::string& reason) { throw ShapeError(key, false, reason); }

template <class Value, std::size_t N>
Value chosen(const ShapeWords& words, ShapeKey key,
             const std::array<std::pair<std::string_view, Value>, N>& known) {
  const auto found = std::ranges::find(known, words[key], &std::pair<std::string_view, Value>::first);
  if (found != known.end()) return found->second;
  std::vector<std::string> names;
  names.reserve(N);
  for (const auto& [name, value] : known)
    names.emplace_back(name);
  refuse(key, unknown_name("word", words[key], names));
}

template <class Value, std::size_t N>
Value chosen_or(const ShapeWords& words, ShapeKey key,
                const std::array<std::pair<std::string_view, Value>, N>& known, Value otherwise) {
  return words[key].empty() ? otherwise : chosen(words, key, known);
}

/// Tables that had empty cells once write their integers as 4096.0.
std::int64_t extent(const ShapeWords& words, ShapeKey key) {
  std::string_view digits = words[key];
  if (digits.ends_with(".0")) digits.remove_suffix(2);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool all_read = end == digits.data() + digits.size();
  if (error == std::errc::result_out_of_range && all_read)
    refuse(key, fmt::format("'{}' is beyond 2^40", words[key]));
  if (error != std::errc() || !all_read) refuse(key, fmt::format("'{}' is not an integer", words[key]));
  if (value < 1) refuse(key, fmt::format("must be at least 1, not {}", value));
  if (value > kLargestExtent) refuse(key, fmt::format("must be at most 2^40, not {}", value));
  return value;
}

std::int64_t extent_or(const ShapeWords& words, ShapeKey key, std::int64_t otherwise) {
  return words[key].empty() ? otherwise : extent(words, key);
}

void need(const ShapeWords& words, std::string_view op, std::initializer_list<ShapeKey> keys) {
  for (const ShapeKey key : keys) {
    if (words[key].empty()) throw ShapeError(key, true, fmt::format("is missing; {} requires it", op));
  }
}

template <class... Extents>
double product(Extents... extents) {
  return (static_cast<double>(extents) * ...);
}

void refuse_absurd(ShapeKey key, double bytes, double flops) {
  if (bytes >= kTooMuch) refuse(key, fmt::format("the operator would move {:.2g} bytes", bytes));
  if (flops >= kTooMuch) refuse(key, fmt::format("the operator would compute {:.2g} flops", flops));
}

GemmShape gemm_of(const ShapeWords& words) {
  using enum ShapeKey;
  need(words, "gemm", {dtype, m, n, k});
  if (chosen_or(words, pass, kPasses, Pass::forward) == Pass::backward)
    refuse(pass, "the backward pass of a gemm is two other gemms; write those instead");
  const GemmShape shape{.m = extent(words, m),
                        .n = extent(words, n),
                        .k = extent(words, k),
                        .dtype = chosen(words, dtype, kDTypeNames),
                        .batch = extent_or(words, b, 1),
                        .traffic = chosen_or(words, traffic, kGemmTraffics, GemmTraffic::tiled)};
  const double elements = product(shape.m, shape.k) + product(shape.k, shape.n) + product(shape.m, shape.n);
  refuse_absurd(m, element_size(shape.dtype).value * static_cast<double>(shape.batch) * elements,
                2.0 * product(shape.batch, shape.m, shape.n, shape.k));
  return shape;
}

AttentionShape attention_of(const ShapeWords& words) {
  using enum ShapeKey;
  constexpr double kMostProducts = 7;  // two of the forward pass and five of the backward one
  constexpr double kMostTensors = 8;   // q, k, v, o, and a gradient of each
  need(words, "attention", {dtype, heads, seq, head_dim});
  AttentionShape shape{.batch = extent_or(words, b, 1),
                       .heads = extent(words, heads),
                       .queries = extent(words, seq),
                       .head_dim = extent(words, head_dim),
                       .causal = chosen_or(words, causal, kFlags, false),
                       .dtype = chosen(words, dtype, kDTypeNames),
                       .pass = chosen_or(words, pass, kPasses, Pass::forward)};
  shape.kv_heads = extent_or(words, kv_heads, shape.heads);
  shape.keys = extent_or(words, kv_seq, shape.queries);
  if (shape.heads % shape.kv_heads != 0)
    refuse(kv_heads, fmt::format("{} does not divide the {} heads", shape.kv_heads, shape.heads));
  const double in_a_row = product(shape.batch, shape.heads, shape.head_dim);
  refuse_absurd(seq,
                element_size(shape.dtype).value * kMostTensors * in_a_row *
                    static_cast<double>(std::max(shape.queries, shape.keys)),
                kMostProducts * 2.0 * in_a_row * product(shape.queries, shape.keys));
  return shape;
}

std::string_view without_alias(std::string_view op) {
  const auto found = std::ranges::find(kOpAliases, op, &Alias::first);
  return found == kOpAliases.end() ? op : found->second;
}

std::string unknown_op(std::string_view written) {
  std::vector<std::string> known = {"gemm", "attention"};
  for (const VectorOpTraits& op : vector_ops())
    known.emplace_back(op.name);
  return unknown_name("operator", written, known);
}

/// "gelu+add"
VectorChain chain_of(std::string_view names) {
  std::optional<VectorChain> chain;
  while (true) {
    const std::string_view name = names.substr(0, names.find('+'));
    const std::optional<VectorOp> op = vector_op(without_alias(name));
    if (!op) refuse(ShapeKey::op, unknown_op(name));
    try {
      chain ? chain->append(*op) : void(chain = *op);
    } catch (const std::logic_error& error) {
      refuse(ShapeKey::op, error.what());
    }
    if (name.size() == names.size()) return *chain;
    names.remove_prefix(name.size() + 1);
  }
}

VectorShape vector_of(const ShapeWords& words) {
  using enum ShapeKey;
  const VectorChain chain = chain_of(words[op]);
  need(words, words[op], {dtype, rows, cols});
  const VectorShape shape{.chain = chain,
                          .rows = extent(words, rows),
                          .cols = extent(words, cols),
                          .dtype = chosen(words, dtype, kDTypeNames),
                          .pass = chosen_or(words, pass, kPasses, Pass::forward)};
  double tensors = 0;
  double flops = 0;
  for (const VectorOp each : chain) {
    const VectorOpTraits& cost = traits(each);
    tensors += std::max(cost.reads + cost.writes, cost.backward_reads + cost.backward_writes);
    flops += cost.flops;
  }
  const double elements = product(shape.rows, shape.cols);
  refuse_absurd(rows, element_size(DType::fp32).value * tensors * elements, flops * elements);
  return shape;
}

}  // namespace

Operator operator_of(const ShapeWords& words) {
  need(words, "every operator", {ShapeKey::op});
  const std::string_view op = without_alias(words[ShapeKey::op]);
  if (op == "gemm") return gemm_of(words);
  if (op == "attention") return attention_of(words);
  return vector_of(words);
}

}  // namespace c3
