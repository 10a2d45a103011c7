#include "workloads/training/context_rules.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace c3 { inline namespace workloads {
namespace {

using Broken = std::optional<BrokenRule>;

Broken rule_of_exchange(const ContextSplit& context) {
  const bool is_hierarchical = context.exchange == ContextExchange::hierarchical;
  if (context.inner > 0 && !is_hierarchical)
    return BrokenRule{
        "context_inner",
        fmt::format("requires context_exchange = \"hierarchical\" (it is \"{}\")", name_of(context.exchange))};
  if (context.ranks == 1) {
    if (context.exchange != ContextExchange::ring)
      return BrokenRule{"context_exchange", "requires context_parallel > 1 (it is 1)"};
    return std::nullopt;
  }
  if (!is_hierarchical) return std::nullopt;
  if (context.inner == 0)
    return BrokenRule{"context_exchange",
                      "\"hierarchical\" requires context_inner, the neighbours that exchange by all-to-alls"};
  if (context.inner == 1 || context.inner >= context.ranks || context.ranks % context.inner != 0)
    return BrokenRule{"context_inner",
                      fmt::format("must divide context_parallel, which is {}, into at least two groups of at "
                                  "least two ranks (it is {})",
                                  context.ranks, context.inner)};
  return std::nullopt;
}

// All-to-alls divide heads. Keys and values of fewer heads than ranks are repeated.
Broken rule_of_heads(const TrainingSetup& setup) {
  const std::int64_t ranks = setup.context.head_ranks(), share = setup.tensor_parallel;
  if (ranks == 1) return std::nullopt;
  const std::string product =
      share == 1 ? fmt::format("{}", ranks) : fmt::format("{} x {} tensor-parallel ranks", ranks, share);
  const char* const key =
      setup.context.exchange == ContextExchange::hierarchical ? "context_inner" : "context_parallel";
  if (setup.model.heads % (ranks * share) != 0)
    return BrokenRule{key, fmt::format("all-to-alls divide heads among ranks: {} does not divide the model's "
                                       "heads, which is {}",
                                       product, setup.model.heads)};
  const std::int64_t kv_heads = setup.model.kv_heads / share;
  if (kv_heads % ranks != 0 && ranks % kv_heads != 0)
    return BrokenRule{key, fmt::format("all-to-alls divide heads among ranks: {} neither divides the model's "
                                       "kv_heads, which is {}, nor is a multiple of it",
                                       product, setup.model.kv_heads)};
  return std::nullopt;
}

}  // namespace

BrokenRules broken_context_rules(const TrainingSetup& setup) {
  BrokenRules broken;
  add(broken, rule_of_exchange(setup.context));
  const int ranks = setup.context.ranks;
  if (ranks == 1) return broken;
  if (setup.framework.attention == AttentionCode::products)
    broken.push_back(
        {"context_parallel", "requires attention in one kernel; framework.attention is \"products\""});
  if (setup.model.latent)
    broken.push_back({"context_parallel", "is not supported with latent attention (model.latent)"});
  const int pieces = 2 * ranks;
  if (setup.sequence % pieces != 0)
    broken.push_back({"context_parallel",
                      fmt::format("cuts a sequence into {} pieces, two of each rank, and {} tokens do not "
                                  "divide among them",
                                  pieces, setup.sequence)});
  if (broken.empty()) add(broken, rule_of_heads(setup));
  return broken;
}

RankGroups groups_of_heads(const ContextSplit& split, const RankGrid& grid) {
  return {.size = split.head_ranks(), .stride = grid.stride(GridAxis::context)};
}

RankGroups ring_of_keys(const ContextSplit& split, const RankGrid& grid) {
  return {.size = split.key_ranks(), .stride = grid.stride(GridAxis::context) * split.head_ranks()};
}

}}  // namespace c3::workloads
