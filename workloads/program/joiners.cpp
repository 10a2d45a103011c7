#include "workloads/program/joiners.hpp"

#include <algorithm>
#include <numeric>

namespace c3 { inline namespace workloads {
namespace {

std::vector<bool> joins_of(const Script& script, std::size_t calls) {
  std::vector<bool> joins(calls);
  for_each_operation(script, [&](const Operation& operation) {
    if (const auto* join = std::get_if<JoinCall>(&operation.work)) joins[join->call] = true;
  });
  return joins;
}

}  // namespace

Joiners::Joiners(const Program& program) {
  if (program.scripts.size() < 2) return;
  for (const RankSpan& span : program.ranks)
    scripts_.insert(scripts_.end(), static_cast<std::size_t>(span.end - span.begin), span.script);
  for (const Script& script : program.scripts)
    joins_.push_back(joins_of(script, program.calls.size()));
}

bool Joiners::any(CallId call, const std::vector<int>& group) const {
  return joins_.empty() || std::ranges::any_of(group, [&](int rank) {
           return joins_[scripts_[static_cast<std::size_t>(rank)]][call];
         });
}

std::vector<std::uint32_t> Joiners::scripts_of(const std::vector<int>& group) const {
  std::vector<std::uint32_t> scripts;
  if (scripts_.empty()) return scripts;
  for (const int rank : group) {
    const std::uint32_t script = scripts_[static_cast<std::size_t>(rank)];
    const auto position = std::ranges::lower_bound(scripts, script);
    if (position == scripts.end() || *position != script) scripts.insert(position, script);
  }
  return scripts;
}

std::vector<CallId> calls_by_stream(const Program& program) {
  std::vector<CallId> order(program.calls.size());
  std::iota(order.begin(), order.end(), CallId{0});
  std::ranges::stable_sort(order, {}, [&](CallId number) { return program.calls[number].stream; });
  return order;
}

}}  // namespace c3::workloads
