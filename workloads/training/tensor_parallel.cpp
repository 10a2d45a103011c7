#include "workloads/training/tensor_parallel.hpp"

#include "workloads/models/own_part.hpp"
#include "workloads/models/styles/style.hpp"

namespace c3 { inline namespace workloads {
namespace {

bool splits_inputs(PartId part) { return part.role == Role::out || part.role == Role::down; }

/// Divides the dimensions of each kind of part; of those not named, none.
class Share {
 public:
  Share(PartId part, std::int64_t ranks) : part_(part), ranks_(ranks) {}

  void operator()(parts::Embedding& part) const {
    part.rows.front() = rounded_up(part.rows.front());
    part.is_divided = ranks_ > 1;
  }
  void operator()(parts::Projection& part) const {
    if (splits_inputs(part_)) part.inputs /= ranks_;
    if (!splits_outputs(part_)) return;
    for (std::int64_t& outputs : part.outputs)
      outputs = rounded_up(outputs);
  }
  void operator()(parts::HeadNorm& part) const { divide_heads(part); }
  void operator()(parts::Rotation& part) const { divide_heads(part); }
  void operator()(parts::LatentRotation& part) const { part.heads /= ranks_; }
  void operator()(parts::Attention& part) const { divide_heads(part); }
  void operator()(parts::Activation& part) const {
    if (part_.block != BlockId::head) part.width /= ranks_;
  }
  void operator()(parts::Adapter& part) const {
    part.ranks = static_cast<int>(ranks_);
    part.splits_outputs = part_.role == Role::qkv_adapter || part_.role == Role::gate_up_adapter;
  }
  void operator()(parts::Loss& part) const { part.words = rounded_up(part.words); }
  void operator()(parts::Own& own) const { own.part = own.part->share(ranks_); }
  template <typename Other>
  void operator()(Other& /*part*/) const {}

 private:
  std::int64_t rounded_up(std::int64_t count) const { return (count + ranks_ - 1) / ranks_; }
  template <typename Heads>
  void divide_heads(Heads& part) const {
    part.heads /= ranks_;
    part.kv_heads /= ranks_;
  }

  PartId part_;
  std::int64_t ranks_;
};

}  // namespace

bool splits_outputs(PartId part) {
  return part.role == Role::qkv || part.role == Role::expand || part.role == Role::expand_kv ||
         part.role == Role::gate_up || part.role == Role::logits;
}

bool is_of_latent(const ModelDimensions& model, PartId part) {
  return model.latent && part.block == BlockId::self_attention &&
         (part.role == Role::expand || part.role == Role::expand_kv || part.role == Role::rope ||
          part.role == Role::index);
}

std::int64_t exchanged_width(const ModelDimensions& model, PartId part) {
  if (!is_of_latent(model, part)) return model.hidden;
  const LatentDimensions& latent = *model.latent;
  if (part.role == Role::rope) return latent.rotated_dim;
  if (part.role == Role::expand_kv) return latent.kv_rank;
  if (part.role == Role::index) return model.hidden;
  return latent.query_rank > 0 ? latent.query_rank : model.hidden;
}

std::int64_t whole_parameters(std::span<const ModelPart> parts) {
  std::int64_t sum = 0;
  for (const ModelPart& part : parts)
    if (part.id.role == Role::compress || part.id.role == Role::widen || part.id.role == Role::router ||
        part.id.role == Role::index)
      sum += parameters(part);
  return sum;
}

std::vector<ModelPart> share_of_experts(std::span<const ModelPart> parts, int ranks, int sharers) {
  std::vector<ModelPart> share(parts.begin(), parts.end());
  for (ModelPart& part : share) {
    auto* const experts = std::get_if<parts::Experts>(&part.kind);
    if (experts == nullptr) continue;
    experts->count /= ranks;
    experts->expert_parts = share_of(experts->expert_parts, sharers);
  }
  return share;
}

std::vector<ModelPart> share_of(std::span<const ModelPart> parts, int ranks) {
  std::vector<ModelPart> share(parts.begin(), parts.end());
  for (ModelPart& part : share)
    std::visit(Share(part.id, ranks), part.kind);
  return share;
}

PartCollectives collectives_of(const TrainingSetup& setup, PartId part, Pass pass) {
  if (setup.tensor_parallel == 1 || part.block == BlockId::experts) return {};
  const bool split = setup.sequence_parallel;
  const bool is_embedding = part == PartId{BlockId::embedding};
  const bool needs_all = splits_outputs(part) || is_of_latent(setup.model, part);
  if (pass == Pass::forward)
    return {.gathers = split && needs_all, .reduces = splits_inputs(part) || is_embedding};
  return {.gathers = split && (splits_inputs(part) || is_embedding),
          .reduces = needs_all && part.role != Role::index,  // whose input gets no gradient
          .gathers_input = split && splits_outputs(part) && setup.framework.kernels->gathers_again};
}

}}  // namespace c3::workloads
