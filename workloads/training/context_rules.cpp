#include "workloads/training/context_rules.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "workloads/models/transformer.hpp"

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
Broken rule_of_heads(const TrainingSetup& setup, const BlockDimensions& block) {
  const std::int64_t ranks = setup.context.head_ranks(), share = setup.tensor_parallel;
  if (ranks == 1) return std::nullopt;
  const std::string product =
      share == 1 ? fmt::format("{}", ranks) : fmt::format("{} x {} tensor-parallel ranks", ranks, share);
  const char* const key =
      setup.context.exchange == ContextExchange::hierarchical ? "context_inner" : "context_parallel";
  for (const DividedCount& divided : block.kind->divided(setup.model, block.sizes)) {
    const bool may_repeat = divided.what == "kv_heads";
    const std::int64_t whole = may_repeat ? divided.count / share : divided.count;
    const std::int64_t by = may_repeat ? ranks : ranks * share;
    if (whole % by == 0 || (may_repeat && whole > 0 && by % whole == 0)) continue;
    return BrokenRule{
        key, fmt::format("all-to-alls divide heads among ranks: {} {} {} {}, which is {}{}", product,
                         may_repeat ? "neither divides" : "does not divide", owner_of(block), divided.what,
                         divided.count, may_repeat ? ", nor is a multiple of it" : "")};
  }
  return std::nullopt;
}

Broken rule_of_blocks(const TrainingSetup& setup) {
  for (const BlockDimensions& block : mixers_of(setup.model)) {
    if (const auto why = block.kind->refused_split(block.sizes, setup.context))
      return BrokenRule{"context_parallel", *why};
  }
  return std::nullopt;
}

}  // namespace

BrokenRules broken_context_rules(const TrainingSetup& setup) {
  BrokenRules broken;
  add(broken, rule_of_exchange(setup.context));
  const bool is_split = broken.empty();
  const int ranks = setup.context.ranks;
  if (ranks == 1) return broken;
  if (setup.framework.attention == AttentionCode::products)
    broken.push_back(
        {"context_parallel", "requires attention in one kernel; framework.attention is \"products\""});
  if (is_split) add(broken, rule_of_blocks(setup));
  const int pieces = 2 * ranks;
  if (setup.sequence % pieces != 0)
    broken.push_back({"context_parallel",
                      fmt::format("cuts a sequence into {} pieces, two of each rank, and {} tokens do not "
                                  "divide among them",
                                  pieces, setup.sequence)});
  if (!broken.empty()) return broken;
  for (const BlockDimensions& block : mixers_of(setup.model))
    add(broken, rule_of_heads(setup, block));
  return broken;
}

RankGroups groups_of_heads(const ContextSplit& split, const RankGrid& grid) {
  return {.size = split.head_ranks(), .stride = grid.stride(GridAxis::context)};
}

RankGroups ring_of_keys(const ContextSplit& split, const RankGrid& grid) {
  return {.size = split.key_ranks(), .stride = grid.stride(GridAxis::context) * split.head_ranks()};
}

}}  // namespace c3::workloads
