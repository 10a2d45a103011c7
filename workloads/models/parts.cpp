#include "workloads/models/parts.hpp"

#include <numeric>

#include "workloads/models/own_part.hpp"

namespace c3 { inline namespace workloads {
namespace {

/// Counts the weights of each kind of part; kinds that are not named here have none.
struct Weights {
  std::int64_t operator()(const parts::Embedding& embedding) const {
    if (embedding.is_shared) return 0;
    return std::accumulate(embedding.rows.begin(), embedding.rows.end(), std::int64_t{0}) * embedding.width;
  }
  std::int64_t operator()(const parts::RelativeBias& bias) const { return bias.buckets * bias.heads; }
  std::int64_t operator()(const parts::Norm& norm) const {
    return norm.formula == Norm::layernorm ? 2 * norm.width : norm.width;  // weight and bias, or weight
  }
  std::int64_t operator()(const parts::HeadNorm& norm) const {
    return 2 * (*this)(parts::Norm{.formula = norm.formula, .width = norm.head_dim});
  }
  std::int64_t operator()(const parts::Projection& projection) const {
    const std::int64_t outputs =
        std::accumulate(projection.outputs.begin(), projection.outputs.end(), std::int64_t{0});
    return (projection.is_tied ? 0 : outputs * projection.inputs) + (projection.has_bias ? outputs : 0);
  }
  std::int64_t operator()(const parts::Adapter& adapter) const {
    std::int64_t sum = 0;
    for (const std::int64_t outputs : adapter.outputs)
      sum += (adapter.inputs + outputs) * adapter.rank;
    return sum / adapter.ranks;
  }
  std::int64_t operator()(const parts::Attention& attention) const {
    constexpr std::int64_t kBiases = 3, kSegments = 2;  // of width
    const std::int64_t of_positions =
        attention.position_inputs > 0 ? attention.position_inputs + kBiases + kSegments : 0;
    return (attention.has_sinks ? attention.heads : 0) + of_positions * attention.heads * attention.head_dim;
  }
  std::int64_t operator()(const parts::Router& router) const {
    return router.experts * (router.width + (router.has_bias ? 1 : 0));
  }
  std::int64_t operator()(const parts::Experts& experts) const {
    std::int64_t sum = 0;
    for (const ModelPart& part : experts.expert_parts)
      sum += (std::holds_alternative<parts::Adapter>(part.kind) ? 1 : experts.count) * parameters(part);
    return sum;
  }
  std::int64_t operator()(const parts::Classes& classes) const {
    return classes.width * classes.width + classes.width + classes.classes * (classes.width + 1);
  }
  std::int64_t operator()(const parts::Own& own) const { return own.part->parameters(); }
  template <typename Other>
  std::int64_t operator()(const Other& /*part*/) const {
    return 0;
  }
};

}  // namespace

std::string name_of(PartId part) {
  std::string name(name_of(part.block));
  if (part.role != Role::whole) name.append(".").append(name_of(part.role));
  return name;
}

std::int64_t parameters(const ModelPart& part) { return std::visit(Weights{}, part.kind); }

std::int64_t parameters(std::span<const ModelPart> parts) {
  std::int64_t sum = 0;
  for (const ModelPart& part : parts)
    sum += parameters(part);
  return sum;
}

std::int64_t active_parameters(std::span<const ModelPart> parts) {
  std::int64_t sum = parameters(parts);
  for (const ModelPart& part : parts) {
    if (const auto* const experts = std::get_if<parts::Experts>(&part.kind))
      sum -= (experts->count - experts->per_token) * parameters(experts->expert_parts);
  }
  return sum;
}

}}  // namespace c3::workloads
