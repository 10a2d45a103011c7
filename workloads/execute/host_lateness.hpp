#pragma once
/// By how much hosts are late that now and then stand still.

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/random.hpp"
#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

/// One host thread for which it is drawn when it stands still; or the latest of several hosts, since they last
/// waited for the same thing, by expectation (expected_largest_stall_sum): a collective waits for that one.
/// Work that a host launched ahead of its GPU absorbs it. Wrong when: hosts wait for one another without a
/// collective; one is held up more often than the others; the launch queue of those that are ahead is full.
class HostLateness {
 public:
  /// Draws of \p random.
  HostLateness(const HostStalls& stalls, const RandomStream& random);
  /// \param hosts at least one
  HostLateness(const HostStalls& stalls, int hosts);

  /// By how much later than before the host is after \p work.
  Seconds after(Seconds work);
  /// It has waited for something, as all have then: none is behind another any more.
  void meet() { worked_ = behind_ = {}; }

 private:
  Seconds drawn(Seconds work);
  /// Expected after \p worked since they met.
  Seconds expected(Seconds worked);

  HostStalls stalls_;
  std::optional<RandomStream> random_ = std::nullopt;
  std::uint64_t draws_ = 0;
  Seconds next_;  ///< of work until the next stall that is drawn
  int hosts_ = 1;
  std::vector<double> grid_;  ///< expected lateness in stalls, at counts of them that grow as squares
  Seconds worked_, behind_;   ///< since they met
};

/// By thread of \p host. \param hosts for which it stands, of other ranks too; 0: for itself alone, and it
/// draws by (\p seed, \p rank, thread)
std::vector<HostLateness> lateness_of_threads(const HostProgram& host, int hosts, std::uint64_t seed, int rank);

}}  // namespace c3::workloads
