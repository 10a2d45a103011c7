#include "workloads/pipeline/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace c3::inline workloads {
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
  const int warm_up = std::min(shape.micro_batches, shape.stages - stage - 1);
  Tasks tasks;
  for (int i = 0; i < warm_up; ++i)
    tasks.push_back(forward(i));
  for (int i = warm_up; i < shape.micro_batches; ++i) {
    tasks.push_back(forward(i));
    tasks.push_back(backward(i - warm_up));
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
  const auto warm_up = std::min(
      all, static_cast<std::size_t>(2 * (shape.stages - stage - 1) + (shape.chunks - 1) * shape.group));
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
  for (const PipelineTask& its : one_f_one_b(stage, shape)) {
    tasks.push_back(its);
    if (its.pass != PipelinePass::backward) continue;
    if (++backwards > stage) tasks.push_back(weights(made++));
  }
  while (made < shape.micro_batches)
    tasks.push_back(weights(made++));
  return tasks;
}

/// Passes of one stage of a V, in the order in which they are asked for.
class VeeTasks {
 public:
  explicit VeeTasks(int micro_batches) : micro_batches_(micro_batches) {}

  void forward(int chunk) { add(PipelinePass::forward, chunk); }
  void backward(int chunk) { add(PipelinePass::backward, chunk); }
  void weights(int chunk) { add(PipelinePass::weights, chunk); }
  void whole_backward(int chunk) {
    backward(chunk);
    weights(chunk);
  }
  int count(PipelinePass pass, int chunk) const {
    return next_.at(static_cast<std::size_t>(pass)).at(index(chunk));
  }
  Tasks take() { return std::move(tasks_); }

 private:
  static std::size_t index(int chunk) { return static_cast<std::size_t>(chunk); }
  /// Of micro-batches that there are: a pattern of more is cut off.
  void add(PipelinePass pass, int chunk) {
    const int micro_batch = next_.at(static_cast<std::size_t>(pass)).at(index(chunk))++;
    if (micro_batch < micro_batches_) tasks_.push_back(task(pass, micro_batch, chunk));
  }

  int micro_batches_;
  std::array<std::array<int, 2>, 3> next_ = {};  ///< micro-batch, by pass and chunk
  Tasks tasks_;
};

/// arXiv 2401.10241, section 6 (ZB-V), in the phases of PyTorch's ScheduleZBVZeroBubble: a pattern of at least
/// 2 p - 1 micro-batches.
Tasks zb_v(int stage, const PipelineShape& shape) {
  const int rest = shape.stages - stage;
  const int all = std::max(2 * shape.stages - 1, shape.micro_batches);
  VeeTasks vee(shape.micro_batches);
  for (int i = 0; i < 2 * rest - 1; ++i)
    vee.forward(0);
  for (int i = 0; i < stage; ++i) {
    vee.forward(1);
    vee.forward(0);
  }
  for (int i = 0; i < rest; ++i) {
    vee.forward(1);
    vee.whole_backward(1);
  }
  const auto forwards = [&](int chunk) { return vee.count(PipelinePass::forward, chunk); };
  while (forwards(1) < forwards(0) || forwards(0) < all) {
    if (forwards(0) < all) vee.forward(0);
    vee.whole_backward(0);
    vee.forward(1);
    vee.whole_backward(1);
  }
  for (int i = 0; i < stage; ++i) {
    vee.backward(0);
    vee.backward(1);
  }
  for (int i = 0; i < rest; ++i)
    vee.whole_backward(0);
  for (const int chunk : {1, 0}) {
    while (vee.count(PipelinePass::weights, chunk) < all)
      vee.weights(chunk);
  }
  return vee.take();
}

std::optional<std::string> rule_of_chunks(ScheduleKind kind, const PipelineShape& shape) {
  if (kind == ScheduleKind::zb_v && shape.chunks != 2)
    return fmt::format("zb-v requires virtual_stages = 2 (it is {})", shape.chunks);
  if (kind == ScheduleKind::interleaved && shape.chunks < 2)
    return fmt::format("interleaved requires virtual_stages > 1 (it is {})", shape.chunks);
  const bool is_single =
      kind == ScheduleKind::gpipe || kind == ScheduleKind::one_f_one_b || kind == ScheduleKind::zb_h1;
  if (is_single && shape.chunks > 1)
    return fmt::format("{} requires virtual_stages = 1 (it is {}); interleaved and zb-v have more",
                       name_of(kind), shape.chunks);
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
  if (path == ChunkPath::vee && chunk == 1)
    return stage > 0 ? std::optional(ChunkPlace{stage - 1, chunk}) : std::nullopt;
  if (stage + 1 < stages()) return ChunkPlace{stage + 1, chunk};
  if (chunk + 1 == chunks) return std::nullopt;
  return ChunkPlace{path == ChunkPath::vee ? stage : 0, chunk + 1};
}

std::optional<ChunkPlace> PipelineSchedule::before(ChunkPlace place) const {
  const auto [stage, chunk] = place;
  if (path == ChunkPath::vee && chunk == 1)
    return stage + 1 < stages() ? ChunkPlace{stage + 1, chunk} : ChunkPlace{stage, 0};
  if (stage > 0) return ChunkPlace{stage - 1, chunk};
  if (chunk == 0) return std::nullopt;
  return ChunkPlace{stages() - 1, chunk - 1};
}

std::optional<std::string> broken_rule(ScheduleKind kind, const PipelineShape& shape) {
  if (auto rule = rule_of_chunks(kind, shape)) return rule;
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
  constexpr std::array<Generator, 5> kGenerators = {gpipe, one_f_one_b, interleaved, zb_h1, zb_v};
  const auto number = static_cast<std::size_t>(kind);
  if (number >= kGenerators.size()) throw std::logic_error("make_schedule: the user has written this schedule");
  PipelineSchedule schedule{.chunks = shape.chunks,
                            .path = kind == ScheduleKind::zb_v ? ChunkPath::vee : ChunkPath::loop,
                            .splits_backward = splits_backward(kind),
                            .tasks = {}};
  for (int stage = 0; stage < shape.stages; ++stage)
    schedule.tasks.push_back(kGenerators.at(number)(stage, shape));
  return schedule;
}

}  // namespace c3::workloads
