#pragma once
/// Hands work groups to free CU slots.

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/random.hpp"
#include "engine/simulation.hpp"
#include "gpu/compute_units.hpp"
#include "gpu/cu_shares.hpp"
#include "gpu/engine_rotation.hpp"
#include "gpu/known_placements.hpp"
#include "gpu/wave_ends.hpp"

namespace c3 { inline namespace gpu {

/// Told where its work groups were placed. Called at the instant of placement, once for each XCD that got some.
class DispatchClient {
 public:
  /// \p cus: the CU (number in its XCD) of each work group.
  virtual void on_placed(int xcd, std::span<const int> cus) = 0;
  /// Another grid was submitted while some of its own work groups wait. Who holds slots on their behalf may
  /// give them back.
  virtual void on_newcomer() {}

 protected:
  ~DispatchClient() = default;
};

/// A client whose work groups need not be told apart while no other grid computes on the GPU, or comes, or
/// ends there.
class LoneClient {
 public:
  /// In place of on_placed(): these are its work groups, of all XCDs. \p placement lives until on_company() or
  /// release_alone() returns.
  virtual void on_placed_alone(const GridPlacement& placement) = 0;
  /// Another grid comes. The placement is in Dispatcher::units() from now on, and must be in shares().
  virtual void on_company() = 0;

 protected:
  ~LoneClient() = default;
};

/// A kernel's grid, waiting for slots.
struct Launch {
  DispatchClient* client = nullptr;
  WorkGroupNeeds needs;
  std::int64_t work_groups = 0;  ///< work group i goes to XCD i mod XCDs, whatever is free elsewhere
  CuRange range;                 ///< CUs that the stream's mask allows, of each XCD
  int priority = 0;              ///< larger first
  int order = 0;                 ///< of the queue in which the host enqueued; smaller is older at equal dates
  std::uint64_t draw = 0;      ///< key of the kernel's or collective's place under DispatchPolicy::random_order
  LoneClient* lone = nullptr;  ///< the client, where it can be one
};

/// Work-group dispatch of one GPU. At every instant at which slots are free, waiting grids are served by
/// priority, then by the policy; who does not fit on a free CU is passed over. Work groups are never moved or
/// pre-empted. Wrong when: the hardware's workgroup manager enforces limits that LDS, registers and wave slots
/// do not show.
class Dispatcher final : private Completion {
 public:
  /// \p seed orders simultaneous launches under DispatchPolicy::random_order. \p busy_cus is told how many CUs
  /// hold work.
  Dispatcher(Simulation& simulation, const GpuSpec& spec, std::uint64_t seed, ResourceId busy_cus,
             std::shared_ptr<KnownPlacements> placements = std::make_shared<KnownPlacements>());

  /// With \p own_queues no grid waits behind another's queue: the smallest is served first, as if it were
  /// alone.
  void give_own_queues() { own_queues_ = true; }

  /// Queues a grid; it is placed at the end of this instant at the earliest.
  void submit(const Launch& launch);
  /// Drops what \p client still has waiting; what it holds stays.
  void withdraw(const DispatchClient& client);
  /// Whether a grid other than \p client's waits for slots.
  bool others_wait(const DispatchClient& client) const;
  /// Whether one waits that is served before \p client's, which waits, too.
  bool others_wait_before(const DispatchClient& client) const;
  WaveEnds& wave_ends() { return wave_ends_; }
  /// Takes \p groups work groups of \p client off their CU; \p by is the activity that held it.
  void release(const DispatchClient& client, int xcd, int cu, const WorkGroupNeeds& needs, ActivityId by,
               int groups = 1);
  /// The same of the work groups of \p slots, one on each CU in turn, as they end one after another within this
  /// instant: who waits is served as each of them leaves, and so may crowd on the first CU that has room.
  void release_in_turn(const DispatchClient& client, std::span<const GridPlacement::Slot> slots,
                       const WorkGroupNeeds& needs, ActivityId by);
  /// The same at the end of a wave of \p client, of which \p left work groups, by XCD, wait from now on in its
  /// old turn. \pre some of its work groups wait
  void release_wave(const DispatchClient& client, std::span<const GridPlacement::Slot> slots,
                    const WorkGroupNeeds& needs, ActivityId by, std::span<const std::int64_t> left);
  /// Takes all work groups of \p client off their CUs. \returns whether they were alone; otherwise nothing is
  /// done, and release() must do it.
  bool release_alone(const LoneClient& client, ActivityId by);

  /// CUs of \p range that hold work groups which only copy. \pre a grid that is alone has this range
  int copying(CuRange range) const;
  /// Without the work groups of a grid that is alone.
  const ComputeUnits& units() const { return units_; }
  const EngineRotation& rotation() const { return rotation_; }
  /// Kernels join and leave it with their work groups; it is settled at the end of each pass.
  CuShares& shares() { return shares_; }

 private:
  /// Smaller is served first.
  struct Turn {
    int urgency = 0;             ///< minus the priority
    double date = 0.0;           ///< of submission
    double rank = 0.0;           ///< at equal dates
    std::uint64_t sequence = 0;  ///< of submission
    friend auto operator<=>(const Turn&, const Turn&) = default;
  };
  struct Waiting {
    Launch launch;
    Turn turn;
    std::vector<std::int64_t> left;  ///< by XCD
    std::int64_t total_left;
  };

  void on_complete(std::uint64_t) override;
  void request_pass();
  void queue(Waiting waiting);
  std::vector<Waiting>::iterator waiting_of(const DispatchClient& client);  ///< the end: it does not wait
  bool waits_for(int xcd) const;
  void serve_dirty();
  bool place_alone();
  void write_down_alone();
  void serve(int xcd);
  void serve_in_order(int xcd);
  void serve_in_turn(int xcd);
  std::size_t after_last_turn(int xcd, std::size_t begin, std::size_t end) const;
  bool place_one(Waiting& waiting, int xcd);
  /// \p work_groups of \p client are over, for the rotation of engines.
  void end(const DispatchClient& client, std::int64_t work_groups);

  /// The only grid that computes on the GPU.
  struct Alone {
    LoneClient* client = nullptr;
    WorkGroupNeeds needs;
    std::shared_ptr<const KnownPlacements::Placement> placement;
  };

  Simulation& simulation_;
  ComputeUnits units_;
  std::shared_ptr<KnownPlacements> known_;
  std::optional<Alone> alone_;
  CuShares shares_;
  EngineRotation rotation_;
  WaveEnds wave_ends_;
  DispatchPolicy policy_;
  RandomStream random_;
  ResourceId busy_cus_;
  int xcds_;
  bool own_queues_ = false;
  std::uint64_t submitted_ = 0;
  bool pass_requested_ = false;
  std::vector<bool> dirty_;                     ///< XCDs with new slots or new work
  std::vector<Waiting> waiting_;                ///< in serving order
  std::vector<std::optional<Turn>> last_turn_;  ///< by XCD: who got the last slot under round robin
  std::vector<std::vector<int>> placed_;        ///< by position in waiting_, during one serve()
};

}}  // namespace c3::gpu
