#pragma once
/// HBM, caches and ports of one GPU as solver resources, and how flows are weighted at them.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/fluid_system.hpp"
#include "gpu/clock/power_governor.hpp"
#include "gpu/hbm_rate.hpp"
#include "gpu/isolation.hpp"
#include "gpu/kernel.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// Whether bytes that engines and peers move are inserted into the last-level cache, where they take others'
/// place.
enum class Caching { inserted, bypassed };

/// Where the bytes of a tenant's work lie: of each channel the time that they keep it busy, over the time in
/// which it moves all of them (ChannelLoad). Empty: in all channels alike.
struct ChannelShares {
  std::vector<double> read, written;
};

/// Memory system of one GPU. Streams ("tenants") share it unless `isolation` gives each its own.
class Memory {
 public:
  /// \p rank names the resources; \p tenants is the number of streams.
  Memory(FluidSystem& fluid, const GpuSpec& spec, int rank, const std::vector<std::string>& tenants,
         Isolation isolation);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// What \p tenant moves from now on lies so; nullptr: in all channels alike. \p shares must outlive its
  /// flows. Without a meaning unless HBM is simulated at MemoryGrain::channels.
  void place(int tenant, const ChannelShares* shares) { shares_[static_cast<std::size_t>(tenant)] = shares; }

  // Each appends what a flow of \p tenant takes; the same resource twice is added up.

  /// Loads and stores of work groups on one XCD. Where a kernel's access pattern reaches but \p hbm_share of
  /// HBM's rate, HBM is busy for longer (HypothesisSpec::lost_share_occupies).
  void add_loads(std::vector<Demand>& demands, int tenant, int xcd, const Traffic& loads,
                 double hbm_share) const;
  void add_stores(std::vector<Demand>& demands, int tenant, int xcd, Bytes stored, Bytes to_hbm,
                  double hbm_share) const;
  /// Bytes that collectives and copy engines move at the memory side.
  void add_hbm_read(std::vector<Demand>& demands, int tenant, Bytes bytes,
                    Caching caching = Caching::inserted) const;
  void add_hbm_write(std::vector<Demand>& demands, int tenant, Bytes bytes,
                     Caching caching = Caching::inserted) const;
  /// Bytes that memory adds to what it holds, which keeps it busy for \p busy times as long as writing them.
  void add_hbm_update(std::vector<Demand>& demands, int tenant, Bytes bytes, double busy) const;
  /// Bytes that units inside the memory read and write (Place::pim): HBM's slots for as many commands, and no
  /// bytes outside. \throws std::logic_error where there are no units
  void add_inside(std::vector<Demand>& demands, int tenant, Bytes read, Bytes written) const;
  /// Stores of work groups on one XCD that leave for another GPU.
  void add_departing(std::vector<Demand>& demands, int tenant, int xcd, Bytes stored) const;
  /// What a collective's channels take through the L2s of all XCDs. It evicts what others keep there.
  void add_l2_stream(std::vector<Demand>& demands, int tenant, Bytes bytes) const;

  /// What a kernel of \p tenant finds, given what the others insert right now.
  CacheState cache_state(int tenant, std::int64_t resident, Seconds work_group_time) const;

  /// \p bytes of stores of \p tenant's work groups are on their way from the first call to the second.
  void stores_begin(int tenant, Bytes bytes) { caches(tenant).storing += bytes; }
  void stores_end(int tenant, Bytes bytes) { caches(tenant).storing -= bytes; }
  /// Stores of work groups that are on their way through the last cache that \p tenant uses: of all streams,
  /// unless each has a cache of its own. Wrong when: they bypass it (CacheState::stores_bypass).
  Bytes storing(int tenant) const { return caches(tenant).storing; }

  /// Of each HBM that there is: one, or one a stream.
  std::vector<HbmLoad> hbm_loads() const;

  /// What others than \p tenant move at the memory side right now.
  BytesPerSecond traffic_of_others(int tenant) const;

  /// Least time to load \p bytes with at most \p in_flight of them in flight at once, as HBM is loaded now: a
  /// load takes the idle latency and, queued behind others of its channel, s rho / (2 (1 - rho)) with s the
  /// HypothesisSpec::hbm_service (M/D/1). 0 where the GPU states no service time. Wrong when: channels are
  /// loaded unequally.
  Seconds least_loading_time(int tenant, Bytes bytes, Bytes in_flight) const;

  /// Weight of a flow that keeps \p outstanding bytes in flight at HBM for \p requesters units (work groups,
  /// channels, engines), moves \p hbm_bytes in its whole progress, and would progress at \p alone [1/s] with
  /// nobody beside it.
  double weight(Bytes outstanding, int requesters, Bytes hbm_bytes, double alone) const;
  /// Of flows of collectives and copies; those of kernels have 0. 0, too, unless the arbitration is by stream.
  PriorityClass communication_class() const { return is_by_stream(spec_.hbm.arbitration) ? 1 : 0; }
  double alone_rate(Bytes hbm_read, Bytes hbm_write) const {
    return hbm_rate_alone(spec_.hbm, hbm_read, hbm_write);
  }

 private:
  class MixRule;
  class ChannelRule;
  struct Hbm {
    ResourceId total;    ///< bytes, and what is lost between them
    ResourceId written;  ///< meter
    ResourceId lost;     ///< meter of bytes that could have been moved
    /// Only with units inside: the share of time that their commands take, and meters of the bytes that the
    /// same slots would have moved.
    struct Inside {
      ResourceId time, slots, written;
    };
    std::optional<Inside> inside;
    std::vector<ResourceId> channels;  ///< only at MemoryGrain::channels
  };
  struct Caches {
    ResourceId llc;
    std::vector<ResourceId> l2, port;  ///< by XCD
    Bytes storing = {};                ///< by work groups
  };
  struct Meters {
    ResourceId llc;  ///< all bytes this tenant moves at the memory side
    ResourceId l2;   ///< bytes it streams through all L2s
  };
  const Hbm& hbm(int tenant) const { return hbm_[static_cast<std::size_t>(private_hbm_ ? tenant : 0)]; }
  const Caches& caches(int tenant) const {
    return caches_[static_cast<std::size_t>(private_cache_ ? tenant : 0)];
  }
  Caches& caches(int tenant) { return caches_[static_cast<std::size_t>(private_cache_ ? tenant : 0)]; }
  void add_l2(std::vector<Demand>& demands, int tenant, int xcd, Bytes l2_bytes, Bytes port_bytes) const;
  void add_hbm(std::vector<Demand>& demands, int tenant, Bytes read, Bytes written, double share,
               Caching caching = Caching::inserted) const;
  void add_channels(std::vector<Demand>& demands, int tenant, Bytes read, Bytes written) const;
  void add_channels_alike(std::vector<Demand>& demands, int tenant, Bytes occupied) const;
  /// Bytes over what HBM could have moved while it was busy with them.
  double effective(double hbm_share) const;

  const FluidSystem& fluid_;
  const GpuSpec& spec_;
  bool private_hbm_;
  bool private_cache_;
  std::vector<Hbm> hbm_;
  std::vector<Caches> caches_;
  std::vector<Meters> meters_;                ///< by tenant
  std::vector<const ChannelShares*> shares_;  ///< by tenant
  std::vector<std::unique_ptr<CapacityRule>> rules_;
};

}}  // namespace c3::gpu
