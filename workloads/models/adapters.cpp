#include "workloads/models/adapters.hpp"

#include <numeric>
#include <optional>
#include <utility>

namespace c3 { inline namespace workloads {
namespace {

/// Role of the adapter beside the projection \p id; nullopt: it has none.
std::optional<Role> adapter_role(const LoraSetup& lora, PartId id) {
  if (id.role == Role::qkv && lora.qkv) return Role::qkv_adapter;
  if (id.role == Role::out && lora.out) return Role::out_adapter;
  if (id.role == Role::gate_up && lora.gate_up) return Role::gate_up_adapter;
  if (id.role == Role::down && lora.down) return Role::down_adapter;
  return std::nullopt;
}

/// Freezes a part.
struct Freeze {
  bool feeds_adapter;  ///< as it is, without dropout

  void operator()(parts::Embedding& part) const { part.is_frozen = true; }
  void operator()(parts::Norm& part) const { part.is_frozen = true; }
  void operator()(parts::HeadNorm& part) const { part.is_frozen = true; }
  void operator()(parts::Router& part) const { part.is_frozen = true; }
  void operator()(parts::Projection& part) const {
    part.is_frozen = true;
    part.feeds_adapter = feeds_adapter;
  }
  template <typename Other>
  void operator()(Other& /*part*/) const {}
};

parts::Adapter adapter_beside(const parts::Projection& projection, const LoraSetup& lora, bool separate) {
  parts::Adapter adapter{.inputs = projection.inputs,
                         .outputs = projection.outputs,
                         .rank = lora.rank,
                         .drops = lora.dropout,
                         .exchanges = lora.all_to_all};
  if (!separate)
    adapter.outputs = {std::accumulate(adapter.outputs.begin(), adapter.outputs.end(), std::int64_t{0})};
  return adapter;
}

}  // namespace

std::vector<ModelPart> adapted(std::span<const ModelPart> parts, const LoraSetup& lora, bool separate) {
  std::vector<ModelPart> all;
  for (const ModelPart& part : parts) {
    const auto* const projection = std::get_if<parts::Projection>(&part.kind);
    const auto role = projection == nullptr ? std::nullopt : adapter_role(lora, part.id);
    std::visit(Freeze{role.has_value() && !lora.dropout}, all.emplace_back(part).kind);
    if (auto* const experts = std::get_if<parts::Experts>(&all.back().kind))
      experts->expert_parts = adapted(experts->expert_parts, lora, separate);
    if (role) all.push_back({{part.id.block, *role}, adapter_beside(*projection, lora, separate)});
  }
  return all;
}

std::vector<ModelPart> adapters_of(std::span<const ModelPart> parts) {
  std::vector<ModelPart> adapters;
  for (ModelPart part : parts) {
    auto* const experts = std::get_if<parts::Experts>(&part.kind);
    if (experts != nullptr) experts->expert_parts = adapters_of(experts->expert_parts);
    if (experts != nullptr || std::holds_alternative<parts::Adapter>(part.kind))
      adapters.push_back(std::move(part));
  }
  return adapters;
}

}}  // namespace c3::workloads
