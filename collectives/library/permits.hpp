#pragma once
/// What a user allows a library to choose, as NCCL's environment variables do.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/call.hpp"

namespace c3 { inline namespace collectives {

/// Names that one operation, or all, may have or may not have.
struct PermitList {
  std::optional<CollectiveKind> kind = std::nullopt;  ///< absent: of every operation
  bool excludes = false;                              ///< all but `names`
  std::vector<std::string> names = {};

  bool operator==(const PermitList&) const = default;
};

/// Lists in the order in which they were written: of those that speak of an operation the last one counts.
class Permits {
 public:
  Permits() = default;
  explicit Permits(std::vector<PermitList> lists) : lists_(std::move(lists)) {}

  bool allow(CollectiveKind kind, std::string_view name) const;

  bool operator==(const Permits&) const = default;

 private:
  std::vector<PermitList> lists_;
};

/// What a library may choose among. Operations that it runs as sends and receives have no choice (NCCL_ALGO and
/// NCCL_PROTO do not reach them).
struct MethodPermits {
  Permits algorithms = {}, protocols = {};
  bool nvls = true;     ///< reduction and multicast by the node's switch, see Algorithm::nvls and nvls_tree
  bool collnet = true;  ///< reduction by the fabric's switches

  bool operator==(const MethodPermits&) const = default;
};

}}  // namespace c3::collectives
