#include "workloads/pipeline/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "workloads/pipeline/two_way_schedules.hpp"

namespace c3 { inline namespace workloads {
namespace {

using Tasks = std::vector<PipelineTask>;

PipelineTask task(PipelinePass pass, int micro_batch, int chunk = 0) {
  return {.pass = pass, .micro_batch = micro_batch, .chunk = chunk};
}
PipelineTask forward(int micro_batch) { return task(PipelinePass::forward, micro_batch); }
PipelineTask backward(int micro_batch) { return task(PipelinePass::backward, micro_batch); }
PipelineTask weights(int micro_batch) { return task(PipelinePass::weights, micro_batch); }

/// arXiv 2104.04473, 2.2.1.
Tasks gpipe(int /*stage*/, const PipelineShape& shape) {
  Tasks tasks;
  for (int i = 0; i < shape.micro_batches; ++i)
    tasks.push_back(forward(i));
  for (int i = 0; i < shape.micro_batches; ++i)
    tasks.push_back(backward(i));
  return tasks;
}

/// arXiv 2104.04473, 2.2.1; Megatron-Core, get_pp_rank_microbatches.
Tasks one_f_one_b(int stage, const PipelineShape& shape) {
  const int warm_up = std::min(shape.micro_batches, shape.stages - stage - 1 + shape.ahead);
  Tasks tasks;
  for (int i = 0; i < warm_up; ++i)
    tasks.push_back(forward(i));
  for (int i = warm_up; i < shape.micro_batches; ++i) {
    tasks.push_back(forward(i));
    tasks.push_back(backward(i - warm_up));
    tasks.back().with_before = shape.stages == 1 && warm_up > 0;
  }
  for (int i = shape.micro_batches - warm_up; i < shape.micro_batches; ++i)
    tasks.push_back(backward(i));
  return tasks;
}

/// Megatron-Core, get_schedule_table: for each group of micro-batches each chunk, for each chunk the group. The
/// messages of a forward and a backward pass that follow each other go together.
Tasks interleaved(int stage, const PipelineShape& shape) {
  Tasks order;  // of forward passes; backward passes go through chunks in reverse
  for (int first = 0; first < shape.micro_batches; first += shape.group) {
    const int end = std::min(first + shape.group, shape.micro_batches);
    for (int chunk = 0; chunk < shape.chunks; ++chunk)
      for (int i = first; i < end; ++i)
        order.push_back(task(PipelinePass::forward, i, chunk));
  }
  const auto all = order.size();
  const int fewest = 2 * (shape.stages - stage - 1) + (shape.chunks - 1) * shape.group;
  const auto warm_up = std::min(all, static_cast<std::size_t>(fewest + shape.ahead));
  const auto backward_of = [&](std::size_t number, bool with_before) {
    const PipelineTask& forward = order[number];
    return PipelineTask{PipelinePass::backward, forward.micro_batch, shape.chunks - 1 - forward.chunk,
                        with_before};
  };
  Tasks tasks(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(warm_up));
  for (std::size_t i = warm_up; i < all; ++i) {
    tasks.push_back(order[i]);
    tasks.push_back(backward_of(i - warm_up, true));
  }
  for (std::size_t i = all - warm_up; i < all; ++i)
    tasks.push_back(backward_of(i, false));
  return tasks;
}

/// arXiv 2401.10241, figure 2: stage s puts off gradients of weights of s micro-batches, so that no stage keeps
/// more than the first one does, and fills with them the time in which 1F1B waits at its end.
Tasks zb_h1(int stage, const PipelineShape& shape) {
  Tasks tasks;
  int backwards = 0, made = 0;
  for (const PipelineTask& task : one_f_one_b(stage, shape)) {
    tasks.push_back(task);
    if (task.pass != PipelinePass::backward) continue;
    if (++backwards > stage) tasks.push_back(weights(made++));
  }
  while (made < shape.micro_batches)
    tasks.push_back(weights(made++));
  return tasks;
}

std::optional<std::string> rule_of_chunks(ScheduleKind kind, const PipelineShape& shape) {
  if (kind == ScheduleKind::zb_v && shape.chunks != 2)
    return fmt::format("zb-v requires virtual_stages = 2 (it is {})", shape.chunks);
  if (kind == ScheduleKind::interleaved && shape.chunks < 2)
    return fmt::format("interleaved requires virtual_stages > 1 (it is {})", shape.chunks);
  const bool has_more =
      kind == ScheduleKind::zb_v || kind == ScheduleKind::interleaved || kind == ScheduleKind::table;
  if (!has_more && shape.chunks > 1)
    return fmt::format("{} requires virtual_stages = 1 (it is {}); interleaved and zb-v have more",
                       name_of(kind), shape.chunks);
  return std::nullopt;
}

/// DualPipe's phases (deepseek-ai/DualPipe, dualpipe.py) are of pairs of stages and of micro-batches.
std::optional<std::string> rule_of_dualpipe(const PipelineShape& shape) {
  if (shape.stages % 2 != 0)
    return fmt::format("dualpipe requires an even number of stages (it is {})", shape.stages);
  if (shape.micro_batches % 2 != 0 || shape.micro_batches < 2 * shape.stages)
    return fmt::format(
        "dualpipe requires an even number of micro-batches, twice as many as there are stages or more (it is "
        "{}, and there are {} stages)",
        shape.micro_batches, shape.stages);
  return std::nullopt;
}

}  // namespace

std::string text_of(const PipelineTask& task, int chunks) {
  constexpr std::array kLetters = {'F', 'B', 'W'};
  const std::string of_chunk = chunks > 1 ? fmt::format(".{}", task.chunk) : std::string();
  return fmt::format("{}{}{}", kLetters.at(static_cast<std::size_t>(task.pass)), task.micro_batch, of_chunk);
}

std::optional<ChunkPlace> PipelineSchedule::after(ChunkPlace place) const {
  const auto [stage, chunk] = place;
  if (path != ChunkPath::loop && chunk == 1)
    return stage > 0 ? std::optional(ChunkPlace{stage - 1, chunk}) : std::nullopt;
  if (stage + 1 < stages()) return ChunkPlace{stage + 1, chunk};
  if (chunk + 1 == chunks || path == ChunkPath::both) return std::nullopt;
  return ChunkPlace{path == ChunkPath::vee ? stage : 0, chunk + 1};
}

std::optional<ChunkPlace> PipelineSchedule::before(ChunkPlace place) const {
  const auto [stage, chunk] = place;
  if (path != ChunkPath::loop && chunk == 1) {
    if (stage + 1 < stages()) return ChunkPlace{stage + 1, chunk};
    return path == ChunkPath::vee ? std::optional(ChunkPlace{stage, 0}) : std::nullopt;
  }
  if (stage > 0) return ChunkPlace{stage - 1, chunk};
  if (chunk == 0) return std::nullopt;
  return ChunkPlace{stages() - 1, chunk - 1};
}

std::optional<std::string> broken_rule(ScheduleKind kind, const PipelineShape& shape) {
  if (auto rule = rule_of_chunks(kind, shape)) return rule;
  if (kind == ScheduleKind::dualpipe) return rule_of_dualpipe(shape);
  if (kind != ScheduleKind::interleaved) return std::nullopt;
  if (shape.group < shape.stages)
    return fmt::format(
        "a group of interleaved micro-batches must have at least as many as there are stages, {} "
        "(it has {})",
        shape.stages, shape.group);
  const int rest = shape.micro_batches % shape.group;
  if (rest != 0 && rest < shape.stages)
    return fmt::format("{} micro-batches in groups of {} leave {} for the last group, fewer than the {} stages",
                       shape.micro_batches, shape.group, rest, shape.stages);
  return std::nullopt;
}

PipelineSchedule make_schedule(ScheduleKind kind, const PipelineShape& shape) {
  using Generator = Tasks (*)(int stage, const PipelineShape&);
  constexpr std::array<Generator, 6> kGenerators = {gpipe, one_f_one_b, interleaved, zb_h1, zb_v, dualpipe};
  const auto number = static_cast<std::size_t>(kind);
  if (number >= kGenerators.size()) throw std::logic_error("make_schedule: the user has written this schedule");
  const ChunkPath path = kind == ScheduleKind::zb_v       ? ChunkPath::vee
                         : kind == ScheduleKind::dualpipe ? ChunkPath::both
                                                          : ChunkPath::loop;
  PipelineSchedule schedule{.chunks = path == ChunkPath::both ? 2 : shape.chunks,
                            .path = path,
                            .splits_backward = splits_backward(kind),
                            .tasks = {}};
  for (int stage = 0; stage < shape.stages; ++stage)
    schedule.tasks.push_back(kGenerators.at(number)(stage, shape));
  return schedule;
}

}}  // namespace c3::workloads
