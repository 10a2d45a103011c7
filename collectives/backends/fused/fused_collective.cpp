#include "collectives/backends/fused/fused_collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include "engine/errors.hpp"

namespace c3 { inline namespace collectives {
namespace {

// Loads get this much more of HBM than stores that are served from what they leave.
constexpr double kLoadsFirst = 1e3;

}  // namespace

FusedCollective::FusedCollective(Cluster& cluster, CollectivePlan plan)
    : CollectiveRun(cluster, std::move(plan)),
      routes_(make_fused_routes(plan_.name, plan_.call.kind, plan_.method.algorithm, members())),
      members_(simulated().size()) {
  check_hardware();
  if (cluster.setup().classes) tell_edges();
  width_ = routes_.lanes;
  const Bytes window = cluster.spec().gpu.trigger.staging_window;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Member& member = members_[i];
    if (reduces(plan_.call.kind) && plan_.reduction == FusedReduction::cu)
      member.adder = std::make_unique<CuAdder>(cluster, plan_, simulated()[i]);
    for (int ahead = 0; ahead < members(); ++ahead)
      member.arrivals.push_back(std::make_unique<StagingWindow>(simulation_, window));
    for (int lane = 0; lane < routes_.lanes; ++lane)
      member.lanes.push_back(
          std::make_unique<Lane>(StagingWindow(simulation_, window), TicketLine(simulation_)));
  }
  wait_for("the kernel that makes the data of " + plan_.name);
}

void FusedCollective::check_hardware() const {
  const GpuSpec& gpu = cluster_.spec().gpu;
  const auto refuse = [&](const std::string& why) {
    throw InfeasibleError(fmt::format("{}: {}", plan_.name, why));
  };
  const Interconnect& links = cluster_.interconnect();
  const auto is_elsewhere = [&](int rank) {
    return links.node_of(rank) != links.node_of(graph_.members.front());
  };
  if (std::ranges::any_of(graph_.members, is_elsewhere))
    refuse("backend = \"fused\" supports only GPUs of one node: a kernel's stores do not reach other nodes");
  if (gpu.trigger.tracker_entries == 0)
    refuse(fmt::format(
        "gpu '{}' has no tracker of stores, which backend = \"fused\" needs (gpu.tracker_entries)", gpu.name));
  const bool copies =
      std::ranges::any_of(routes_.chunks, [](const FusedChunk& chunk) { return !chunk.copies.empty(); });
  if (copies && gpu.dma.engines < routes_.lanes)
    refuse(fmt::format("needs {} copy engines, gpu '{}' has {}", routes_.lanes, gpu.name, gpu.dma.engines));
  const bool adds = reduces(plan_.call.kind) && plan_.reduction == FusedReduction::near_memory;
  if (adds && gpu.trigger.near_memory_update == 0.0)
    refuse(fmt::format(
        R"(the memory of gpu '{}' cannot add (gpu.near_memory_update); choose reduction = "atomics" or "cu")",
        gpu.name));
}

void FusedCollective::tell_edges() {
  std::map<int, double> chunks;  // how many chunks go so far ahead
  for (const FusedChunk& chunk : routes_.chunks) {
    for (const std::vector<FusedHop>* hops : {&chunk.stores, &chunk.copies}) {
      for (const FusedHop& hop : *hops)
        chunks[hop.ahead] += 1.0;
    }
  }
  const Bytes of_chunk = input_bytes(plan_.call, members()) / static_cast<double>(routes_.produced);
  const std::vector<std::vector<int>> groups =
      plan_.groups ? *plan_.groups : std::vector<std::vector<int>>{graph_.members};
  for (const auto& [ahead, count] : chunks) {
    std::vector<Edge> edges;
    for (const std::vector<int>& group : groups) {
      for (std::size_t i = 0; i < group.size(); ++i)
        edges.push_back({.kind = EdgeKind::route,
                         .src = group[i],
                         .dst = group[(i + static_cast<std::size_t>(ahead)) % group.size()]});
    }
    edges_[ahead] = cluster_.add_edges(std::move(edges), of_chunk * count);
  }
  folded_calls_.push_back(cluster_.end_call());
}

int FusedCollective::peer(int rank, int ahead) const {
  const auto& group = graph_.members;
  if (!edges_.empty()) rank = group.front();  // which is as good as its like in another group
  const auto place = static_cast<std::size_t>(std::ranges::find(group, rank) - group.begin());
  return group[(place + static_cast<std::size_t>(ahead)) % group.size()];
}

void FusedCollective::start(int /*rank*/) {}

void FusedCollective::check_producer(const KernelDescription& kernel) const {
  const Bytes made = kernel.output * static_cast<double>(kernel.work_groups);
  const Bytes moved = input_bytes(plan_.call, members());
  if (kernel.split > 1)
    throw InfeasibleError(
        fmt::format("{}: '{}' makes its output in {} parts of K, which are added up after it; such "
                    "a kernel cannot be fused",
                    plan_.name, kernel.name, kernel.split));
  if (std::abs(made / moved - 1.0) > 1e-6)
    throw InfeasibleError(
        fmt::format("{}: moves {:.0f} B a rank, and '{}', with which it is fused, makes {:.0f} B", plan_.name,
                    moved.value, kernel.name, made.value));
}

// A tile more or less a chunk is made up by tiles of another size: chunks of the real kernel are equal in
// bytes.
KernelDescription FusedCollective::in_chunks(KernelDescription kernel) {
  const std::int64_t produced = routes_.produced;
  const std::int64_t whole = kernel.work_groups;
  tiles_per_chunk_ = (whole + produced - 1) / produced;
  kernel.work_groups = tiles_per_chunk_ * produced;
  if (kernel.work_groups == whole) return kernel;
  const double smaller = static_cast<double>(whole) / static_cast<double>(kernel.work_groups);
  note_ = fmt::format(
      "{}: {} tiles of '{}' do not divide into {} chunks; it runs with {} of {:.1f} % of their size",
      plan_.name, whole, kernel.name, produced, kernel.work_groups, 100.0 * smaller);
  kernel.flops = kernel.flops * smaller;
  kernel.compute_time = kernel.compute_time * smaller;
  kernel.output = kernel.output * smaller;
  kernel.traffic = scaled(kernel.traffic, smaller);
  return kernel;
}

KernelDescription FusedCollective::launch(int rank, KernelDescription kernel) {
  check_producer(kernel);
  const bool is_first = tiles_per_chunk_ == 0;
  kernel = in_chunks(std::move(kernel));
  tile_bytes_ = kernel.output;
  if (is_first) {
    program_trackers();
    wait_for("the end of " + plan_.name);
  }
  if (CuAdder* adder = member(rank).adder.get()) adder->start();
  return kernel;
}

void FusedCollective::program_trackers() {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Tracker& tracker = cluster_.gpu(simulated()[i]).tracker();
    for (const FusedChunk& chunk : routes_.chunks) {
      const bool tracked = chunk.is_tracked();
      members_[i].regions.push_back(tracked ? tracker.program(tiles_per_chunk_, chunk.updates())
                                            : Tracker::Region{});
      if (tracked) left_ += tiles_per_chunk_;
    }
  }
}

