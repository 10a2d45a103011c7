#pragma once
/// What a run's end waited for, through kernels, collectives, hosts and ranks.

#include <string>
#include <vector>

#include "workloads/execute/partition.hpp"
#include "workloads/explain/causes.hpp"

namespace c3 { inline namespace workloads {

/// Operations of one class, of all simulated ranks.
struct PathClass {
  std::string name;       ///< as class_of names it; "launch" of what hosts and launches take between operations
  Seconds on_path = {};   ///< of the critical path, that it is made of
  std::size_t on = 0;     ///< operations on the path
  std::size_t off = 0;    ///< others
  Seconds off_path = {};  ///< how long those last, added up
  Seconds least_slack = {};  ///< of those: by how much the first of them may be late until the run takes longer
  Seconds median_slack = {};  ///< likewise of the middle one

  bool operator==(const PathClass&) const = default;
};

struct CriticalPath {
  Seconds time;                    ///< of the run; its classes' on_path add up to it
  std::vector<PathClass> classes;  ///< the longest on the path first
};

/// An operation of a run, or an event for which a stream waited.
struct PathNode {
  std::string operator_class;  ///< empty: a wait for an event, which takes no time of its own
  Seconds begin, end;
  std::vector<std::size_t> after = {};  ///< positions of those whose ends it waited for
  int meeting = -1;  ///< operations of equal numbers begin when the last of them does, and end together
};

/// From the node that ends last backwards: each follows the one that it waited for longest, of a meeting the
/// one that its last member waited for. What is between two is `launch`. Slack is what remains when every
/// operation keeps its length, and the one that it waited for longest its distance. \param nodes each after
/// those that it waits for
CriticalPath critical_path(const std::vector<PathNode>& nodes);

/// Of the first repetition of \p experiment, of a step that is shortened of the part from which its time
/// follows. Collectives and messages of equal names that are in flight on several ranks at once are taken for
/// meetings. Wrong when: those are of different groups; CUs for which kernels wait, or bandwidth that they
/// share, decide.
CriticalPath critical_path(const Experiment& experiment, const Strategy& strategy, const CuChoice& cus);

}}  // namespace c3::workloads
