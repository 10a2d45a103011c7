#pragma once
/// Rings at grain `step`: every chunk on every edge is a flow, and nothing is written down before it happens.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collectives/backends/cu/flow_parts.hpp"
#include "collectives/planned_flows.hpp"
#include "collectives/turning_ring.hpp"
#include "engine/event.hpp"

namespace c3 { inline namespace collectives {

/// What a backend says of a ring's edges. A leg's bytes are those of a chunk.
class RingTraffic {
 public:
  /// The flow that \p leg would be if it started now. \p parts holds what it refers to.
  virtual FlowSpec flow(const Leg& leg, FlowParts& parts) const = 0;
  /// Changes when flows that start on \p rank from now on have another bound.
  virtual std::uint64_t occupancy(int rank) const = 0;
  /// The time between the arrival of what a chunk waits for and its first byte.
  virtual Seconds latency(const Leg& leg) const = 0;
  /// For observers: a chunk that waited for what \p before brought (may be none).
  virtual ActivityId begin(const Leg& leg, ActivityId before) = 0;

 protected:
  ~RingTraffic() = default;
};

/// Rings that turn at the same time. The data of a step go in equal chunks. A chunk starts when two conditions
/// hold: the chunk of the step before has come to its sender, `latency` ago, and its edge has sent the chunk
/// ahead of it. This is the recurrence start(e, n) = max(end(upstream of e, n - chunks) + latency, end(e, n -
/// 1)), n counting chunks over all steps. Memory is a few hundred bytes an edge however many steps there are;
/// sending allocates nothing, unless more chunks wait at an edge than ever before. An edge's flow is prepared
/// once and repeated, so that chunks that follow each other closely cost no solve. Wrong when: the library's
/// buffers are small, which makes a fast rank wait for the slow one behind it.
class RingRun final : private Completion {
 public:
  /// \p folded: rank 0 is simulated, the others do what it does at the same time. \p traffic and \p simulation
  /// must outlive it.
  RingRun(Simulation& simulation, RingTraffic& traffic, std::span<const TurningRing> rings, int chunks,
          bool folded);
  ~RingRun();

  void start();
  Event& done() { return done_; }

 private:
  struct Edge {
    Leg leg;  ///< with the bytes of a chunk of the first step
    std::uint32_t ring;
    std::uint32_t receiver;      ///< the edge that sends on what comes over this one
    std::uint32_t sends;         ///< chunks in all
    std::uint32_t adding_sends;  ///< the first of them
    std::uint32_t sent = 0;
    std::uint32_t ready = 0;  ///< chunks whose date of readiness is known: own ones, then those that came
    bool running = false;
    bool has_timer = false;
    Seconds latency;
    std::optional<FlowId> flow = {};
    std::uint64_t occupancy = 0;  ///< when the bound was asked for
    ActivityId activity = kNoActivity;

    TransferOp next_op() const { return sent < adding_sends ? TransferOp::update : TransferOp::store; }
  };
  /// A chunk that will be sent.
  struct Waiting {
    Seconds ready;
    ActivityId activity;
  };

  void add_edges(std::uint32_t ring, bool folded);
  void on_complete(std::uint64_t tag) override;
  void end_chunk(std::uint32_t edge);
  void make_ready(std::uint32_t edge, ActivityId before);
  void start_if_ready(std::uint32_t edge);
  void start_chunk(std::uint32_t edge, ActivityId activity);
  void prepare(std::uint32_t edge);
  void refresh(Edge& edge);
  Leg leg_now(const Edge& edge) const;
  Waiting& waiting(std::uint32_t edge, std::uint32_t chunk) {
    return waiting_[std::size_t{edge} * window_ + (chunk & (window_ - 1))];
  }
  void widen_window();
  void discard_flows();

  Simulation& simulation_;
  RingTraffic& traffic_;
  std::vector<TurningRing> rings_;
  std::uint32_t chunks_;
  std::vector<Edge> edges_;
  std::uint32_t window_;          ///< chunks that can wait at one edge; a power of two
  std::vector<Waiting> waiting_;  ///< shape [edges][window_]
  FlowParts parts_;               ///< scratch
  std::uint64_t left_ = 0;        ///< chunks not yet arrived, of all edges
  Event done_;
};

}}  // namespace c3::collectives
