#pragma once
/// Pipelined graphs on channels: every piece on every edge is a flow, and nothing is written down before it
/// happens.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collectives/backends/cu/flow_parts.hpp"
#include "collectives/planned_flows.hpp"
#include "engine/event.hpp"

namespace c3 { inline namespace collectives {

/// What a backend says of the edges of a pipeline. An edge's bytes are all that it sends.
class PipelineTraffic {
 public:
  /// The flow that all of \p edge would be if it started now. \p parts holds what it refers to.
  virtual FlowSpec flow(const PlannedFlow& edge, FlowParts& parts) const = 0;
  /// Changes when flows that start on the sender of \p edge from now on have another bound.
  virtual std::uint64_t occupancy(const PlannedFlow& edge) const = 0;
  /// The time between the arrival of what a piece waits for and its first byte.
  virtual Seconds latency(const PlannedFlow& edge) const = 0;
  /// For observers: a piece, \p share of \p edge, that waited for what \p before brought.
  virtual ActivityId begin(const PlannedFlow& edge, double share, std::span<const ActivityId> before) = 0;

 protected:
  ~PipelineTraffic() = default;
};

/// Edges of which each sends the same pieces, one after another. A piece starts when the pieces that it needs
/// have come over all edges before its own, `latency` ago, and its edge has sent the piece ahead of it:
///     start(e, n) = max(end(before e, needs(n) - 1) + latency(e), end(e, n - 1)).
/// Memory is some hundred bytes an edge, however many pieces there are, and some thousand while it sends: an
/// edge's flow is prepared with its first piece, repeated for the others, and discarded after the last. Without
/// an observer nothing is kept of a piece.
class PipelineRun final : private Completion {
 public:
  /// Runs the edges of \p pipeline that \p takes_part selects. \p pipeline, \p simulation and \p traffic must
  /// outlive it.
  PipelineRun(Simulation& simulation, PipelineTraffic& traffic, const Pipeline& pipeline,
              const std::vector<bool>& takes_part);
  ~PipelineRun();

  void start();
  Event& done() { return done_; }

 private:
  /// Pieces below `until` have their data at `date`, unless those of an earlier run have them.
  struct Readiness {
    Seconds date;
    std::uint32_t until;
  };
  struct Edge {
    const PlannedFlow* whole;
    std::uint32_t first_sender = 0,
                  first_receiver = 0;  ///< starts in senders_ and receivers_; the next edge ends them
    std::uint32_t passed = 0;          ///< senders that have sent more pieces than `arrived`
    std::uint32_t arrived = 0;         ///< pieces that have come over all senders
    std::uint32_t ready = 0;           ///< pieces whose date is known
    std::uint32_t sent = 0;
    bool running = false;
    bool has_timer = false;
    std::optional<FlowId> flow = {};
    std::uint64_t occupancy = 0;        ///< when the bound was asked for
    std::vector<Readiness> dates = {};  ///< when pieces that are not yet sent became ready
  };

  std::uint32_t pieces() const { return static_cast<std::uint32_t>(pipeline_.pieces.size()); }
  std::uint32_t senders(std::uint32_t edge) const {
    return edges_[edge + 1].first_sender - edges_[edge].first_sender;
  }
  void join_edges(const std::vector<std::uint32_t>& place);
  void on_complete(std::uint64_t tag) override;
  void end_piece(std::uint32_t edge);
  void arrive(std::uint32_t edge);
  void make_ready(std::uint32_t edge);
  void begin_activity(std::uint32_t edge, std::uint32_t piece);
  void start_if_ready(std::uint32_t edge);
  void start_piece(std::uint32_t edge);
  void prepare(std::uint32_t edge);
  void refresh(Edge& edge);

  Simulation& simulation_;
  PipelineTraffic& traffic_;
  const Pipeline& pipeline_;
  std::vector<Edge> edges_;               ///< and one beyond the last, where lists end
  std::vector<std::uint32_t> senders_;    ///< those of the first edge, of the second, ..
  std::vector<std::uint32_t> receivers_;  ///< the same
  std::vector<ActivityId> activities_;    ///< shape [edges][pieces], when observed
  FlowParts parts_;                       ///< scratch
  std::uint64_t left_ = 0;                ///< pieces not yet arrived, of all edges
  Event done_;
};

}}  // namespace c3::collectives