std::vector<FusedCollective::Part> FusedCollective::parts_of(const StoreBurst& burst) const {
  std::vector<Part> parts;
  for (const std::int64_t number : burst.tiles) {
    const std::int64_t produced = routes_.produced;
    const auto chunk = static_cast<int>(routes_.interleaved ? number % produced : number / tiles_per_chunk_);
    const std::int64_t tile = routes_.interleaved ? number / produced : number % tiles_per_chunk_;
    auto part = std::ranges::find(parts, chunk, &Part::chunk);
    if (part == parts.end()) part = parts.insert(parts.end(), {chunk, {}});
    part->tiles.push_back(tile);
  }
  return parts;
}

Task FusedCollective::store(StoreBurst burst) {
  Member& source = member(burst.rank);
  if (!source.began) {
    source.began = simulation_.now();
    open_activity(burst.rank);
  }
  std::vector<Part> local;
  for (Part& part : parts_of(burst)) {
    for (const FusedHop& hop : chunk_of(part.chunk).stores) {
      for (Tiles& piece : pieces(part.tiles))
        simulation_.spawn(plan_.name, send_part(burst, Part{part.chunk, std::move(piece)}, hop));
    }
    if (chunk_of(part.chunk).local) local.push_back(std::move(part));
  }
  std::deque<RunningFlow> flows;  // one per local chunk, all running at once
  for (const Part& part : local) {
    const Tracker::Region region = source.regions[static_cast<std::size_t>(part.chunk)];
    if (chunk_of(part.chunk).is_tracked()) co_await tracker(burst.rank).reserve(region, part.tiles);
    flows.emplace_back(simulation_, local_flow(burst, part.tiles));
  }
  for (std::size_t i = 0; i < local.size(); ++i) {
    RunningFlow& flow = flows[i];
    co_await flow;
    if (chunk_of(local[i].chunk).is_tracked()) stored(burst.rank, local[i].chunk, local[i].tiles);
  }
}

