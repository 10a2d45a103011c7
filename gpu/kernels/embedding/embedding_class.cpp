#include <fmt/format.h>

#include <array>

#include "gpu/kernels/embedding/embedding_kernel.hpp"
#include "gpu/kernels/operator_class.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr std::array<std::string_view, 2> kOperators = {"embedding_bag", "embedding_bag_weighted"};

Operator read(const ShapeWords& words) {
  using enum ShapeKey;
  need(words, words[op], {dtype, b, rows, cols, lookups});
  const EmbeddingShape shape{.bags = extent(words, b),
                             .tables = extent_or(words, tables, 1),
                             .rows = extent(words, rows),
                             .cols = extent(words, cols),
                             .lookups = extent(words, lookups),
                             .dtype = chosen<DType>(words, dtype),
                             .pass = chosen_or(words, pass, Pass::forward),
                             .update = chosen_or(words, update, RowUpdate::exact_sgd),
                             .is_weighted = words[op] == kOperators[1],
                             .reuse = chosen_or(words, reuse, ReuseProfile::uniform)};
  if (shape.reuse == ReuseProfile::custom)
    refuse(reuse, "'custom' needs a histogram, which only [recommendation] takes");
  const double gathered = all_lookups(shape) * static_cast<double>(shape.cols);
  refuse_absurd(b, 4.0 * gathered, gathered);
  refuse_absurd(rows, table_bytes(shape).value, 0.0);
  return shape;
}

std::vector<ShapeField> fields(const EmbeddingShape& shape) {
  using enum ShapeKey;
  return {{dtype, name_of(shape.dtype)},
          {b, shape.bags},
          {rows, shape.rows},
          {cols, shape.cols},
          {pass, name_of(shape.pass)},
          {tables, shape.tables},
          {lookups, shape.lookups},
          {reuse, name_of(shape.reuse)},
          {update, name_of(shape.update)}};
}

std::string shape_text(const EmbeddingShape& shape) {
  const bool backward = shape.pass == Pass::backward;
  return fmt::format("{} x {} tables of {} x {} {}, {} lookups{}{}{}", shape.bags, shape.tables, shape.rows,
                     shape.cols, name_of(shape.dtype), shape.lookups, backward ? ", backward " : "",
                     backward ? name_of(shape.update) : "", shape.others.empty() ? "" : ", and others");
}

Bytes output(const EmbeddingShape& shape) {
  const Bytes row = element_size(shape.dtype) * static_cast<double>(shape.cols);
  const auto tables = static_cast<double>(shape.tables);
  const auto bags = static_cast<double>(shape.bags);
  const bool forward = shape.pass == Pass::forward;
  const double of_table = forward ? bags : reuse_of(shape).distinct(bags * static_cast<double>(shape.lookups));
  Bytes sum = row * (tables * of_table);
  for (const EmbeddingShape& other : shape.others)
    sum += output(other);
  return sum;
}

std::string name_of_op(const EmbeddingShape& shape) {
  return std::string(kOperators.at(shape.is_weighted ? 1 : 0));
}

GpuUse uses(const EmbeddingShape&, const GpuSpec&) { return {.peaks = {DType::fp32}}; }

EmbeddingShape cut(EmbeddingShape shape, std::int64_t parts) {
  shape.bags = (shape.bags + parts - 1) / parts;
  for (EmbeddingShape& other : shape.others)
    other = cut(other, parts);
  return shape;
}

Operator part(const EmbeddingShape& shape, std::int64_t parts) { return cut(shape, parts); }

}  // namespace

extern constexpr OperatorClass kEmbeddingClass = {.name = "embedding",
                                                  .operators = kOperators,
                                                  .read = read,
                                                  .fields = on_shape<&fields>,
                                                  .shape_text = on_shape<&shape_text>,
                                                  .describe = on_shape<&describe_embedding>,
                                                  .output = on_shape<&output>,
                                                  .name_of = on_shape<&name_of_op>,
                                                  .uses = on_shape<&uses>,
                                                  .part = on_shape<&part>};

const OperatorClass& operator_class(const EmbeddingShape&) { return kEmbeddingClass; }

}}  // namespace c3::gpu
