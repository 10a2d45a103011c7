#pragma once
/// \file
/// How long after its causes GPU work starts.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/traces/picoseconds.hpp"

namespace c3 { inline namespace traces {

enum class StartCause : std::uint8_t {
  launch,  ///< the call that launched it began
  stream,  ///< the previous work on its queue ended
  cross    ///< work on another stream that it waits for ended
};
constexpr std::size_t kStartCauses = 3;

struct CauseSlack {
  StartCause cause = StartCause::launch;
  Picoseconds slack;  ///< recorded start - recorded date of the cause
};

struct StartLags {
  std::vector<Picoseconds> lags;  ///< as the causes
  Picoseconds unexplained;        ///< of the recorded start; 0 if a cause is near
};

/// What each kind of cause takes when it alone decides.
using TypicalLags = std::array<Picoseconds, kStartCauses>;

/// Lags in public traces of server hosts, 2022 to 2025.
inline constexpr TypicalLags kUsualLags{Picoseconds{10'000'000}, Picoseconds{2'000'000},
                                        Picoseconds{4'000'000}};

/// Medians over work that one kind of cause decided: launched on an idle queue; launched long before its
/// predecessor's end; or long before its source's end. Where a trace has none, kUsualLags. \param causes of
/// each GPU activity
TypicalLags typical_lags(const std::vector<std::vector<CauseSlack>>& causes);

/// The cause that is the nearest, after subtraction of its typical lag, decided: its lag is as recorded. The
/// others get their typical lag, or their slack if that is smaller. If even the nearest is more than 30 us
/// (launch) or 25 us (end of other work) away, all get typical lags, and the rest is unexplained: it is a
/// missing cause or a lack of free SMs, and is not kept as if it were a latency.
StartLags start_lags(std::span<const CauseSlack> causes, const TypicalLags& typical);

}}  // namespace c3::traces
