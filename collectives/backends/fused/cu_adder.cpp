#include "collectives/backends/fused/cu_adder.hpp"

#include <algorithm>
#include <utility>

namespace c3 { inline namespace collectives {

CuAdder::CuAdder(Cluster& cluster, const CollectivePlan& plan, int rank)
    : simulation_(cluster.simulation()),
      gpu_(cluster.gpu(rank)),
      library_(cluster.spec().library),
      plan_(plan),
      channels_(plan.method.channels.most > 0 ? std::min(plan.method.channels.most, library_.channels)
                                              : library_.channels),
      needs_{library_.channel_lds, library_.channel_registers, library_.waves_per_channel, /*computes=*/false},
      placed_(simulation_, "CU slots for the additions of " + plan.name),
      turn_(simulation_) {
  work_groups_per_cu(gpu_.spec().compute, needs_, plan.name);
}

// Ahead of the producer, which would take every CU and then wait for sums.
void CuAdder::start() {
  constexpr int kBeforeQueues = -1;
  gpu_.dispatcher(plan_.stream)
      .submit({this, needs_, channels_, plan_.range, plan_.priority, kBeforeQueues, plan_.draw});
}

void CuAdder::on_placed(int xcd, std::span<const int> cus) {
  for (const int cu : cus)
    places_.push_back({xcd, cu});
  placed_.set();
}

Task CuAdder::add(Bytes bytes, int parts, ActivityId account) {
  co_await placed_;
  co_await turn_.acquire();
  FlowSpec spec = flow(bytes, parts);
  spec.account = account;
  RunningFlow adding(simulation_, spec);
  co_await adding;
  turn_.release();
}

FlowSpec CuAdder::flow(Bytes bytes, int parts) {
  const Memory& memory = gpu_.memory();
  const Bytes read = static_cast<double>(parts) * bytes;
  demands_.clear();
  memory.add_hbm_read(demands_, plan_.stream, read);
  memory.add_hbm_write(demands_, plan_.stream, bytes);
  memory.add_l2_stream(demands_, plan_.stream, read + bytes);
  const ComputeUnits& units = gpu_.dispatcher(plan_.stream).units();
  BytesPerSecond rate;
  for (const Place& place : places_) {
    const int copying = units.residents(place.xcd, place.cu) - units.computing(place.xcd, place.cu);
    rate +=
        std::min(library_.simple.channel_rate, library_.cu_rate / static_cast<double>(std::max(1, copying)));
  }
  FlowSpec spec;
  spec.demands = demands_;
  spec.bound = (rate / read).value;
  spec.weight =
      memory.weight(library_.channel_outstanding, static_cast<int>(places_.size()), read + bytes, spec.bound);
  spec.priority = memory.communication_class();
  return spec;
}

void CuAdder::end() {
  if (std::exchange(ended_, true)) return;
  Dispatcher& dispatcher = gpu_.dispatcher(plan_.stream);
  dispatcher.withdraw(*this);
  for (const Place& place : places_)
    dispatcher.release(*this, place.xcd, place.cu, needs_, kNoActivity);
  places_.clear();
}

}}  // namespace c3::collectives
