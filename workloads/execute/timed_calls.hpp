#pragma once
/// Collectives of which only the time is known: members wait for each other, nothing is moved.

#include <cstddef>
#include <map>
#include <utility>

#include "collectives/cluster.hpp"
#include "engine/event.hpp"
#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

/// The program's calls that are timed, in each of their groups. Wrong when: what moves beside such a call would
/// slow it or be slowed by it.
class TimedCalls {
 public:
  /// Both must outlive it. Of ranks of a class one is simulated, and comes for all of them.
  TimedCalls(Cluster& cluster, const Program& program) : cluster_(cluster), program_(program) {}

  /// Ends \p lasts after the last member of \p rank's group has come. \p activity receives the call's on this
  /// rank. \param parent of that
  Task join(CallId call, int rank, int stream, Seconds lasts, ActivityId* activity, ActivityId parent);

 private:
  struct Meeting {
    explicit Meeting(Simulation& simulation, std::string name) : complete(simulation, std::move(name)) {}
    int missing = 0;
    Event complete;
  };
  Meeting& meeting(CallId call, int rank);
  /// Of a group, or with classes of ranks of one of Cluster::group_classes.
  int simulated_members(const CollectiveCall& what, std::size_t group);

  Cluster& cluster_;
  const Program& program_;
  std::map<std::pair<CallId, std::size_t>, Meeting> meetings_;  ///< by group, or class of groups
};

}}  // namespace c3::workloads