Task FusedCollective::send_part(StoreBurst burst, Part part, FusedHop hop) {
  const int dst = peer(burst.rank, hop.ahead);
  const Tracker::Region region = member(dst).regions[static_cast<std::size_t>(hop.chunk)];
  co_await tracker(dst).reserve(region, part.tiles);
  co_await arrivals(dst, hop).take(bytes_of(part.tiles));
  const Leg leg{.src = burst.rank, .dst = dst, .bytes = bytes_of(part.tiles), .op = hop.op};
  const ActivityId activity = simulation_.begin_activity(transfer_info(leg, ActivityKind::transfer));
  FlowSpec spec = departing_flow(burst, part.tiles, hop);
  spec.activity = activity;
  RunningFlow flow(simulation_, spec);
  co_await flow;
  simulation_.end_activity(activity);
  co_await simulation_.sleep(latency(burst.rank, hop));
  co_await arrive(burst.rank, dst, hop, std::move(part.tiles));
}

Task FusedCollective::arrive(int src, int dst, FusedHop hop, Tiles tiles) {
  FlowSpec spec = arrival_flow(dst, bytes_of(tiles), hop.op);
  spec.account = rank_activity(src);
  RunningFlow flow(simulation_, spec);
  co_await flow;
  arrivals(dst, hop).give(bytes_of(tiles));
  stored(simulated_rank(dst), hop.chunk, tiles);
}

void FusedCollective::stored(int rank, int chunk, const Tiles& tiles) {
  const Tracker::Region region = member(rank).regions[static_cast<std::size_t>(chunk)];
  const Tiles whole = tracker(rank).count(region, tiles);
  if (whole.empty()) return;
  if (member(rank).adder && chunk < routes_.produced) {
    simulation_.spawn(plan_.name, add(rank, chunk, whole));
  } else {
    complete(rank, chunk, whole);
  }
}

Task FusedCollective::add(int rank, int chunk, Tiles tiles) {
  co_await member(rank).adder->add(bytes_of(tiles), chunk_of(chunk).updates(), rank_activity(rank));
  complete(rank, chunk, tiles);
}

void FusedCollective::complete(int rank, int chunk, const Tiles& tiles) {
  trigger(rank, chunk, tiles);
  left_ -= static_cast<std::int64_t>(tiles.size());
  if (left_ > 0) return;
  for (const Member& member : members_) {
    if (member.adder) member.adder->end();
  }
  finish();
}

// What is ready together is told as one, unless it is more than a part of a window: while some is sent, it must
// have room for the next.
std::vector<FusedCollective::Tiles> FusedCollective::pieces(const Tiles& tiles) const {
  constexpr double kParts = 8.0;
  const double fit = cluster_.spec().gpu.trigger.staging_window / (kParts * tile_bytes_);
  const auto most = static_cast<std::ptrdiff_t>(std::clamp(fit, 1.0, 1e9));
  std::vector<Tiles> pieces;
  for (auto first = tiles.begin(); first != tiles.end();) {
    const auto last = first + std::min(most, tiles.end() - first);
    pieces.emplace_back(first, last);
    first = last;
  }
  return pieces;
}

void FusedCollective::trigger(int rank, int chunk, const Tiles& tiles) {
  int lane = 0;
  for (const FusedHop& hop : chunk_of(chunk).copies) {
    for (Tiles& piece : pieces(tiles))
      simulation_.spawn(plan_.name, copy(rank, hop, lane, std::move(piece)));
    ++lane;
  }
}

Task FusedCollective::copy(int rank, FusedHop hop, int lane, Tiles tiles) {
  const int dst = peer(rank, hop.ahead);
  const Bytes bytes = bytes_of(tiles);
  Lane& lane_state = *member(rank).lanes[static_cast<std::size_t>(lane)];
  const std::uint64_t ticket = lane_state.line.draw();
  FifoLock& engine = cluster_.gpu(rank).dma().queue(lane);
  co_await simulation_.sleep(cluster_.spec().gpu.trigger.latency);
  co_await lane_state.window.take(bytes);
  FlowSpec reading = read_flow(rank, tiles);
  reading.account = rank_activity(rank);
  RunningFlow read(simulation_, reading);
  co_await read;
  co_await lane_state.line.turn(ticket);
  co_await engine.acquire();
  const Tracker::Region region = member(dst).regions[static_cast<std::size_t>(hop.chunk)];
  co_await tracker(dst).reserve(region, tiles);
  co_await arrivals(dst, hop).take(bytes);
  const Leg leg{.src = rank, .dst = dst, .lane = lane, .bytes = bytes, .op = hop.op};
  const ActivityId activity = simulation_.begin_activity(transfer_info(leg, ActivityKind::transfer));
  FlowSpec sending = link_flow(rank, lane, tiles, hop);
  sending.activity = activity;
  RunningFlow send(simulation_, sending);
  co_await send;
  engine.release();
  lane_state.line.next();
  lane_state.window.give(bytes);
  simulation_.end_activity(activity);
  co_await simulation_.sleep(latency(rank, hop));
  co_await arrive(rank, dst, hop, std::move(tiles));
}

