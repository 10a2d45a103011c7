#include "workloads/execute/host_thread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace c3::inline workloads {
namespace {

constexpr const char* kBehind = "operations before it in its hardware queue";

}  // namespace

HostThread::HostThread(Simulation& simulation, const Script& script, HostOrder order, EventTable& events,
                       int rank, Seconds start)
    : simulation_(simulation),
      program_(*script.host),
      order_(order),
      events_(events),
      name_(fmt::format("the host of rank {}", rank)),
      start_(start),
      streams_(script.streams.size()) {
  std::size_t queues = script.streams.size();
  if (program_.hardware_queues > 0)
    queues = std::min(queues, static_cast<std::size_t>(program_.hardware_queues));
  if (order == HostOrder::one_by_one) queues = 1;
  started_.assign(queues, 0);
  std::vector<std::size_t> numbers(queues, 0);
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    streams_[i].queue = i % queues;
    streams_[i].number.resize(script.streams[i].size());
    streams_[i].launched.reserve(script.streams[i].size());
  }
  for (const HostStep& step : program_.steps) {
    if (!step.launches) continue;
    Stream& stream = streams_[step.launches->stream];
    stream.number[step.launches->operation] = numbers[stream.queue]++;
  }
}

Task HostThread::run() {
  co_await simulation_.sleep(start_);
  for (const HostStep& step : program_.steps) {
    if (step.waits_for) {
      Event& event = *events_.entry(*step.waits_for).event;
      co_await event;
    }
    if (step.cost.value > 0.0) co_await simulation_.sleep(step.cost);
    if (!step.launches) continue;
    Stream& stream = streams_[step.launches->stream];
    if (static_cast<int>(stream.launched.size()) - stream.ended >= program_.launch_queue) {
      Event room(simulation_, "room in its launch queue");
      room_ = &room;
      full_ = step.launches->stream;
      co_await room;
    }
    stream.launched.push_back(simulation_.now());
    wake(step.launches->stream);
    if (stream.waiting != nullptr) stream.waiting->rename(kBehind);
  }
}

bool HostThread::has_turn(std::size_t stream, std::size_t operation) const {
  const Stream& its = streams_[stream];
  return its.launched.size() > operation && started_[its.queue] == its.number[operation];
}

Task HostThread::turn(std::size_t stream, std::size_t operation) {
  if (!has_turn(stream, operation)) {
    Event mine(simulation_,
               streams_[stream].launched.size() > operation ? std::string(kBehind) : "a launch by " + name_);
    streams_[stream].waiting = &mine;
    co_await mine;
  }
}

void HostThread::wake(std::size_t stream) {
  Stream& its = streams_[stream];
  // It waits for the operation after those that have started: the first of the stream with that number.
  if (its.waiting == nullptr) return;
  const auto next = std::ranges::lower_bound(its.number, started_[its.queue]);
  const auto operation = static_cast<std::size_t>(next - its.number.begin());
  if (next == its.number.end() || !has_turn(stream, operation)) return;
  std::exchange(its.waiting, nullptr)->set();
}

void HostThread::started(std::size_t stream) {
  if (order_ == HostOrder::by_queue) advance(streams_[stream].queue);
}

void HostThread::advance(std::size_t queue) {
  ++started_[queue];
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (streams_[i].queue == queue) wake(i);
  }
}

void HostThread::ended(std::size_t stream) {
  ++streams_[stream].ended;
  if (order_ == HostOrder::one_by_one) advance(streams_[stream].queue);
  if (room_ != nullptr && full_ == stream) std::exchange(room_, nullptr)->set();
}

}  // namespace c3::workloads
