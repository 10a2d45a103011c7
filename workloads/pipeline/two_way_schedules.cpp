#include "workloads/pipeline/two_way_schedules.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

namespace c3 { inline namespace workloads {
namespace {

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
  std::vector<PipelineTask> take() { return std::move(tasks_); }

 private:
  static std::size_t index(int chunk) { return static_cast<std::size_t>(chunk); }
  /// Adds the chunk's next pass, if there is a micro-batch for it: a pattern of more is cut off.
  void add(PipelinePass pass, int chunk) {
    const int micro_batch = next_.at(static_cast<std::size_t>(pass)).at(index(chunk))++;
    if (micro_batch < micro_batches_)
      tasks_.push_back({.pass = pass, .micro_batch = micro_batch, .chunk = chunk});
  }

  int micro_batches_;
  std::array<std::array<int, 2>, 3> next_ = {};  ///< micro-batch, by pass and chunk
  std::vector<PipelineTask> tasks_;
};

/// Passes of one stage that has a chunk for either direction. Directions are counted from the stage's own
/// end of the pipeline: near is the one whose micro-batches start at that end.
class TwoWayTasks {
 public:
  TwoWayTasks(const PipelineShape& shape, bool is_far_half)
      : half_(shape.micro_batches / 2), near_(is_far_half ? 1 : 0) {}

  enum class Direction { near, far };

  void forward(Direction direction) { add(PipelinePass::forward, direction); }
  /// A backward pass with the gradients of weights right behind those of inputs.
  void whole_backward(Direction direction, bool with_before = false) {
    PipelineTask& made = add(PipelinePass::backward, direction);
    made.with_before = with_before;
    tasks_.push_back({.pass = PipelinePass::weights, .micro_batch = made.micro_batch, .chunk = made.chunk});
  }
  void backward(Direction direction) { waiting_.push_back(add(PipelinePass::backward, direction)); }
  /// Makes the gradients of weights of the backward pass that has waited longest.
  void weights() {
    PipelineTask task = waiting_.front();
    waiting_.pop_front();
    task.pass = PipelinePass::weights;
    tasks_.push_back(task);
  }
  std::vector<PipelineTask> take() { return std::move(tasks_); }

 private:
  PipelineTask& add(PipelinePass pass, Direction direction) {
    const int chunk = direction == Direction::near ? near_ : 1 - near_;
    const int number = next_.at(static_cast<std::size_t>(pass)).at(static_cast<std::size_t>(chunk))++;
    tasks_.push_back({.pass = pass, .micro_batch = number + chunk * half_, .chunk = chunk});
    return tasks_.back();
  }

  int half_, near_;
  std::array<std::array<int, 2>, 2> next_ = {};  ///< by pass and chunk
  std::deque<PipelineTask> waiting_;
  std::vector<PipelineTask> tasks_;
};

}  // namespace

/// arXiv 2401.10241, section 6 (ZB-V), in the phases of PyTorch's ScheduleZBVZeroBubble: a pattern of at least
/// 2 p - 1 micro-batches.
std::vector<PipelineTask> zb_v(int stage, const PipelineShape& shape) {
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

std::vector<PipelineTask> dualpipe(int stage, const PipelineShape& shape) {
  constexpr auto near = TwoWayTasks::Direction::near, far = TwoWayTasks::Direction::far;
  const int from_end = std::min(stage, shape.stages - 1 - stage);
  const int to_middle = shape.stages / 2 - 1 - from_end;
  TwoWayTasks tasks(shape, 2 * stage >= shape.stages);
  for (int i = 0; i < 2 * to_middle; ++i)
    tasks.forward(near);
  for (int i = 0; i <= from_end; ++i) {
    tasks.forward(near);
    tasks.forward(far);
  }
  for (int i = 0; i < to_middle; ++i) {
    tasks.backward(far);
    tasks.weights();
    tasks.forward(far);
  }
  const auto forward_and_backward = [&](TwoWayTasks::Direction goes, TwoWayTasks::Direction returns) {
    tasks.forward(goes);
    tasks.whole_backward(returns, /*with_before=*/true);
  };
  for (int i = 0; i < shape.micro_batches / 2 - shape.stages + from_end + 1; ++i) {
    forward_and_backward(near, far);
    forward_and_backward(far, near);
  }
  for (int i = 0; i < to_middle; ++i) {
    tasks.whole_backward(far);
    forward_and_backward(far, near);
  }
  // The second half of these 2 (from_end + 1) backward passes leave their weights for the end.
  for (int i = 0; i < 2 * (from_end + 1); ++i) {
    const auto direction = i % 2 == 0 ? far : near;
    if (i < from_end + 1)
      tasks.whole_backward(direction);
    else
      tasks.backward(direction);
  }
  for (int i = 0; i < to_middle; ++i) {
    tasks.weights();
    tasks.backward(near);
  }
  for (int i = 0; i <= from_end; ++i)
    tasks.weights();
  return tasks.take();
}

}}  // namespace c3::workloads
