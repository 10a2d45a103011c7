#include "collectives/backends/cu/pipeline_run.hpp"

#include <algorithm>
#include <limits>

namespace c3 { inline namespace collectives {
namespace {

// This bit in a tag marks a timer; the other bits are the edge's number.
constexpr std::uint64_t kTimer = std::uint64_t{1} << 63;
constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();

}  // namespace

PipelineRun::PipelineRun(Simulation& simulation, PipelineTraffic& traffic, const Pipeline& pipeline,
                         const std::vector<bool>& takes_part)
    : simulation_(simulation),
      traffic_(traffic),
      pipeline_(pipeline),
      done_(simulation, "the last piece of a pipeline") {
  std::vector<std::uint32_t> place(pipeline.edges.size(), kAbsent);
  for (std::size_t i = 0; i < pipeline.edges.size(); ++i) {
    if (!takes_part[i]) continue;
    place[i] = static_cast<std::uint32_t>(edges_.size());
    edges_.push_back({.whole = &pipeline.edges[i]});
  }
  left_ = std::uint64_t{edges_.size()} * pieces();
  if (simulation.is_observed()) activities_.resize(left_, kNoActivity);
  edges_.push_back({.whole = nullptr});
  join_edges(place);
}

// An edge that does not take part is not waited for.
void PipelineRun::join_edges(const std::vector<std::uint32_t>& place) {
  std::vector<std::uint32_t> receivers(edges_.size() + 1);
  for (std::uint32_t e = 0; e + 1 < edges_.size(); ++e) {
    for (const std::uint32_t before : edges_[e].whole->after) {
      if (place[before] == kAbsent) continue;
      senders_.push_back(place[before]);
      ++receivers[place[before] + 1];
    }
    edges_[e + 1].first_sender = static_cast<std::uint32_t>(senders_.size());
  }
  for (std::uint32_t e = 0; e + 1 < edges_.size(); ++e) {
    receivers[e + 1] += receivers[e];
    edges_[e + 1].first_receiver = receivers[e + 1];
  }
  receivers_.resize(senders_.size());
  for (std::uint32_t e = 0; e + 1 < edges_.size(); ++e) {
    for (std::uint32_t at = edges_[e].first_sender; at < edges_[e + 1].first_sender; ++at)
      receivers_[receivers[senders_[at]]++] = e;
  }
}

PipelineRun::~PipelineRun() {
  for (const Edge& edge : edges_) {
    if (edge.flow) simulation_.fluid().discard(*edge.flow);
  }
}

void PipelineRun::start() {
  if (left_ == 0) return done_.set();
  for (std::uint32_t e = 0; e + 1 < edges_.size(); ++e) {
    if (senders(e) == 0) edges_[e].arrived = pieces();
    make_ready(e);
    start_if_ready(e);
  }
}

void PipelineRun::on_complete(std::uint64_t tag) {
  const auto edge = static_cast<std::uint32_t>(tag & ~kTimer);
  if (tag & kTimer) {
    edges_[edge].has_timer = false;
    start_if_ready(edge);
  } else {
    end_piece(edge);
  }
}

void PipelineRun::end_piece(std::uint32_t index) {
  Edge& edge = edges_[index];
  edge.running = false;
  if (!activities_.empty()) simulation_.end_activity(activities_[std::size_t{index} * pieces() + edge.sent]);
  if (++edge.sent == pieces()) {
    simulation_.fluid().discard(*edge.flow);
    edge.flow.reset();
  }
  for (std::uint32_t at = edge.first_receiver; at < edges_[index + 1].first_receiver; ++at) {
    Edge& receiver = edges_[receivers_[at]];
    if (edge.sent == receiver.arrived + 1 && ++receiver.passed == senders(receivers_[at]))
      arrive(receivers_[at]);
  }
  start_if_ready(index);
  for (std::uint32_t at = edge.first_receiver; at < edges_[index + 1].first_receiver; ++at)
    start_if_ready(receivers_[at]);
  if (--left_ == 0) done_.set();
}

// A piece has come over all senders, and with it those that all but one had sent already.
void PipelineRun::arrive(std::uint32_t index) {
  Edge& edge = edges_[index];
  while (edge.passed == senders(index) && edge.arrived < pieces()) {
    ++edge.arrived;
    edge.passed = 0;
    for (std::uint32_t at = edge.first_sender; at < edges_[index + 1].first_sender; ++at)
      edge.passed += edges_[senders_[at]].sent > edge.arrived ? 1 : 0;
  }
  make_ready(index);
}

// All pieces that need no more than what has come. Dates that are past are kept as one.
void PipelineRun::make_ready(std::uint32_t index) {
  Edge& edge = edges_[index];
  const std::uint32_t before = edge.ready;
  while (edge.ready < pieces() && pipeline_.pieces[edge.ready].needs <= edge.arrived)
    ++edge.ready;
  if (edge.ready == before) return;
  if (!activities_.empty()) {
    for (std::uint32_t piece = before; piece < edge.ready; ++piece)
      begin_activity(index, piece);
  }
  if (!edge.dates.empty() && simulation_.fluid().has_come(edge.dates.back().date))
    edge.dates.erase(edge.dates.begin(), edge.dates.end() - 1);
  edge.dates.push_back({simulation_.now() + traffic_.latency(*edge.whole), edge.ready});
}

void PipelineRun::begin_activity(std::uint32_t index, std::uint32_t piece) {
  const Edge& edge = edges_[index];
  const std::uint32_t needs = pipeline_.pieces[piece].needs;
  // Activities of the last piece that this piece needs and the piece ahead does not.
  std::vector<ActivityId> before;
  if (piece == 0 ? needs > 0 : needs > pipeline_.pieces[piece - 1].needs) {
    for (std::uint32_t at = edge.first_sender; at < edges_[index + 1].first_sender; ++at)
      before.push_back(activities_[std::size_t{senders_[at]} * pieces() + needs - 1]);
  }
  activities_[std::size_t{index} * pieces() + piece] =
      traffic_.begin(*edge.whole, pipeline_.pieces[piece].share, before);
}

void PipelineRun::start_if_ready(std::uint32_t index) {
  Edge& edge = edges_[index];
  if (edge.running || edge.has_timer || edge.sent == edge.ready) return;
  auto run = edge.dates.begin();
  while (run->until <= edge.sent)
    ++run;
  edge.dates.erase(edge.dates.begin(), run);
  const Seconds date = edge.dates.front().date;
  if (simulation_.fluid().has_come(date)) return start_piece(index);
  edge.has_timer = true;
  simulation_.fluid().set_timer(date, *this, index | kTimer);
}

void PipelineRun::start_piece(std::uint32_t index) {
  Edge& edge = edges_[index];
  if (!edge.flow) {
    prepare(index);
  } else if (traffic_.occupancy(*edge.whole) != edge.occupancy) {
    refresh(edge);
  }
  edge.running = true;
  const ActivityId activity =
      activities_.empty() ? kNoActivity : activities_[std::size_t{index} * pieces() + edge.sent];
  simulation_.fluid().repeat(*edge.flow, pipeline_.pieces[edge.sent].share, activity);
}

void PipelineRun::prepare(std::uint32_t index) {
  Edge& edge = edges_[index];
  edge.occupancy = traffic_.occupancy(*edge.whole);
  edge.flow = simulation_.fluid().prepare(traffic_.flow(*edge.whole, parts_), this, index);
}

void PipelineRun::refresh(Edge& edge) {
  const FlowSpec spec = traffic_.flow(*edge.whole, parts_);
  edge.occupancy = traffic_.occupancy(*edge.whole);
  simulation_.fluid().set_bound(*edge.flow, spec.bound, spec.laws);
  simulation_.fluid().set_weight(*edge.flow, spec.weight);
}

}}  // namespace c3::collectives
