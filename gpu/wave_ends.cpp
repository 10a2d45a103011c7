#include "gpu/wave_ends.hpp"

#include <algorithm>

namespace c3 { inline namespace gpu {

WaveEnds::WaveEnds(Simulation& simulation)
    : simulation_(simulation), alarm_(simulation.fluid().add_alarm(*this)) {}

void WaveEnds::call_at(WaveClient& client, Seconds date) {
  withdraw(client);
  calls_.push_back({&client, date});
  set_alarm();
}

void WaveEnds::withdraw(const WaveClient& client) {
  std::erase_if(calls_, [&](const Call& call) { return call.client == &client; });
}

void WaveEnds::on_complete(std::uint64_t) {
  std::vector<WaveClient*> due;
  for (const Call& call : calls_) {
    if (simulation_.fluid().has_come(call.date)) due.push_back(call.client);
  }
  for (WaveClient* const client : due) {
    withdraw(*client);
    client->on_wave_end();
  }
  set_alarm();
}

void WaveEnds::set_alarm() {
  if (calls_.empty()) return simulation_.fluid().withdraw_alarm(alarm_);
  const Call& first = *std::ranges::min_element(calls_, {}, &Call::date);
  simulation_.fluid().set_alarm(alarm_, first.date);
}

}}  // namespace c3::gpu
