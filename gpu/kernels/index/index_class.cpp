#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gpu/kernels/index/index_shape.hpp"
#include "gpu/kernels/operator_class.hpp"
#include "gpu/kernels/tiling.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr std::array<std::string_view, 3> kProducts = {"index_logits", "index_target", "index_gradient"};
constexpr std::array<std::string_view, 1> kChoices = {"index_select"};

bool chooses(const IndexShape& shape) { return shape.stage == IndexStage::select; }

Operator read(const ShapeWords& words) {
  using enum ShapeKey;
  IndexShape shape{.stage = chosen<IndexStage>(words, op)};
  if (chooses(shape))
    need(words, words[op], {seq, selected});
  else
    need(words, words[op], {dtype, heads, seq, head_dim});
  if (!chooses(shape) && shape.stage != IndexStage::logits) need(words, words[op], {selected});
  shape.batch = extent_or(words, b, 1);
  shape.queries = extent(words, seq);
  shape.keys = extent_or(words, kv_seq, shape.queries);
  if (shape.stage != IndexStage::logits) shape.selected = extent(words, selected);
  if (shape.queries > shape.keys)
    refuse(kv_seq, fmt::format("must be at least seq, which is {} (it is {})", shape.queries, shape.keys));
  if (chooses(shape)) {
    shape.dtype = DType::fp32;
  } else {
    shape.heads = extent(words, heads);
    shape.head_dim = extent(words, head_dim);
    shape.dtype = chosen<DType>(words, dtype);
  }
  constexpr double kMostProducts = 6;
  const auto product = [](auto... extents) { return (... * static_cast<double>(extents)); };
  const double pairs = product(shape.batch, shape.queries, shape.keys);
  refuse_absurd(seq, 8.0 * (pairs + product(shape.batch, shape.keys, shape.heads, shape.head_dim)),
                kMostProducts * pairs * product(shape.heads, shape.head_dim));
  return shape;
}

std::vector<ShapeField> fields(const IndexShape& shape) {
  using enum ShapeKey;
  std::vector<ShapeField> fields = {{b, shape.batch}, {seq, shape.queries}, {kv_seq, shape.keys}};
  if (!chooses(shape)) {
    fields.insert(fields.begin(), {dtype, name_of(shape.dtype)});
    fields.push_back({heads, shape.heads});
    fields.push_back({head_dim, shape.head_dim});
  }
  if (shape.stage != IndexStage::logits) fields.push_back({selected, shape.selected});
  return fields;
}

std::string name_of_stage(const IndexShape& shape) { return std::string(name_of(shape.stage)); }

/// "2 of 64 heads, 4096 x 4096 x 128 fp8", "2 of 4096 x 4096, the best 2048"
std::string shape_text(const IndexShape& shape) {
  const std::string best = shape.selected > 0 ? fmt::format(", the best {}", shape.selected) : "";
  if (chooses(shape)) return fmt::format("{} of {} x {}{}", shape.batch, shape.queries, shape.keys, best);
  return fmt::format("{} of {} heads, {} x {} x {} {}{}", shape.batch, shape.heads, shape.queries, shape.keys,
                     shape.head_dim, name_of(shape.dtype), best);
}

Bytes output(const IndexShape& shape) { return counts_of(shape).written; }

DType multiplies(const IndexShape& shape) { return shape.dtype; }

Flops products(const IndexShape& shape) { return counts_of(shape).flops; }

std::string_view coefficients(const IndexShape&) { return "attention"; }

/// Scores are issued as vector operators are.
GpuUse uses(const IndexShape& shape, const GpuSpec&) {
  return {.coefficients = {"attention", "vector"}, .peaks = {shape.dtype, DType::fp32}};
}

GpuUse uses_of_choice(const IndexShape&, const GpuSpec&) { return use_of_vector_units("vector"); }

std::vector<std::int64_t> shape_numbers(const IndexShape& shape) {
  return {static_cast<std::int64_t>(shape.stage),
          shape.batch,
          shape.heads,
          shape.queries,
          shape.keys,
          shape.head_dim,
          shape.selected,
          static_cast<std::int64_t>(shape.dtype)};
}

/// Sequences are cut, never a sequence.
Operator part_of_index(const IndexShape& shape, std::int64_t parts) {
  IndexShape cut = shape;
  cut.batch = ceil_div(shape.batch, parts);
  return cut;
}

}  // namespace

extern constexpr OperatorClass kIndexClass = {.name = "index",
                                              .operators = kProducts,
                                              .read = read,
                                              .fields = on_shape<&fields>,
                                              .shape_text = on_shape<&shape_text>,
                                              .describe = on_shape<&describe_index>,
                                              .output = on_shape<&output>,
                                              .name_of = on_shape<&name_of_stage>,
                                              .multiplies = on_shape<&multiplies>,
                                              .matrix_flops = on_shape<&products>,
                                              .coefficients = on_shape<&coefficients>,
                                              .uses = on_shape<&uses>,
                                              .shape_numbers = on_shape<&shape_numbers>,
                                              .part = on_shape<&part_of_index>};

/// What multiplies nothing is projected by its bytes.
extern constexpr OperatorClass kIndexSelectClass = {.name = "index_select",
                                                    .operators = kChoices,
                                                    .read = read,
                                                    .fields = on_shape<&fields>,
                                                    .shape_text = on_shape<&shape_text>,
                                                    .describe = on_shape<&describe_index>,
                                                    .output = on_shape<&output>,
                                                    .uses = on_shape<&uses_of_choice>,
                                                    .shape_numbers = on_shape<&shape_numbers>,
                                                    .part = on_shape<&part_of_index>};

const OperatorClass& operator_class(const IndexShape& shape) {
  return chooses(shape) ? kIndexSelectClass : kIndexClass;
}

}}  // namespace c3::gpu
