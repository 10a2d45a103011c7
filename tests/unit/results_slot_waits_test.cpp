#include <doctest/doctest.h>

#include "results/slot_waits.hpp"

namespace c3 {
namespace {

using Notes = std::vector<std::string>;

/// A collective on \p stream of \p gpu that comes at \p begin, whose channel starts at \p moves and both end at
/// \p end.
void collective(SlotWaits& waits, ActivityId id, int gpu, int stream, Seconds begin, Seconds moves,
                Seconds end) {
  waits.activity_started(id, {.name = "sum", .kind = ActivityKind::collective, .gpu = gpu, .stream = stream},
                         begin);
  const ActivityInfo channel{
      .name = "sum", .kind = ActivityKind::channel, .gpu = gpu, .stream = stream, .parent = id};
  waits.activity_started(id + 1, channel, moves);
  waits.activity_started(id + 2, channel, end);  // another group of channels comes later: data move by then
  for (const ActivityId done : {id + 2, id + 1, id})
    waits.activity_finished(done, end);
}

TEST_CASE("channels that wait behind kernels are said to wait for slots, with their share of the run") {
  SlotWaits waits;
  collective(waits, 1, 0, 1, 0.0_ms, 6.0_ms, 8.0_ms);
  collective(waits, 4, 0, 1, 8.0_ms, 8.0_ms, 10.0_ms);
  CHECK(waits.notes({"compute", "fsdp"}) ==
        Notes{"channels of stream 'fsdp' wait for slots that kernels hold, 60.0% of the time"});
}

TEST_CASE("what a rank waits for members that come late is no wait for slots") {
  // Rank 0 waits 6 ms, of which 5 for rank 1, which has come by then and waits 1 ms for its slots.
  SlotWaits waits;
  collective(waits, 1, 0, 0, 0.0_ms, 6.0_ms, 10.0_ms);
  collective(waits, 4, 1, 0, 5.0_ms, 6.0_ms, 10.0_ms);
  CHECK(waits.notes({"fsdp"}) ==
        Notes{"channels of stream 'fsdp' wait for slots that kernels hold, 10.0% of the time"});
}

TEST_CASE("collectives whose channels start at once, or that have none, wait for no slots") {
  SlotWaits waits;
  collective(waits, 1, 0, 0, 1.0_ms, 1.0_ms, 10.0_ms);
  waits.activity_started(9, {.name = "copies", .kind = ActivityKind::collective, .gpu = 0, .stream = 0},
                         1.0_ms);
  waits.activity_finished(9, 20.0_ms);
  CHECK(waits.notes({"fsdp"}).empty());
}

}  // namespace
}  // namespace c3
