#pragma once
/// Why a program cannot end: which streams wait for one another in a circle.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

/// A stream of a rank that cannot go on, and the one for which it waits.
struct StreamWait {
  int rank = 0;
  std::size_t stream = 0;
  std::size_t operation = 0;  ///< that waits
  int other_rank = 0;
  std::size_t other_stream = 0;
  /// In which the operation has been launched, behind one of the other stream that cannot start.
  std::optional<std::size_t> hardware_queue = std::nullopt;

  bool operator==(const StreamWait&) const = default;
};

/// Streams of which each waits for the next and the last for the first, where \p program cannot end under
/// \p strategy, whatever its operations take. Found on all \p ranks, whether they are simulated or not, in a
/// time that grows with their operations. Empty: there is no such circle. What waits for one, for a rank that
/// never comes, or for CUs is not looked for; nor are hardware queues into which several threads launch.
/// \param library says which messages leave before they are received; nullptr: none does
std::vector<StreamWait> waiting_cycle(const Program& program, const Strategy& strategy, int ranks,
                                      const CollectiveLibrarySpec* library = nullptr);

/// One line that names streams, ranks and operations.
std::string text_of(const std::vector<StreamWait>& waits, const Program& program);

}}  // namespace c3::workloads
