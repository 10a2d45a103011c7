#pragma once
/// Invocations grouped by kernel, each group sorted by duration.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "workloads/sampling/clusters.hpp"
#include "workloads/sampling/invocations.hpp"

namespace c3 { inline namespace sampling {

/// What makes two kernels one group.
enum class GroupKey : std::uint8_t {
  name,             ///< the whole name
  name_before_args  ///< up to the first "(": overloads of a function, and different arguments, are one
};

struct KernelGroup {
  std::string name;
  Cluster members;
};

/// Copies share the members. Groups are in the order in which their kernels ran first.
class GroupedInvocations {
 public:
  GroupedInvocations(const Invocations& invocations, GroupKey key);

  const std::vector<KernelGroup>& groups() const { return groups_; }
  /// Keeps the members of all groups.
  std::shared_ptr<const std::vector<TimedInvocation>> members() const { return members_; }

 private:
  std::shared_ptr<std::vector<TimedInvocation>> members_;
  std::vector<KernelGroup> groups_;
};

}}  // namespace c3::sampling
