#include "collectives/algorithms/graph_builder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/errors.hpp"

namespace c3 { inline namespace collectives {
namespace {

constexpr std::size_t kMostTransfers = 4'000'000;
constexpr std::size_t kDependenciesPerTransfer = 16;  // dependencies that take as much memory as one transfer

}  // namespace

std::uint32_t GraphBuilder::add(Transfer transfer) {
  size_ += kDependenciesPerTransfer + transfer.after.size();
  if (size_ > kMostTransfers * kDependenciesPerTransfer) {
    throw InfeasibleError(
        fmt::format("{} takes more than {} million transfers over {} ranks; choose grain gang or edge, the "
                    "hierarchical algorithm, or simulate one rank for all where ranks are alike (fold)",
                    name_, kMostTransfers / 1'000'000, graph_.ranks()));
  }
  graph_.steps = std::max(graph_.steps, transfer.step + 1);
  graph_.transfers.push_back(std::move(transfer));
  return next() - 1;
}

std::uint32_t GraphBuilder::add_next(Transfer transfer) {
  for (const std::uint32_t before : transfer.after)
    transfer.step = std::max(transfer.step, at(before).step + 1);
  transfer.stage = transfer.step;
  return add(std::move(transfer));
}

Exchange shift(int distance, int count) {
  return {[=](int at) { return (at + distance) % count; },
          [=](int at) { return (at + count - distance) % count; }};
}

Exchange shift(int nodes, int slots, int node_count, int members_per_node) {
  const auto moved = [=](int by_nodes, int by_slots) {
    return [=](int at) {
      const int node = (at / members_per_node + by_nodes) % node_count;
      return node * members_per_node + (at % members_per_node + by_slots) % members_per_node;
    };
  };
  return {moved(nodes, slots), moved(node_count - nodes, members_per_node - slots)};
}

Exchange with_itself() {
  const auto same = [](int at) { return at; };
  return {same, same};
}

std::uint32_t Rounds::add(const Transfer& pattern, const Exchange& exchange,
                          std::span<const std::uint32_t> after) {
  const std::uint32_t first = graph_.next();
  const int senders = folded_ ? 1 : static_cast<int>(ranks_.size());
  for (int sender = 0; sender < senders; ++sender) {
    Transfer transfer = pattern;
    transfer.src = ranks_[static_cast<std::size_t>(sender)];
    transfer.dst = ranks_[static_cast<std::size_t>(exchange.to(sender))];
    transfer.after.reserve(after.size());
    for (const std::uint32_t round : after) {
      const Round& before = rounds_[round];
      transfer.after.push_back(before.first + static_cast<std::uint32_t>(folded_ ? 0 : before.from(sender)));
    }
    graph_.add(std::move(transfer));
  }
  rounds_.push_back({first, exchange.from});
  return static_cast<std::uint32_t>(rounds_.size() - 1);
}

}}  // namespace c3::collectives