// Past the caches, all at once.
FlowSpec FusedCollective::local_flow(const StoreBurst& burst, const Tiles& tiles) {
  const GpuSpec& gpu = cluster_.spec().gpu;
  const Memory& memory = cluster_.gpu(burst.rank).memory();
  const Bytes bytes = bytes_of(tiles);
  demands_.clear();
  memory.add_stores(demands_, burst.stream, burst.xcd, bytes, bytes, burst.hbm_share);
  FlowSpec spec;
  spec.demands = demands_;
  spec.bound = 1.0 / gpu.hbm.latency.value;
  const double alone = std::min(spec.bound, memory.alone_rate(Bytes{}, bytes));
  spec.weight = memory.weight(burst.in_flight, static_cast<int>(tiles.size()), bytes, alone);
  if (gpu.hbm.store_order == StoreOrder::loads_first) spec.weight /= kLoadsFirst;
  spec.account = burst.kernel;
  return spec;
}

FlowSpec FusedCollective::departing_flow(const StoreBurst& burst, const Tiles& tiles, FusedHop hop) {
  const Memory& source = cluster_.gpu(burst.rank).memory();
  const Bytes bytes = bytes_of(tiles);
  demands_.clear();
  source.add_departing(demands_, burst.stream, burst.xcd, bytes);
  add_way(burst.rank, hop, bytes, /*lane=*/0);
  return communicating(source, bytes, burst.in_flight, static_cast<int>(tiles.size()));
}

void FusedCollective::add_way(int rank, FusedHop hop, Bytes bytes, int lane) {
  const Interconnect& links = cluster_.interconnect();
  if (edges_.empty()) {
    links.add_route(demands_, plan_.stream, rank, peer(rank, hop.ahead), bytes, lane, /*messages=*/1.0,
                    alike());
  } else {
    links.add_set(demands_, plan_.stream, edges_.at(hop.ahead), bytes, /*messages=*/1.0);
  }
}

Seconds FusedCollective::latency(int rank, FusedHop hop) const {
  if (!edges_.empty()) rank = graph_.members.front();
  return cluster_.interconnect().latency(rank, peer(rank, hop.ahead));
}

FlowSpec FusedCollective::read_flow(int rank, const Tiles& tiles) {
  const Memory& memory = cluster_.gpu(rank).memory();
  const Bytes bytes = bytes_of(tiles);
  demands_.clear();
  memory.add_hbm_read(demands_, plan_.stream, bytes, Caching::bypassed);
  return communicating(memory, bytes, cluster_.spec().gpu.dma.outstanding);
}

FlowSpec FusedCollective::link_flow(int rank, int lane, const Tiles& tiles, FusedHop hop) {
  Gpu& source = cluster_.gpu(rank);
  const Bytes bytes = bytes_of(tiles);
  demands_.clear();
  add_way(rank, hop, bytes, lane);
  add_demand(demands_, source.dma().bandwidth(lane), bytes.value);
  FlowSpec spec = communicating(source.memory(), bytes, cluster_.spec().gpu.dma.outstanding);
  spec.bound = kUnbounded;  // one piece follows another without a latency
  return spec;
}

// Memory that adds is busy with an update for longer than with a store; an atomic reads what it adds to.
FlowSpec FusedCollective::arrival_flow(int dst, Bytes bytes, TransferOp op) {
  const GpuSpec& gpu = cluster_.spec().gpu;
  const Memory& memory = cluster_.gpu(simulated_rank(dst)).memory();
  const bool in_memory = op == TransferOp::update && plan_.reduction == FusedReduction::near_memory;
  demands_.clear();
  if (in_memory) {
    memory.add_hbm_update(demands_, plan_.stream, bytes, gpu.trigger.near_memory_update);
  } else {
    memory.add_hbm_write(demands_, plan_.stream, bytes, Caching::bypassed);
    const bool reads = op == TransferOp::update && plan_.reduction == FusedReduction::atomics;
    if (reads) memory.add_hbm_read(demands_, plan_.stream, bytes, Caching::bypassed);
  }
  return communicating(memory, bytes, gpu.dma.outstanding);
}

// What demands_ says, in the communication stream; however few bytes, it takes a latency.
FlowSpec FusedCollective::communicating(const Memory& memory, Bytes bytes, Bytes in_flight,
                                        int requesters) const {
  FlowSpec spec;
  spec.demands = demands_;
  spec.bound = 1.0 / cluster_.spec().gpu.hbm.latency.value;
  spec.weight = memory.weight(in_flight, requesters, bytes, spec.bound);
  spec.priority = memory.communication_class();
  return spec;
}

}}  // namespace c3::collectives
