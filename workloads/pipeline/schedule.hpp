#pragma once
/// The order in which the stages of a pipeline run passes of micro-batches.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "workloads/pipeline/pipeline_task.hpp"

namespace c3 { inline namespace workloads {

/// "F3", of several chunks "F3.1".
std::string text_of(const PipelineTask& task, int chunks);

/// How micro-batches go through the chunks of all stages.
enum class ChunkPath : std::uint8_t {
  loop,  ///< chunk 0 of every stage in turn, then chunk 1 of every stage, ..
  vee,   ///< chunk 0 of every stage in turn, then chunk 1 from the last stage back to the first
  both,  ///< the first half of the micro-batches chunk 0 of every stage in turn, the others chunk 1 from the
         ///< last stage back to the first: each chunk 1 has the weights of the chunk 0 of the stage opposite
};

/// A chunk of layers of one stage.
struct ChunkPlace {
  int stage = 0;
  int chunk = 0;

  auto operator<=>(const ChunkPlace&) const = default;
};

struct PipelineSchedule {
  int chunks = 1;  ///< of each stage
  ChunkPath path = ChunkPath::loop;
  bool splits_backward = false;                  ///< gradients of weights are passes of their own
  std::vector<std::vector<PipelineTask>> tasks;  ///< by stage, in their order

  int stages() const { return static_cast<int>(tasks.size()); }
  /// The place to which a micro-batch goes from \p place; nullopt: it has been everywhere.
  std::optional<ChunkPlace> after(ChunkPlace place) const;
  std::optional<ChunkPlace> before(ChunkPlace place) const;
  /// Whether micro-batch \p number of \p all goes through chunks with number \p chunk.
  bool goes_through(int number, int all, int chunk) const {
    return path != ChunkPath::both || (number < all / 2) == (chunk == 0);
  }
  /// How many of \p all micro-batches go through one chunk.
  std::int64_t through_a_chunk(std::int64_t all) const { return path == ChunkPath::both ? all / 2 : all; }

  bool operator==(const PipelineSchedule&) const = default;
};

/// Schedules that a name is enough for.
enum class ScheduleKind : std::uint8_t {
  gpipe,        ///< all forward passes, then all backward passes
  one_f_one_b,  ///< one forward, one backward pass, as soon as there is a backward pass to do
  interleaved,  ///< the same of several chunks a stage
  zb_h1,        ///< 1F1B whose gradients of weights fill its last bubble
  zb_v,         ///< two chunks a stage in a V; no bubble where all three passes take equally long
  dualpipe,     ///< from both ends at once, every stage with the layers of two
  table,        ///< written out by the user
};
constexpr auto enum_names(ScheduleKind) {
  return std::to_array<EnumName<ScheduleKind>>({{"gpipe", ScheduleKind::gpipe},
                                                {"1f1b", ScheduleKind::one_f_one_b},
                                                {"interleaved", ScheduleKind::interleaved},
                                                {"zb-h1", ScheduleKind::zb_h1},
                                                {"zb-v", ScheduleKind::zb_v},
                                                {"dualpipe", ScheduleKind::dualpipe},
                                                {"table", ScheduleKind::table}});
}

/// The rule that \p shape breaks for a schedule of \p kind; nullopt: none.
std::optional<std::string> broken_rule(ScheduleKind kind, const PipelineShape& shape);

/// \pre broken_rule is nullopt, and \p kind is not the user's table.
PipelineSchedule make_schedule(ScheduleKind kind, const PipelineShape& shape);

/// Whether gradients of weights are passes of their own in schedules of \p kind.
constexpr bool splits_backward(ScheduleKind kind) {
  return kind == ScheduleKind::zb_h1 || kind == ScheduleKind::zb_v || kind == ScheduleKind::dualpipe;
}

}}  // namespace c3::workloads
