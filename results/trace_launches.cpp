#include "results/trace_launches.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>
#include <variant>

#include "base/json.hpp"
#include "results/picoseconds.hpp"
#include "workloads/traces/replay/torch_operator.hpp"

namespace c3 { inline namespace results {
namespace {

/// Numbered like the streams of the GPU; each stream's launches get a thread.
constexpr std::int64_t kFirstThread = 7;
constexpr std::int64_t kFirstSynchronisation = std::int64_t{1} << 40;
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

/// How many kernels or copies of its own stream a launch of the operation makes.
std::size_t activities_of(const Operation& operation) {
  const auto* exchange = std::get_if<Exchange>(&operation.work);
  return exchange == nullptr ? 1 : exchange->messages.size();
}

bool is_synchronisation(const Operation& operation) {
  return std::holds_alternative<RecordEvent>(operation.work) ||
         std::holds_alternative<WaitEvent>(operation.work);
}

const char* name_of_call(const Operation& operation) {
  if (std::holds_alternative<RecordEvent>(operation.work)) return "cudaEventRecord";
  if (std::holds_alternative<HostCopy>(operation.work)) return "cudaMemcpyAsync";
  return std::holds_alternative<WaitEvent>(operation.work) ? "cudaStreamWaitEvent" : "cudaLaunchKernel";
}

}  // namespace

TraceLaunches::TraceLaunches(const Program& program, int rank, int process, std::int64_t lead)
    : program_(program), script_(program.script_of(rank)), process_(process), lead_(lead) {
  const std::size_t streams = script_.streams.size();
  for (auto* next : {&next_kernel_, &next_wait_, &next_communication_, &messages_begun_})
    next->assign(streams, 0);
  std::size_t before = 0;
  for (const std::vector<Operation>& stream : script_.streams) {
    first_call_.emplace_back(stream.size(), kNone);
    operations_before_.push_back(before);
    before += stream.size();
  }
  records_.resize(script_.events.size());
  for (std::size_t stream = 0; stream < streams; ++stream) {
    for (std::size_t i = 0; i < script_.streams[stream].size(); ++i) {
      if (const auto* record = std::get_if<RecordEvent>(&script_.streams[stream][i].work))
        records_[record->event] = Record{correlation_of(stream, i), stream};
    }
  }
}

void TraceLaunches::launched(const HostLaunch& launch) {
  first_call_[launch.place.stream][launch.place.operation] = calls_.size();
  const std::size_t calls = activities_of(operation(launch.place));
  for (std::size_t i = 0; i < calls; ++i)
    calls_.push_back({.place = launch.place,
                      .thread = launch.thread,
                      .came = picoseconds(launch.came),
                      .at = picoseconds(launch.at)});
}

template <class Matches>
std::size_t TraceLaunches::next(std::vector<std::size_t>& from, int stream, Matches matches) {
  const std::vector<Operation>& operations = script_.streams[static_cast<std::size_t>(stream)];
  std::size_t& at = from[static_cast<std::size_t>(stream)];
  while (at < operations.size() && !matches(operations[at]))
    ++at;
  if (at == operations.size()) throw std::logic_error("trace: an activity that no operation of its stream is");
  return at++;
}

std::size_t TraceLaunches::next_kernel(int stream) {
  return next(next_kernel_, stream, [](const Operation& operation) { return computes(operation); });
}

std::size_t TraceLaunches::next_wait(int stream) {
  return next(next_wait_, stream,
              [](const Operation& operation) { return std::holds_alternative<WaitEvent>(operation.work); });
}

// Each message of an exchange is an activity.
std::size_t TraceLaunches::next_communication(int stream, std::string_view name) {
  const auto row = static_cast<std::size_t>(stream);
  const std::size_t found = next(next_communication_, stream, [&](const Operation& operation) {
    if (std::holds_alternative<Exchange>(operation.work)) return true;
    const bool has_a_name =
        std::holds_alternative<JoinCall>(operation.work) || std::holds_alternative<HostCopy>(operation.work);
    return has_a_name && program_.name_of(operation) == name;
  });
  if (++messages_begun_[row] < activities_of(script_.streams[row][found])) {
    next_communication_[row] = found;
  } else {
    messages_begun_[row] = 0;
  }
  return found;
}

void TraceLaunches::started(int stream, std::size_t index, ActivityId activity, TraceTrack device,
                            std::int64_t start) {
  std::size_t call = first_call_[static_cast<std::size_t>(stream)][index];
  if (call == kNone) return;
  while (calls_[call].activity != kNoActivity)
    ++call;
  calls_[call].activity = activity;
  calls_[call].device = device;
  calls_[call].start = start;
}

std::int64_t TraceLaunches::correlation_of(std::size_t stream, std::size_t index) const {
  return kFirstSynchronisation + static_cast<std::int64_t>(operations_before_[stream] + index);
}

/// Calls that a thread makes at one date share the time before it.
std::vector<TraceLaunches::Call> TraceLaunches::with_dates() const {
  std::vector<Call> calls = calls_;
  std::map<std::size_t, std::vector<std::size_t>> threads;
  for (std::size_t i = 0; i < calls.size(); ++i)
    threads[calls[i].thread].push_back(i);
  for (const auto& [thread, own] : threads) {
    std::int64_t last = 0;
    for (std::size_t first = 0; first < own.size();) {
      std::size_t end = first;
      while (end < own.size() && calls[own[end]].at == calls[own[first]].at)
        ++end;
      const std::int64_t begin = std::max(last, calls[own[first]].came);
      last = calls[own[first]].at + lead_;
      const auto count = static_cast<std::int64_t>(end - first);
      for (std::int64_t i = 0; i < count; ++i) {
        Call& call = calls[own[first + static_cast<std::size_t>(i)]];
        call.begin = begin + (last - begin) * i / count;
        call.end = begin + (last - begin) * (i + 1) / count;
      }
      first = end;
    }
  }
  return calls;
}

std::int64_t TraceLaunches::write(TraceFile& file) const {
  std::int64_t last = 0;
  for (const Call& call : with_dates()) {
    last = std::max(last, call.end);
    write(file, call);
  }
  return last;
}

void TraceLaunches::write(TraceFile& file, const Call& call) const {
  const Operation& called = operation(call.place);
  const bool synchronises = is_synchronisation(called);
  if (!synchronises && call.activity == kNoActivity)
    return;  // copy engines make it, which have calls of their own
  const TraceTrack host{process_, kFirstThread + static_cast<std::int64_t>(call.thread)};
  const std::int64_t correlation = synchronises ? correlation_of(call.place.stream, call.place.operation)
                                                : static_cast<std::int64_t>(call.activity);
  std::int64_t end = call.end;
  if (const Operator* op = kernel_of(called)) {
    const TorchOperator torch_call = torch_operator(*op);
    file.slice({.track = host,
                .name = torch_call.name,
                .category = "cpu_op",
                .start = call.begin,
                .end = call.end,
                .args = torch_call.args});
    end -= (call.end - call.begin) / 4;  // inside its operator
  }
  file.slice(
      {.track = host,
       .name = name_of_call(called),
       .category = "cuda_runtime",
       .start = call.begin,
       .end = end,
       .args = Json::object({{"correlation", correlation}, {"operation", program_.name_of(called)}}).dump()});
  if (!synchronises) file.launch_arrow(call.activity, host, call.begin, call.device, call.start);
}

}}  // namespace c3::results
