#include "gpu/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace c3 { inline namespace gpu {

namespace {

/// Of a resource, what each of the two streams is promised: kernels, then collectives.
std::array<double, 2> stream_floors(const HbmSpec& hbm) {
  if (hbm.arbitration == HbmArbitration::stream_fair) return {hbm.fair_share, 1.0 - hbm.fair_share};
  if (hbm.arbitration == HbmArbitration::compute_first) return {0.0, hbm.stream_floor};
  return {0.0, 0.0};
}

}  // namespace

class Memory::MixRule final : public CapacityRule {
 public:
  MixRule(const HbmSpec& spec, const Hbm& hbm) : spec_(spec), hbm_(hbm) {}
  double capacity(const FlowSolver& rates) override {
    const double bytes = rates.load(hbm_.total) - rates.load(hbm_.lost);
    if (bytes <= 0.0) return rates.capacity(hbm_.total);
    const double inside = hbm_.inside ? rates.load(hbm_.inside->written) : 0.0;
    const double share = (rates.load(hbm_.written) + inside) / bytes;
    if (share != share_) {
      share_ = share;
      capacity_ = hbm_capacity(spec_, share).value;
    }
    return capacity_;
  }

 private:
  const HbmSpec& spec_;
  Hbm hbm_;
  double share_ = -1.0;
  double capacity_ = 0.0;
};

/// A channel has its part of what HBM gives to the mix of reads and writes that all of it serves. Wrong when:
/// one channel serves the reads and another the writes.
class Memory::ChannelRule final : public CapacityRule {
 public:
  ChannelRule(ResourceId total, std::size_t channels) : total_(total), channels_(channels) {}
  double capacity(const FlowSolver& rates) override {
    return rates.capacity(total_) / static_cast<double>(channels_);
  }

 private:
  ResourceId total_;
  std::size_t channels_;
};

Memory::Memory(FluidSystem& fluid, const GpuSpec& spec, int rank, const std::vector<std::string>& tenants,
               Isolation isolation)
    : fluid_(fluid),
      spec_(spec),
      private_hbm_(isolation.has(SharedResource::hbm)),
      private_cache_(isolation.has(SharedResource::cache)),
      shares_(tenants.size(), nullptr) {
  const auto [kernels, collectives] = stream_floors(spec.hbm);
  fluid.set_floor(0, kernels);
  fluid.set_floor(communication_class(), collectives);
  const auto add = [&](const std::string& name, BytesPerSecond capacity, Counted counted = Counted::nothing) {
    return fluid.add_resource({.name = name, .unit = "B/s", .gpu = rank, .counted = counted}, capacity.value);
  };
  constexpr BytesPerSecond kMeter{kUnbounded};
  const auto own = [&](bool is_private, std::size_t i) {
    return is_private ? "." + tenants[i] : std::string();
  };
  for (std::size_t i = 0; i < (private_hbm_ ? tenants.size() : 1); ++i) {
    const std::string name = fmt::format("gpu{}.hbm{}", rank, own(private_hbm_, i));
    hbm_.push_back({add(name, spec.hbm.read, Counted::hbm),
                    add(name + ".written", kMeter, Counted::hbm_written),
                    add(name + ".lost", kMeter, Counted::hbm_lost),
                    std::nullopt,
                    {}});
    if (spec.hbm.pim.units > 0.0) {
      const ResourceId time =
          fluid.add_resource({.name = name + ".inside", .unit = "share", .gpu = rank}, spec.hbm.pim.slots);
      hbm_.back().inside = Hbm::Inside{time, add(name + ".inside.slots", kMeter, Counted::hbm_lost),
                                       add(name + ".inside.written", kMeter)};
    }
    rules_.push_back(std::make_unique<MixRule>(spec.hbm, hbm_.back()));
    fluid.set_capacity_rule(hbm_.back().total, *rules_.back());
    if (spec.simulation.memory_grain != MemoryGrain::channels) continue;
    const auto channels = static_cast<std::size_t>(spec.hbm.channels.count);
    for (std::size_t channel = 0; channel < channels; ++channel) {
      hbm_.back().channels.push_back(
          add(fmt::format("{}.channel{}", name, channel), spec.hbm.read / static_cast<double>(channels)));
      rules_.push_back(std::make_unique<ChannelRule>(hbm_.back().total, channels));
      fluid.set_capacity_rule(hbm_.back().channels.back(), *rules_.back());
    }
  }
  for (std::size_t i = 0; i < (private_cache_ ? tenants.size() : 1); ++i) {
    const std::string suffix = own(private_cache_, i);
    const BytesPerSecond llc = spec.cache.llc_size.value > 0.0 ? spec.cache.llc_bandwidth : kMeter;
    const BytesPerSecond memory_side = std::min(llc, spec.cache.fabric_bandwidth);
    Caches caches{add(fmt::format("gpu{}.llc{}", rank, suffix), memory_side), {}, {}};
    for (int xcd = 0; xcd < spec.compute.xcds; ++xcd) {
      caches.l2.push_back(
          add(fmt::format("gpu{}.xcd{}.l2{}", rank, xcd, suffix), spec.cache.l2_bandwidth, Counted::l2));
      caches.port.push_back(
          add(fmt::format("gpu{}.xcd{}.port{}", rank, xcd, suffix), spec.cache.xcd_port_bandwidth));
    }
    caches_.push_back(std::move(caches));
  }
  for (const std::string& tenant : tenants) {
    meters_.push_back({add(fmt::format("gpu{}.memory_side.{}", rank, tenant), kMeter),
                       add(fmt::format("gpu{}.l2_stream.{}", rank, tenant), kMeter)});
  }
}

