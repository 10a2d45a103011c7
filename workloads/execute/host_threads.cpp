#include "workloads/execute/host_threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace c3 { inline namespace workloads {
namespace {

constexpr const char* kBehind = "operations before it in its hardware queue";

}  // namespace

HostThreads::HostThreads(Simulation& simulation, const Program& program, const Script& script, HostOrder order,
                         EventTable& events, int rank, Seconds start, std::vector<HostLateness> lateness,
                         LaunchObserver* observer)
    : simulation_(simulation),
      names_(program),
      program_(*script.host),
      order_(order),
      events_(events),
      rank_(rank),
      name_(fmt::format("the host of rank {}", rank)),
      start_(start),
      lateness_(std::move(lateness)),
      observer_(observer),
      streams_(script.streams.size()) {
  std::size_t queues = script.streams.size();
  if (program_.hardware_queues > 0)
    queues = std::min(queues, static_cast<std::size_t>(program_.hardware_queues));
  if (order == HostOrder::one_by_one) queues = 1;
  started_.assign(queues, 0);
  enqueued_.assign(queues, 0);
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    streams_[i].queue = i % queues;
    streams_[i].launched.resize(script.streams[i].size());
    streams_[i].number.reserve(script.streams[i].size());
  }
}

void HostThreads::spawn() {
  for (std::size_t i = 0; i < program_.threads.size(); ++i) {
    const bool is_only = program_.threads.size() == 1;
    const std::string& thread = names_.names[program_.threads[i].name];
    thread_names_.push_back(is_only ? name_ : fmt::format("thread '{}' of {}", thread, name_));
    simulation_.spawn(thread_names_.back(), run(i));
  }
}

Task HostThreads::run(std::size_t thread) {
  co_await simulation_.sleep(start_);
  for (const HostStep& step : program_.threads[thread].steps) {
    if (step.waits_for) {
      const EventTable::Entry& entry = events_.entry(*step.waits_for);
      Event& event = *entry.event;
      if (!event.is_set()) lateness_[thread].meet();
      co_await event;
      const Seconds returns = entry.date + step.lag;
      if (simulation_.now() < returns) co_await simulation_.sleep(returns - simulation_.now());
    }
    if (step.cost.value > 0.0) co_await simulation_.sleep(step.cost + lateness_[thread].after(step.cost));
    if (step.launches) {
      const std::size_t stream = step.launches->stream;
      const Seconds came = simulation_.now();
      while (is_full(streams_[stream])) {
        Event room(simulation_, "room in its launch queue");
        full_.push_back({&room, stream});
        co_await room;
        lateness_[thread].meet();
      }
      launch(*step.launches);
      tell(thread, *step.launches, came);
    }
    if (step.records) events_.record(*step.records, simulation_.now());
    if (step.mark != 0) marks_.push_back({rank_, names_.names[step.mark], simulation_.now()});
  }
}

void HostThreads::tell(std::size_t thread, OperationPlace place, Seconds came) const {
  if (observer_ == nullptr) return;
  observer_->launched({.rank = rank_, .place = place, .thread = thread, .came = came, .at = simulation_.now()});
}

void HostThreads::launch(OperationPlace place) {
  Stream& its = streams_[place.stream];
  ++its.launches;
  its.launched[place.operation] = simulation_.now();
  const std::size_t before = its.number.size();
  // What was launched early waits here for those before it on the stream.
  while (its.number.size() < its.launched.size() && its.launched[its.number.size()])
    its.number.push_back(enqueued_[its.queue]++);
  wake(place.stream);
  if (its.waiting != nullptr && its.number.size() > before) its.waiting->rename(kBehind);
}

bool HostThreads::has_turn(std::size_t stream, std::size_t operation) const {
  const Stream& its = streams_[stream];
  return its.number.size() > operation && started_[its.queue] == its.number[operation];
}

Task HostThreads::turn(std::size_t stream, std::size_t operation) {
  if (!has_turn(stream, operation)) {
    Event mine(simulation_,
               streams_[stream].number.size() > operation ? std::string(kBehind) : "a launch by " + name_);
    streams_[stream].waiting = &mine;
    co_await mine;
  }
}

void HostThreads::wake(std::size_t stream) {
  Stream& its = streams_[stream];
  // It waits for the operation after those that have started: the first of the stream with that number.
  if (its.waiting == nullptr) return;
  const auto next = std::ranges::lower_bound(its.number, started_[its.queue]);
  const auto operation = static_cast<std::size_t>(next - its.number.begin());
  if (next == its.number.end() || !has_turn(stream, operation)) return;
  std::exchange(its.waiting, nullptr)->set();
}

void HostThreads::started(std::size_t stream) {
  if (order_ == HostOrder::by_queue) advance(streams_[stream].queue);
}

void HostThreads::advance(std::size_t queue) {
  ++started_[queue];
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (streams_[i].queue == queue) wake(i);
  }
}

void HostThreads::ended(std::size_t stream) {
  ++streams_[stream].ended;
  if (order_ == HostOrder::one_by_one) advance(streams_[stream].queue);
  const auto waits = std::ranges::find(full_, stream, &Full::stream);
  if (waits == full_.end()) return;
  Event* const room = waits->room;
  full_.erase(waits);
  room->set();
}

}}  // namespace c3::workloads
