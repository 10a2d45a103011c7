#include "workloads/pipeline/pipeline_play.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace c3 { inline namespace workloads {
namespace {

/// A pass of a micro-batch at a place.
struct Step {
  PipelinePass pass = PipelinePass::forward;
  int micro_batch = 0;
  ChunkPlace place;

  auto operator<=>(const Step&) const = default;
};

Step step_of(int stage, const PipelineTask& task) { return {task.pass, task.micro_batch, {stage, task.chunk}}; }

PipelineTask task_of(const Step& step) {
  return {.pass = step.pass, .micro_batch = step.micro_batch, .chunk = step.place.chunk};
}

/// What must have ended before \p step.
std::vector<Step> needs_of(const PipelineSchedule& schedule, const Step& step) {
  std::vector<Step> needs;
  const auto add = [&](PipelinePass pass, std::optional<ChunkPlace> place) {
    if (place) needs.push_back({pass, step.micro_batch, *place});
  };
  if (step.pass == PipelinePass::forward) add(PipelinePass::forward, schedule.before(step.place));
  if (step.pass == PipelinePass::backward) {
    add(PipelinePass::forward, step.place);
    add(PipelinePass::backward, schedule.after(step.place));
  }
  if (step.pass == PipelinePass::weights) add(PipelinePass::backward, step.place);
  return needs;
}

class Player {
 public:
  Player(const PipelineSchedule& schedule, const PassTimes& times)
      : schedule_(schedule), times_(times), next_(schedule.tasks.size()), kept_(schedule.tasks.size()) {
    played_.stages.resize(schedule.tasks.size());
  }

  PlayedPipeline play() {
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (int stage = 0; stage < schedule_.stages(); ++stage) {
        for (; may_go_on(stage); goes_on = true)
          go_on(stage);
      }
    }
    for (const PlayedStage& stage : played_.stages)
      played_.time = std::max(played_.time, stage.end);
    find_circle();
    return std::move(played_);
  }

 private:
  static std::size_t index(int number) { return static_cast<std::size_t>(number); }
  const std::vector<PipelineTask>& tasks(int stage) const { return schedule_.tasks[index(stage)]; }
  bool has_ended(int stage) const { return next_[index(stage)] == tasks(stage).size(); }
  Step next(int stage) const { return step_of(stage, tasks(stage)[next_[index(stage)]]); }

  /// The first of what \p step needs that has not run.
  std::optional<Step> missing(const Step& step) const {
    const std::vector<Step> needs = needs_of(schedule_, step);
    const auto found = std::ranges::find_if(needs, [&](const Step& need) { return !ended_.contains(need); });
    return found == needs.end() ? std::nullopt : std::optional(*found);
  }
  bool may_go_on(int stage) const { return !has_ended(stage) && !missing(next(stage)); }

  Seconds time_of(PipelinePass pass) const {
    const std::array<Seconds, 3> times = {times_.forward, times_.backward, times_.weights};
    const bool is_whole = pass == PipelinePass::backward && !schedule_.splits_backward;
    return times.at(static_cast<std::size_t>(pass)) + (is_whole ? times_.weights : Seconds{});
  }

  void go_on(int stage) {
    const Step step = next(stage);
    PlayedStage& played = played_.stages[index(stage)];
    Seconds begin = played.end;
    for (const Step& need : needs_of(schedule_, step))
      begin = std::max(begin, ended_.at(need) + (need.place.stage == stage ? Seconds{} : times_.message));
    if (next_[index(stage)] == 0) played.begin = begin;
    played.end = begin + time_of(step.pass);
    played.busy += time_of(step.pass);
    ended_.emplace(step, played.end);
    count_kept(stage, step.pass);
    ++next_[index(stage)];
  }

  void count_kept(int stage, PipelinePass pass) {
    int& kept = kept_[index(stage)];
    if (pass == PipelinePass::forward) ++kept;
    if (pass == (schedule_.splits_backward ? PipelinePass::weights : PipelinePass::backward)) --kept;
    played_.stages[index(stage)].most_kept = std::max(played_.stages[index(stage)].most_kept, kept);
  }

  void find_circle() {
    int stage = 0;
    while (stage < schedule_.stages() && has_ended(stage))
      ++stage;
    if (stage == schedule_.stages()) return;
    std::vector<StuckStage> path;
    while (std::ranges::find(path, stage, &StuckStage::stage) == path.end()) {
      const Step step = next(stage);
      const Step need = missing(step).value();
      path.push_back({stage, task_of(step), need.place, task_of(need)});
      stage = need.place.stage;
    }
    played_.circle.assign(std::ranges::find(path, stage, &StuckStage::stage), path.end());
  }

  const PipelineSchedule& schedule_;
  const PassTimes& times_;
  std::vector<std::size_t> next_;  ///< by stage: its next task
  std::vector<int> kept_;          ///< by stage
  std::map<Step, Seconds> ended_;
  PlayedPipeline played_;
};

