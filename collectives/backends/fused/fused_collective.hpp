#pragma once
/// Collectives fused with the kernel whose output they move (T3, arXiv 2401.16677): its stores go to other
/// GPUs, a tracker counts them, complete tiles are copied on by engines that were programmed ahead, and memory
/// adds.

#include <map>
#include <memory>
#include <vector>

#include "collectives/backends/fused/cu_adder.hpp"
#include "collectives/backends/fused/fused_routes.hpp"
#include "collectives/collective_run.hpp"
#include "engine/ticket_line.hpp"
#include "gpu/output_sink.hpp"
#include "gpu/staging_window.hpp"

namespace c3 { inline namespace collectives {

/// Runs with a producer, a kernel of work groups that each store one tile. Its bytes move when the producer
/// makes them, whether members have joined or not. A triggered copy is a read flow and a link flow: what is
/// read and not yet sent fits in TriggerSpec::staging_window. With classes of ranks the members of a group are
/// one class, of which one stands for all: what it sends comes back to itself. Wrong when: stores to other GPUs
/// are held up for longer than buffers on the way last, which would hold up the work groups that make them.
class FusedCollective final : public CollectiveRun, public OutputSink {
 public:
  FusedCollective(Cluster& cluster, CollectivePlan plan);

  /// \p rank is about to launch \p kernel. \returns it as it runs fused: with work groups for which chunks are
  /// equal, which together do what it does. Every rank's must be the same. \throws InfeasibleError when it does
  /// not make what the collective moves, or in parts that are added up later.
  KernelDescription launch(int rank, KernelDescription kernel);

  Task store(StoreBurst burst) override;
  /// A note on tiles that did not divide into chunks.
  std::string note() const override { return note_; }
  /// With the first store of its producer.
  std::optional<Seconds> began(int rank) const override { return members_[index_of(rank)].began; }

 private:
  using Tiles = std::vector<std::int64_t>;  ///< numbers within a chunk
  /// Tiles of one chunk that a burst stores.
  struct Part {
    int chunk = 0;
    Tiles tiles;
  };
  /// Copies of a rank that one engine makes, in the order in which they were triggered: what is behind another
  /// one may be what the tracker at the other end waits for.
  struct Lane {
    StagingWindow window;
    TicketLine line;
  };
  /// One simulated rank.
  struct Member {
    std::vector<Tracker::Region> regions = {};  ///< one per chunk; tracked ones only
    std::vector<std::unique_ptr<Lane>> lanes = {};
    /// What has come from a member and waits for memory, by how far ahead this one is of that.
    std::vector<std::unique_ptr<StagingWindow>> arrivals = {};
    std::unique_ptr<CuAdder> adder = {};  ///< only with FusedReduction::cu
    std::optional<Seconds> began = std::nullopt;
  };

  void start(int rank) override;
  void check_hardware() const;
  void tell_edges();
  void program_trackers();
  std::vector<Part> parts_of(const StoreBurst& burst) const;
  std::vector<Tiles> pieces(const Tiles& tiles) const;
  StagingWindow& arrivals(int dst, FusedHop hop) {
    return *member(dst).arrivals[static_cast<std::size_t>(hop.ahead)];
  }
  Task send_part(StoreBurst burst, Part part, FusedHop hop);
  Task arrive(int src, int dst, FusedHop hop, Tiles tiles);
  Task copy(int rank, FusedHop hop, int lane, Tiles tiles);
  void stored(int rank, int chunk, const Tiles& tiles);
  Task add(int rank, int chunk, Tiles tiles);
  /// \p tiles hold what they are to hold.
  void complete(int rank, int chunk, const Tiles& tiles);
  KernelDescription in_chunks(KernelDescription kernel);
  void check_producer(const KernelDescription& kernel) const;
  void trigger(int rank, int chunk, const Tiles& tiles);

  FlowSpec local_flow(const StoreBurst& burst, const Tiles& tiles);
  FlowSpec departing_flow(const StoreBurst& burst, const Tiles& tiles, FusedHop hop);
  FlowSpec read_flow(int rank, const Tiles& tiles);
  FlowSpec link_flow(int rank, int lane, const Tiles& tiles, FusedHop hop);
  Seconds latency(int rank, FusedHop hop) const;
  /// Links from \p rank to the member of \p hop.
  void add_way(int rank, FusedHop hop, Bytes bytes, int lane);
  FlowSpec arrival_flow(int dst, Bytes bytes, TransferOp op);
  /// \param in_flight of each of \p requesters
  FlowSpec communicating(const Memory& memory, Bytes bytes, Bytes in_flight, int requesters = 1) const;

  const FusedChunk& chunk_of(int chunk) const { return routes_.chunks[static_cast<std::size_t>(chunk)]; }
  Member& member(int rank) { return members_[index_of(simulated_rank(rank))]; }
  int simulated_rank(int rank) const { return cluster_.stand_in(rank); }
  int peer(int rank, int ahead) const;
  Bytes bytes_of(const Tiles& tiles) const { return tile_bytes_ * static_cast<double>(tiles.size()); }
  Tracker& tracker(int rank) { return cluster_.gpu(simulated_rank(rank)).tracker(); }

  FusedRoutes routes_;
  std::vector<Member> members_;       ///< indexed like simulated()
  std::map<int, EdgeSetId> edges_;    ///< with classes of ranks: of all groups, by how far ahead they go
  std::int64_t tiles_per_chunk_ = 0;  ///< 0: no producer yet
  Bytes tile_bytes_;
  std::string note_;
  std::int64_t left_ = 0;        ///< tracked tiles that are not complete, of all simulated ranks
  std::vector<Demand> demands_;  ///< scratch
};

}}  // namespace c3::collectives