double Memory::effective(double hbm_share) const {
  return 1.0 - spec_.hypotheses.lost_share_occupies * (1.0 - std::min(hbm_share, 1.0));
}

void Memory::add_channels_alike(std::vector<Demand>& demands, int tenant, Bytes occupied) const {
  const std::vector<ResourceId>& channels = hbm(tenant).channels;
  for (const ResourceId channel : channels)
    add_demand(demands, channel, occupied.value / static_cast<double>(channels.size()));
}

void Memory::add_channels(std::vector<Demand>& demands, int tenant, Bytes read, Bytes written) const {
  const std::vector<ResourceId>& channels = hbm(tenant).channels;
  const ChannelShares* const shares = shares_[static_cast<std::size_t>(tenant)];
  if (channels.empty()) return;
  const auto add = [&](const std::vector<double>* of, Bytes bytes) {
    if (of == nullptr || of->empty()) return add_channels_alike(demands, tenant, bytes);
    for (std::size_t i = 0; i < channels.size(); ++i)
      add_demand(demands, channels[i], bytes.value * (*of)[i]);
  };
  if (read.value > 0.0) add(shares == nullptr ? nullptr : &shares->read, read);
  if (written.value > 0.0) add(shares == nullptr ? nullptr : &shares->written, written);
}

// HBM serves the bytes, and the LLC takes them in.
void Memory::add_hbm(std::vector<Demand>& demands, int tenant, Bytes read, Bytes written, double share,
                     Caching caching) const {
  const Bytes bytes = read + written;
  const Bytes occupied = bytes / effective(share);
  add_demand(demands, hbm(tenant).total, occupied.value);
  add_demand(demands, hbm(tenant).written, written.value);
  add_demand(demands, hbm(tenant).lost, (occupied - bytes).value);
  add_channels(demands, tenant, read / effective(share), written / effective(share));
  if (caching == Caching::inserted)
    add_demand(demands, meters_[static_cast<std::size_t>(tenant)].llc, bytes.value);
}

void Memory::add_loads(std::vector<Demand>& demands, int tenant, int xcd, const Traffic& loads,
                       double hbm_share) const {
  add_l2(demands, tenant, xcd, loads.l2, loads.llc);
  add_hbm(demands, tenant, loads.hbm, Bytes{}, hbm_share);
  add_demand(demands, caches(tenant).llc, loads.llc.value);
}

void Memory::add_stores(std::vector<Demand>& demands, int tenant, int xcd, Bytes stored, Bytes to_hbm,
                        double hbm_share) const {
  add_l2(demands, tenant, xcd, stored, to_hbm);
  add_hbm(demands, tenant, Bytes{}, to_hbm, hbm_share);
  add_demand(demands, caches(tenant).llc, to_hbm.value);
}

void Memory::add_departing(std::vector<Demand>& demands, int tenant, int xcd, Bytes stored) const {
  add_l2(demands, tenant, xcd, stored, stored);
}

void Memory::add_hbm_read(std::vector<Demand>& demands, int tenant, Bytes bytes, Caching caching) const {
  add_hbm(demands, tenant, bytes, Bytes{}, 1.0, caching);
  add_demand(demands, caches(tenant).llc, bytes.value);
}

void Memory::add_hbm_write(std::vector<Demand>& demands, int tenant, Bytes bytes, Caching caching) const {
  add_hbm(demands, tenant, Bytes{}, bytes, 1.0, caching);
  add_demand(demands, caches(tenant).llc, bytes.value);
}

