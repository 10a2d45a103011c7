#include "collectives/backends/cu/ring_run.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace c3 { inline namespace collectives {
namespace {

// This bit in a tag marks a timer; the other bits are the edge's number.
constexpr std::uint64_t kTimer = std::uint64_t{1} << 63;

}  // namespace

RingRun::RingRun(Simulation& simulation, RingTraffic& traffic, std::span<const TurningRing> rings, int chunks,
                 bool folded)
    : simulation_(simulation),
      traffic_(traffic),
      rings_(rings.begin(), rings.end()),
      chunks_(static_cast<std::uint32_t>(chunks)),
      window_(std::bit_ceil(chunks_ + 1)),
      done_(simulation, "the last chunk of a ring") {
  if (chunks < 1) throw std::logic_error("RingRun: at least one chunk");
  for (std::uint32_t r = 0; r < rings_.size(); ++r)
    add_edges(r, folded);
  waiting_.resize(edges_.size() * window_);
}

void RingRun::add_edges(std::uint32_t index, bool folded) {
  const TurningRing& ring = rings_[index];
  const auto first = static_cast<std::uint32_t>(edges_.size());
  for (std::size_t at = 0; at < ring.order.size(); ++at) {
    if (folded && ring.order[at] != 0) continue;
    const auto number = static_cast<std::uint32_t>(edges_.size());
    Edge& edge = edges_.emplace_back();
    edge.leg = {ring.order[at], ring.order[(at + 1) % ring.order.size()], ring.lane, ring.first / chunks_,
                ring.op(0)};
    edge.ring = index;
    edge.receiver = number + 1;
    edge.sends = static_cast<std::uint32_t>(ring.steps) * chunks_;
    edge.adding_sends = static_cast<std::uint32_t>(ring.adding_steps) * chunks_;
    edge.latency = traffic_.latency(edge.leg);
    left_ += edge.sends;
  }
  edges_.back().receiver = first;
}

RingRun::~RingRun() { discard_flows(); }

void RingRun::discard_flows() {
  for (const Edge& edge : edges_) {
    if (edge.flow) simulation_.fluid().discard(*edge.flow);
  }
}

void RingRun::start() {
  for (std::uint32_t edge = 0; edge < edges_.size(); ++edge) {
    prepare(edge);
    for (std::uint32_t chunk = 0; chunk < std::min(chunks_, edges_[edge].sends); ++chunk)
      make_ready(edge, kNoActivity);
    start_if_ready(edge);
  }
}

void RingRun::on_complete(std::uint64_t tag) {
  const auto edge = static_cast<std::uint32_t>(tag & ~kTimer);
  if (tag & kTimer) {
    edges_[edge].has_timer = false;
    start_if_ready(edge);
  } else {
    end_chunk(edge);
  }
}

void RingRun::end_chunk(std::uint32_t index) {
  Edge& edge = edges_[index];
  edge.running = false;
  ++edge.sent;
  simulation_.end_activity(edge.activity);
  const std::uint32_t receiver = edge.receiver;
  if (edges_[receiver].ready < edges_[receiver].sends) make_ready(receiver, edge.activity);
  start_if_ready(index);
  if (receiver != index) start_if_ready(receiver);
  if (--left_ > 0) return;
  discard_flows();
  done_.set();
}

// A chunk has come to the sender of this edge, or was there from the start.
void RingRun::make_ready(std::uint32_t index, ActivityId before) {
  Edge& edge = edges_[index];
  if (edge.ready - edge.sent == window_) widen_window();
  Waiting& chunk = waiting(index, edge.ready++);
  chunk.ready = simulation_.now() + edge.latency;
  if (simulation_.is_observed()) chunk.activity = traffic_.begin(leg_now(edge), before);
}

void RingRun::start_if_ready(std::uint32_t index) {
  Edge& edge = edges_[index];
  if (edge.running || edge.has_timer || edge.sent == edge.ready) return;
  const Waiting& chunk = waiting(index, edge.sent);
  if (simulation_.fluid().has_come(chunk.ready)) return start_chunk(index, chunk.activity);
  edge.has_timer = true;
  simulation_.fluid().set_timer(chunk.ready, *this, index | kTimer);
}

void RingRun::start_chunk(std::uint32_t index, ActivityId activity) {
  Edge& edge = edges_[index];
  if (edge.leg.op != edge.next_op()) prepare(index);
  if (traffic_.occupancy(edge.leg.src) != edge.occupancy) refresh(edge);
  edge.running = true;
  edge.activity = activity;
  const TurningRing& ring = rings_[edge.ring];
  const bool shrinks = ring.less.value > 0.0;
  const double part = shrinks ? ring.bytes(static_cast<int>(edge.sent / chunks_)) / ring.first : 1.0;
  simulation_.fluid().repeat(*edge.flow, part, activity);
}

void RingRun::prepare(std::uint32_t index) {
  Edge& edge = edges_[index];
  FluidSystem& fluid = simulation_.fluid();
  if (edge.flow) fluid.discard(*edge.flow);
  edge.leg.op = edge.next_op();
  edge.occupancy = traffic_.occupancy(edge.leg.src);
  edge.flow = fluid.prepare(traffic_.flow(edge.leg, parts_), this, index);
}

void RingRun::refresh(Edge& edge) {
  const FlowSpec spec = traffic_.flow(edge.leg, parts_);
  edge.occupancy = traffic_.occupancy(edge.leg.src);
  simulation_.fluid().set_bound(*edge.flow, spec.bound, spec.laws);
  simulation_.fluid().set_weight(*edge.flow, spec.weight);
}

/// What \p edge's next chunk to become ready carries.
Leg RingRun::leg_now(const Edge& edge) const {
  const TurningRing& ring = rings_[edge.ring];
  const int step = static_cast<int>((edge.ready - 1) / chunks_);
  Leg leg = edge.leg;
  leg.bytes = leg.bytes * (ring.bytes(step) / ring.first);
  leg.op = ring.op(step);
  return leg;
}

// Chunk n of an edge is at n modulo the width: each moves.
void RingRun::widen_window() {
  const std::uint32_t wider = 2 * window_;
  std::vector<Waiting> moved(edges_.size() * wider);
  for (std::uint32_t e = 0; e < edges_.size(); ++e) {
    for (std::uint32_t chunk = edges_[e].sent; chunk != edges_[e].ready; ++chunk)
      moved[std::size_t{e} * wider + (chunk & (wider - 1))] = waiting(e, chunk);
  }
  waiting_ = std::move(moved);
  window_ = wider;
}

}}  // namespace c3::collectives
