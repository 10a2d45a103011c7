#include "workloads/sampling/grouped_invocations.hpp"

#include <algorithm>
#include <future>
#include <map>
#include <span>

namespace c3 { inline namespace sampling {
namespace {

constexpr std::size_t kWorthAThread = 100'000;  // members of a group: some ms to sort

/// The group that each kernel belongs to, and the names of the groups.
struct GroupNumbers {
  std::vector<std::uint32_t> of_kernel;
  std::vector<std::string> names;
};

GroupNumbers group_numbers(const std::vector<std::string>& kernels, GroupKey key) {
  GroupNumbers numbers;
  std::map<std::string, std::uint32_t> known;
  for (const std::string& kernel : kernels) {
    const std::string name = key == GroupKey::name_before_args ? kernel.substr(0, kernel.find('(')) : kernel;
    const auto [at, is_new] = known.emplace(name, static_cast<std::uint32_t>(numbers.names.size()));
    if (is_new) numbers.names.push_back(name);
    numbers.of_kernel.push_back(at->second);
  }
  return numbers;
}

/// Large groups on threads of their own.
void sort_groups(const std::vector<std::span<TimedInvocation>>& groups) {
  std::vector<std::future<void>> sorting;
  for (const std::span<TimedInvocation> group : groups) {
    const auto sort = [group] { std::ranges::sort(group); };
    group.size() > kWorthAThread ? sorting.push_back(std::async(std::launch::async, sort)) : sort();
  }
  for (std::future<void>& one : sorting)
    one.get();
}

}  // namespace

GroupedInvocations::GroupedInvocations(const Invocations& invocations, GroupKey key)
    : members_(std::make_shared<std::vector<TimedInvocation>>(invocations.size())) {
  GroupNumbers numbers = group_numbers(invocations.names(), key);
  std::vector<std::size_t> next(numbers.names.size() + 1, 0);
  for (std::size_t i = 0; i < invocations.size(); ++i)
    ++next[numbers.of_kernel[invocations.kernel(i)] + 1];
  for (std::size_t group = 1; group < next.size(); ++group)
    next[group] += next[group - 1];
  std::vector<std::span<TimedInvocation>> groups;
  for (std::size_t group = 0; group < numbers.names.size(); ++group) {
    groups.push_back(std::span(*members_).subspan(next[group], next[group + 1] - next[group]));
    groups_.push_back({std::move(numbers.names[group]), groups.back()});
  }
  for (std::size_t i = 0; i < invocations.size(); ++i) {
    const std::uint32_t group = numbers.of_kernel[invocations.kernel(i)];
    (*members_)[next[group]++] = {invocations.duration(i), static_cast<std::uint32_t>(i)};
  }
  sort_groups(groups);
}

}}  // namespace c3::sampling
