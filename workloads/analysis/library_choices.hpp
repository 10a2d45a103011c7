#pragma once
/// What a library chooses for the collectives of an experiment although another method would take less time.

#include <optional>
#include <string>
#include <vector>

#include "collectives/better_choice.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

/// Tries, of each stream, the calls that carry most bytes, each alike one once for all strategies.
class LibraryChoices {
 public:
  /// \p experiment must outlive it.
  explicit LibraryChoices(const Experiment& experiment) : experiment_(experiment) {}

  /// Of the calls under \p strategy for which there is a BetterChoice the one by which it loses most time, all
  /// calls like it taken together. Absent where there is none.
  std::optional<std::string> note(const Strategy& strategy);

 private:
  /// Calls that are alike.
  struct Alike {
    const Call* call;
    int count;

    double bytes() const { return count * call->what.bytes.value; }
  };
  struct Tried {
    CollectiveCall call;
    MethodWish wish;
    std::optional<BetterChoice> better;
  };

  std::vector<Alike> largest_calls() const;
  const std::optional<BetterChoice>& better(const CollectiveCall& call, const StreamPolicy& policy);

  const Experiment& experiment_;
  std::vector<Alike> largest_ = largest_calls();
  std::vector<Tried> tried_;
};

}}  // namespace c3::workloads
