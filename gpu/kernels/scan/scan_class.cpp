#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gpu/kernels/operator_class.hpp"
#include "gpu/kernels/scan/scan_kernel.hpp"
#include "gpu/kernels/scan/scan_work.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr std::array<std::string_view, 2> kOperators = {"gated_delta", "mamba2"};  // as ScanRule
constexpr std::array<std::string_view, 2> kAliases = {"gated_delta_rule", "ssd"};

ScanRule rule_of(std::string_view op) {
  return op == kOperators[0] || op == kAliases[0] ? ScanRule::gated_delta : ScanRule::mamba2;
}

/// Refuses a kernel that the rule does not launch in this pass, with those that it does.
ScanStage stage_in(const ShapeWords& words, ScanRule rule, Pass pass) {
  std::vector<std::string> known;
  for (const ScanStage each : scan_stages(rule, pass))
    if (std::ranges::find(known, c3::name_of(each)) == known.end()) known.emplace_back(c3::name_of(each));
  const auto stage = value_named<ScanStage>(words[ShapeKey::stage]);
  if (stage && std::ranges::find(known, c3::name_of(*stage)) != known.end()) return *stage;
  refuse_name(words, ShapeKey::stage, known);
}

void refuse_absurd_scan(const ScanShape& shape) {
  // Before counts in 64 bits: every number of a tensor or a product is below these.
  constexpr double kMostTensors = 16, kMostProducts = 16;
  const auto product = [](auto... extents) { return (... * static_cast<double>(extents)); };
  const double tokens = product(shape.batch, shape.heads, std::max(shape.length, shape.chunk));
  const double widest = static_cast<double>(std::max({shape.key_dim, shape.value_dim, shape.chunk}));
  const double states = product(shape.key_dim, shape.value_dim);
  refuse_absurd(ShapeKey::seq, kMostTensors * element_size(DType::fp32).value * tokens * (widest + states),
                kMostProducts * tokens * (widest * widest + states));
}

Operator read(const ShapeWords& words) {
  using enum ShapeKey;
  need(words, words[op], {dtype, stage, heads, seq, head_dim});
  const ScanRule rule = rule_of(words[op]);
  ScanShape shape{.rule = rule,
                  .batch = extent_or(words, b, 1),
                  .length = extent(words, seq),
                  .heads = extent(words, heads),
                  .key_dim = extent(words, head_dim),
                  .chunk = extent_or(words, chunk, usual_chunk(rule)),
                  .dtype = chosen<DType>(words, dtype),
                  .pass = chosen_or(words, pass, Pass::forward),
                  .state = chosen_or(words, initial, ScanState::fresh)};
  shape.stage = stage_in(words, rule, shape.pass);
  shape.key_heads = extent_or(words, kv_heads, shape.heads);
  shape.value_dim = extent_or(words, value_dim, shape.key_dim);
  if (shape.dtype != DType::bf16 && shape.dtype != DType::fp16)
    refuse(dtype, "must be bf16 or fp16 of a recurrence");
  if (shape.heads % shape.key_heads != 0)
    refuse(kv_heads, fmt::format("{} does not divide the {} heads", shape.key_heads, shape.heads));
  if (shape.state == ScanState::carried && shape.pass == Pass::backward)
    refuse(initial, "carried states are of the forward pass; set pass to forward or initial to fresh");
  refuse_absurd_scan(shape);
  return shape;
}

std::vector<ShapeField> fields(const ScanShape& shape) {
  using enum ShapeKey;
  return {{dtype, name_of(shape.dtype)}, {stage, name_of(shape.stage)},  {b, shape.batch},
          {heads, shape.heads},          {kv_heads, shape.key_heads},    {seq, shape.length},
          {head_dim, shape.key_dim},     {value_dim, shape.value_dim},   {chunk, shape.chunk},
          {pass, name_of(shape.pass)},   {initial, name_of(shape.state)}};
}

std::string name_of_rule(const ScanShape& shape) { return std::string(name_of(shape.rule)); }

/// "states of 2 of 32/16 heads, 4096 x 128/128 in chunks of 64 bf16 backward"
std::string shape_text(const ScanShape& shape) {
  return fmt::format("{} of {} of {}/{} heads, {} x {}/{} in chunks of {} {}{}{}", name_of(shape.stage),
                     shape.batch, shape.heads, shape.key_heads, shape.length, shape.key_dim, shape.value_dim,
                     shape.chunk, name_of(shape.dtype), shape.pass == Pass::backward ? " backward" : "",
                     shape.state == ScanState::carried ? " carried" : "");
}

Bytes output(const ScanShape& shape) { return counts_of(shape).written; }

DType multiplies(const ScanShape& shape) { return shape.dtype; }

Flops products(const ScanShape& shape) { return counts_of(shape).flops; }

std::string_view coefficients(const ScanShape&) { return "scan"; }

/// Beside the products: instructions are issued, and caches miss, as those of vector operators.
GpuUse uses(const ScanShape& shape, const GpuSpec&) {
  return {.coefficients = {"scan", "vector"}, .peaks = {shape.dtype}};
}

std::vector<std::int64_t> shape_numbers(const ScanShape& shape) {
  return {static_cast<std::int64_t>(shape.rule),
          shape.batch,
          shape.length,
          shape.heads,
          shape.key_heads,
          shape.key_dim,
          shape.value_dim,
          shape.chunk,
          static_cast<std::int64_t>(shape.dtype)};
}

/// Sequences are cut, never a sequence.
Operator part_of_scan(const ScanShape& shape, std::int64_t parts) {
  ScanShape cut = shape;
  cut.batch = (shape.batch + parts - 1) / parts;
  return cut;
}

}  // namespace

extern constexpr OperatorClass kScanClass = {.name = "scan",
                                             .operators = kOperators,
                                             .aliases = kAliases,
                                             .read = read,
                                             .fields = on_shape<&fields>,
                                             .shape_text = on_shape<&shape_text>,
                                             .describe = on_shape<&describe_scan>,
                                             .output = on_shape<&output>,
                                             .name_of = on_shape<&name_of_rule>,
                                             .multiplies = on_shape<&multiplies>,
                                             .matrix_flops = on_shape<&products>,
                                             .coefficients = on_shape<&coefficients>,
                                             .uses = on_shape<&uses>,
                                             .shape_numbers = on_shape<&shape_numbers>,
                                             .part = on_shape<&part_of_scan>};

const OperatorClass& operator_class(const ScanShape&) { return kScanClass; }

}}  // namespace c3::gpu