void Memory::add_hbm_update(std::vector<Demand>& demands, int tenant, Bytes bytes, double busy) const {
  add_demand(demands, hbm(tenant).total, busy * bytes.value);
  add_demand(demands, hbm(tenant).written, bytes.value);
  add_demand(demands, hbm(tenant).lost, (busy - 1.0) * bytes.value);
  add_channels(demands, tenant, Bytes{}, busy * bytes);
  add_demand(demands, caches(tenant).llc, bytes.value);
}

// The slots are HBM's, whose capacity follows their mix of reads and writes, too: rows are opened and columns
// turned around as for bytes that leave.
void Memory::add_inside(std::vector<Demand>& demands, int tenant, Bytes read, Bytes written) const {
  const Hbm& its = hbm(tenant);
  if (!its.inside) throw std::logic_error("Memory::add_inside: the memory has no arithmetic units");
  const double amplification = spec_.hbm.pim.amplification();
  const Bytes slots = (read + written) / amplification;
  const Bytes of_writes = written / amplification;
  add_demand(demands, its.total, slots.value);
  add_demand(demands, its.inside->slots, slots.value);
  add_demand(demands, its.inside->written, of_writes.value);
  add_channels_alike(demands, tenant, slots);
  add_demand(demands, its.inside->time, 1.0 / alone_rate(read / amplification, of_writes));
}

void Memory::add_l2(std::vector<Demand>& demands, int tenant, int xcd, Bytes l2_bytes, Bytes port_bytes) const {
  const auto index = static_cast<std::size_t>(xcd);
  add_demand(demands, caches(tenant).l2[index], l2_bytes.value);
  add_demand(demands, caches(tenant).port[index], port_bytes.value);
}

void Memory::add_l2_stream(std::vector<Demand>& demands, int tenant, Bytes bytes) const {
  const Bytes share = bytes / static_cast<double>(spec_.compute.xcds);
  for (int xcd = 0; xcd < spec_.compute.xcds; ++xcd)
    add_l2(demands, tenant, xcd, share, share);
  add_demand(demands, meters_[static_cast<std::size_t>(tenant)].l2, bytes.value);
}

CacheState Memory::cache_state(int tenant, std::int64_t resident, Seconds work_group_time) const {
  CacheState state;
  state.resident = resident;
  state.xcds = spec_.compute.xcds;
  state.l2_size = spec_.cache.l2_size;
  // Without a memory-side cache the L2s keep what is used again.
  const bool has_llc = spec_.cache.llc_size.value > 0.0;
  state.llc_size =
      has_llc ? spec_.cache.llc_size : spec_.cache.l2_size * static_cast<double>(spec_.compute.xcds);
  state.replacement = spec_.cache.replacement;
  state.work_group_time = work_group_time;
  if (private_cache_) return state;
  for (std::size_t other = 0; other < meters_.size(); ++other) {
    if (static_cast<int>(other) == tenant) continue;
    state.l2_intruder.value += fluid_.rates().load(meters_[other].l2) / spec_.compute.xcds;
    state.llc_intruder.value += fluid_.rates().load(meters_[other].llc);
  }
  return state;
}

std::vector<HbmLoad> Memory::hbm_loads() const {
  std::vector<HbmLoad> loads;
  for (const Hbm& hbm : hbm_)
    loads.push_back({hbm.total, hbm.lost});
  return loads;
}

BytesPerSecond Memory::traffic_of_others(int tenant) const {
  return cache_state(tenant, 1, Seconds{}).llc_intruder;
}

Seconds Memory::least_loading_time(int tenant, Bytes bytes, Bytes in_flight) const {
  if (spec_.hypotheses.hbm_service.value <= 0.0) return {};
  constexpr double kFull = 0.95;  // beyond, it is arbitration that holds requests up, and is charged already
  const FlowSolver& rates = fluid_.rates();
  const ResourceId total = hbm(tenant).total;
  const double load = std::min(rates.load(total) / rates.capacity(total), kFull);
  const Seconds queued = spec_.hypotheses.hbm_service * (load / (2.0 * (1.0 - load)));
  return (spec_.hbm.latency + queued) * (bytes / in_flight);
}

double Memory::weight(Bytes outstanding, int requesters, Bytes hbm_bytes, double alone) const {
  if (hbm_bytes.value <= 0.0) return alone;
  switch (spec_.hbm.arbitration) {
    case HbmArbitration::outstanding:
    case HbmArbitration::stream_fair:  // within a stream
    case HbmArbitration::compute_first:
      return outstanding * static_cast<double>(requesters) / hbm_bytes;
    case HbmArbitration::byte_fair:
      return requesters / hbm_bytes.value;
    case HbmArbitration::equal_slowdown:
      return alone;
  }
  return alone;
}

}}  // namespace c3::gpu
