#pragma once
/// Tokens sent to their experts and back (DeepEP's dispatch and combine), against the SMs that do it.

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectives/spec.hpp"
#include "importers/collective_times/headed_table.hpp"
#include "studies/collectives/systems_map.hpp"
#include "studies/simulations.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// Whether \p file is such a table: it has columns `num_token` and `dispatch_sms`.
bool is_expert_table(const HeadedTable& file);

/// What a token is, and how many experts want it.
struct ExpertShape {
  int hidden = 0;
  int chosen = 0;   ///< experts of a token
  int experts = 0;  ///< of all ranks, the same number on each

  bool operator==(const ExpertShape&) const = default;
};

/// Ranks that a token goes to, on average, when each of its experts is chosen by chance: it is sent once to a
/// rank with several. \f$ R (1 - C(E - E/R, k) / C(E, k)) \f$, its own rank included.
double destinations(const ExpertShape& shape, int ranks);

/// Bytes of a token: dispatched in FP8 with a scale of 4 bytes for each 128 values, combined in BF16.
Bytes dispatched_token(const ExpertShape& shape);
Bytes combined_token(const ExpertShape& shape);

/// An all-to-all of equal shares on as many channels as there are SMs. Rate of a channel and latency are set,
/// for each shape and direction, from the rows on kReferenceSms SMs: the latency is the time of the fewest
/// tokens, the rate the median, over rows that send 1 MiB and more, of bytes over the time beyond it. The other
/// SM counts are predicted. Tables of one node.
class ExpertsPart {
 public:
  static constexpr int kReferenceSms = 8;

  /// \throws ConfigError
  void add(const HeadedTable& file, const MapEntry& entry);
  void plan(SimulationJobs& jobs);
  std::vector<std::string> broken() const { return broken_; }
  StudyReport sections(const PublishedFigures& published) const;

 private:
  struct Row {
    int sms = 0;
    Bytes sent;  ///< by a rank to the others
    Seconds measured;
    SimulatedTime simulated = {};
  };
  /// A shape in one direction.
  struct Sweep {
    ExpertShape shape;
    bool combine = false;
    std::vector<Row> rows = {};
    Seconds latency = {};      ///< set from kReferenceSms
    BytesPerSecond rate = {};  ///< of an SM, likewise
    std::shared_ptr<const ClusterSpec> cluster = nullptr;
  };

  Sweep& sweep_of(const ExpertShape& shape, bool combine, const std::shared_ptr<const ClusterSpec>& cluster);
  static bool set_rate(Sweep& sweep);
  static SimulatedTime predict(const Sweep& sweep, const Row& row);
  StudySection section(const PublishedFigures& published, bool combine) const;

  std::deque<Sweep> sweeps_;
  std::vector<std::string> broken_;
};

}}  // namespace c3::studies
