#pragma once
/// Progressive filling, the inner step of FlowSolver: raise the level of a set of flows until each is stopped
/// by its own bound or by a full resource.

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "engine/flow.hpp"

namespace c3 { inline namespace engine { namespace filling {

inline constexpr std::uint32_t kNoResource = std::numeric_limits<std::uint32_t>::max();

/// A demand and where the resource lists it.
struct Membership {
  ResourceId resource;
  std::uint32_t position;  ///< in Resource::users
  double amount;
};

struct Flow {
  double rate = 0.0;
  double bound = kUnbounded;
  double weight = 1.0;
  double level = 0.0;                      ///< rate / weight after a solve with one class in flight
  std::uint32_t bottleneck = kNoResource;  ///< resource that limits it; none = its own bound
  PriorityClass priority = 0;
  bool alive = false;
  bool paused = false;   ///< takes nothing, keeps its place at its resources
  bool pausing = false;  ///< will be paused by the next solve, unless it goes on before
  bool changed = false;  ///< new, or parameters changed since the last solve
  bool working = false;  ///< being re-solved
  bool fixed = false;    ///< in the current filling
  double granted = 0.0;  ///< rate from which the current filling starts
  double next_rate = 0.0;
  double next_level = 0.0;
  std::uint32_t next_bottleneck = kNoResource;
  std::uint32_t limiting = 0;           ///< memberships at active resources; they come first
  std::vector<Membership> memberships;  ///< then those at idle ones

  std::span<const Membership> limits() const { return {memberships.data(), limiting}; }
  std::span<const Membership> idle() const { return std::span(memberships).subspan(limiting); }
};

struct User {
  std::uint32_t flow;
  std::uint32_t membership;  ///< index in Flow::memberships
  double amount;
};

/// Two cache lines: what a change of a rate touches, and the scratch of one filling.
struct alignas(64) Resource {
  double capacity = 0.0;
  double load = 0.0;       ///< sum of amount times rate
  double next_load = 0.0;  ///< while `planned`: after this solve
  std::vector<User> users;
  std::uint32_t load_updates = 0;  ///< since the load was last summed afresh
  std::uint32_t loading = 0;       ///< users with a rate above 0
  std::uint32_t limits = 0;        ///< flows whose bottleneck this is
  bool touched = false;
  bool neighbour = false;  ///< active, and used by a flow being re-solved
  bool active = true;      ///< fillings look at it; see FlowSolver
  bool planned = false;    ///< idle, and the current solve changes its load

  alignas(64) double residual = 0.0;
  double weight = 0.0;         ///< sum of amount times weight over flows that rose when it was summed
  double most = 0.0;           ///< load that flows of the filling add when all reach their bounds
  std::uint32_t unfixed = 0;   ///< flows of the filling that still rise
  bool stale = false;          ///< a flow was fixed since `weight` was summed
  std::uint32_t resolved = 0;  ///< of the flows in `limits`, those that are being re-solved
  std::uint8_t quiet = 0;      ///< solves since it was last near its capacity
  double highest_level = 0.0;  ///< over all users, valid in round `highest_round`
  std::uint64_t highest_round = 0;
};
static_assert(sizeof(Resource) == 128);

/// A resource that got full in a filling, and stopped flows.
struct Stop {
  double level;  ///< of the flows it stopped, and the highest of all that the filling gave its users
  double highest_of_others;  ///< level of a user that is not being re-solved
};

/// Fills flows on the residuals that the caller has prepared in Resource::residual.
class Filler {
 public:
  Filler(std::vector<Resource>& resources, std::vector<Flow>& flows) : resources_(resources), flows_(flows) {}

  /// Sets next_rate, next_level and next_bottleneck of each of \p flows (all with `fixed == false`), and
  /// reduces the residual of their resources (\p neighbours) by what they take. Ties: own bound before
  /// resource, lower id first.
  void fill(std::span<const std::uint32_t> flows, std::span<const ResourceId> neighbours);
  /// Of the last filling.
  std::span<const Stop> stops() const { return stops_; }

 private:
  struct Candidate {
    double level;
    std::uint32_t id;  ///< of a resource or a flow
  };
  struct Later {
    bool operator()(const Candidate& a, const Candidate& b) const {
      return a.level != b.level ? a.level > b.level : a.id > b.id;
    }
  };

  Candidate candidate(ResourceId resource) const;
  void sum_weight(ResourceId resource);
  void sort_bounds_until(double level);
  void take_lowest_stop();
  void fix(std::uint32_t flow, double rate, double level, std::uint32_t bottleneck);
  void fix_users(ResourceId resource, double level);

  std::vector<Resource>& resources_;
  std::vector<Flow>& flows_;
  std::vector<Candidate> full_;    ///< heap: resources by a level below which they are not full
  std::vector<Candidate> bounds_;  ///< flows by the level of their own bound: in no order, then descending
  std::size_t unsorted_ = 0;       ///< of bounds_, all of them above the others
  int partitions_ = 0;             ///< made of bounds_
  std::size_t left_ = 0;
  std::vector<Stop> stops_;
};

}}}  // namespace c3::engine::filling
