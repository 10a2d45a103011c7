#pragma once
/// Dates at which kernels that are one flow may give slots back.

#include <vector>

#include "engine/simulation.hpp"

namespace c3 { inline namespace gpu {

/// A kernel some of whose work groups wait, and whose waves end at dates that it knows.
class WaveClient {
 public:
  /// The date that it asked for has come.
  virtual void on_wave_end() = 0;

 protected:
  ~WaveClient() = default;
};

/// The dates that the kernels of one GPU have asked for: one each, which may be moved and withdrawn.
class WaveEnds final : private Completion {
 public:
  explicit WaveEnds(Simulation& simulation);

  /// Calls \p client at \p date, in place of the date that it asked for before.
  void call_at(WaveClient& client, Seconds date);
  /// \p client is not called any more.
  void withdraw(const WaveClient& client);

 private:
  struct Call {
    WaveClient* client = nullptr;
    Seconds date;
  };

  void on_complete(std::uint64_t) override;
  void set_alarm();

  Simulation& simulation_;
  AlarmId alarm_;
  std::vector<Call> calls_;
};

}}  // namespace c3::gpu