/// "stage 1", or as the caller calls it.
class FlawSearch {
 public:
  FlawSearch(const PipelineSchedule& schedule, int micro_batches, const std::vector<std::string>& names)
      : schedule_(schedule), micro_batches_(micro_batches), names_(names) {}

  std::optional<std::string> find() const {
    for (int stage = 0; stage < schedule_.stages(); ++stage) {
      if (auto flaw = of_passes(stage)) return flaw;
    }
    for (int stage = 0; stage < schedule_.stages(); ++stage) {
      for (const PipelinePass pass : {PipelinePass::forward, PipelinePass::backward})
        if (auto flaw = of_messages(stage, pass)) return flaw;
    }
    return of_order();
  }

 private:
  const std::string& name(int stage) const { return names_[static_cast<std::size_t>(stage)]; }
  const std::vector<PipelineTask>& tasks(int stage) const {
    return schedule_.tasks[static_cast<std::size_t>(stage)];
  }
  std::string text(const PipelineTask& task) const { return text_of(task, schedule_.chunks); }

  /// Each once, and no others.
  std::optional<std::string> of_passes(int stage) const {
    std::set<Step> seen;
    for (const PipelineTask& task : tasks(stage)) {
      if (task.micro_batch >= micro_batches_ || task.chunk >= schedule_.chunks)
        return fmt::format("{} has {}, and there are {} micro-batches and {} chunks a stage", name(stage),
                           text(task), micro_batches_, schedule_.chunks);
      if (!seen.insert(step_of(stage, task)).second)
        return fmt::format("{} has {} twice", name(stage), text(task));
    }
    for (int chunk = 0; chunk < schedule_.chunks; ++chunk) {
      for (int i = 0; i < micro_batches_; ++i) {
        for (const PipelinePass pass : {PipelinePass::forward, PipelinePass::backward, PipelinePass::weights}) {
          const PipelineTask task{.pass = pass, .micro_batch = i, .chunk = chunk};
          const bool is_wanted = (pass != PipelinePass::weights || schedule_.splits_backward) &&
                                 schedule_.goes_through(i, micro_batches_, chunk);
          if (is_wanted && !seen.contains(step_of(stage, task)))
            return fmt::format("{} lacks {}", name(stage), text(task));
        }
      }
    }
    return std::nullopt;
  }

  /// What \p stage sends to others after its passes of one kind is received in the same order.
  std::optional<std::string> of_messages(int stage, PipelinePass pass) const {
    std::map<int, std::vector<Step>> sent, received;  // by the other stage: what its receiver does with it
    const auto target = [&](ChunkPlace from) {
      return pass == PipelinePass::forward ? schedule_.after(from) : schedule_.before(from);
    };
    for (const PipelineTask& task : tasks(stage)) {
      const auto to = target({stage, task.chunk});
      if (task.pass == pass && to && to->stage != stage)
        sent[to->stage].push_back({pass, task.micro_batch, *to});
    }
    for (const auto& [other, messages] : sent) {
      std::size_t next = 0;
      for (const PipelineTask& task : tasks(other)) {
        const Step step = step_of(other, task);
        if (task.pass != pass || std::ranges::find(messages, step) == messages.end()) continue;
        const Step& expected = messages[next++];
        if (expected != step)
          return fmt::format("{} takes {} from {} before {}, which is sent first", name(other), text(task),
                             name(stage), text(task_of(expected)));
      }
    }
    return std::nullopt;
  }

  std::optional<std::string> of_order() const {
    constexpr Seconds kSecond{1.0};
    const PlayedPipeline played = play(schedule_, {kSecond, kSecond, kSecond, {}});
    if (played.circle.empty()) return std::nullopt;
    std::string text = "deadlock: ";
    for (std::size_t i = 0; i < played.circle.size(); ++i) {
      const StuckStage& stuck = played.circle[i];
      text +=
          fmt::format("{}{} waits at {} for {} of {}", i == 0 ? "" : ", which cannot run: ", name(stuck.stage),
                      this->text(stuck.task), this->text(stuck.needs), name(stuck.needs_from.stage));
    }
    return text;
  }

  const PipelineSchedule& schedule_;
  int micro_batches_;
  const std::vector<std::string>& names_;
};

}  // namespace

Seconds PlayedPipeline::bubble() const {
  Seconds longest;
  for (const PlayedStage& stage : stages)
    longest = std::max(longest, stage.idle());
  return longest;
}

double PlayedPipeline::bubble_share() const {
  Seconds busy;
  for (const PlayedStage& stage : stages)
    busy += stage.busy;
  return 1.0 - busy / (time * static_cast<double>(stages.size()));
}

PlayedPipeline play(const PipelineSchedule& schedule, const PassTimes& times) {
  return Player(schedule, times).play();
}

std::optional<std::string> flaw_of(const PipelineSchedule& schedule, int micro_batches,
                                   const std::vector<std::string>& stage_names) {
  return FlawSearch(schedule, micro_batches, stage_names).find();
}

}}  // namespace c3::workloads
