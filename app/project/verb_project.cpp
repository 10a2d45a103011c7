/// c3sim project: a training step operator by operator, from one that was profiled.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/command/exit_code.hpp"
#include "app/command/verb.hpp"
#include "app/notes.hpp"
#include "base/json.hpp"
#include "base/options.hpp"
#include "base/usage_error.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "engine/interrupt.hpp"
#include "results/schema.hpp"
#include "results/text_table.hpp"
#include "workloads/analysis/projection.hpp"
#include "workloads/analysis/steady_state.hpp"

namespace c3 { inline namespace app {
namespace {

struct ProjectRequest {
  std::string file, baseline;
  std::vector<std::string> sets, baseline_sets;
  bool check = false;
  bool json = false;
  bool quiet = false;
};

/// Operators of one group, in the order of first launch.
struct ProjectedGroup {
  std::string name;
  std::size_t count = 0;
  Seconds time;
};

std::vector<ProjectedGroup> groups_of(const ProjectedStep& step) {
  std::vector<ProjectedGroup> groups;
  for (const TimedOperatorOfStep& timed_operator : step.operators) {
    auto found = std::ranges::find(groups, timed_operator.what.group, &ProjectedGroup::name);
    if (found == groups.end())
      found = groups.insert(groups.end(), {.name = timed_operator.what.group, .time = {}});
    ++found->count;
    found->time += timed_operator.time;
  }
  return groups;
}

/// What a projection is compared with.
struct ProjectionCheck {
  Seconds alone;      ///< operators timed on the step itself, in the same schedule
  Seconds simulated;  ///< the whole step
  std::size_t timed = 0;

  double error(Seconds projected) const { return projected / simulated - 1.0; }
  /// What a simulation adds to operators alone.
  double interference() const { return simulated / alone - 1.0; }
};

ProjectionCheck check(const Experiment& step) {
  const ProjectedStep own = alone(step);
  return {.alone = own.schedule.time,
          .simulated = run_step(step, step.strategies.front(), {}).time,
          .timed = own.profiled};
}

std::string milliseconds(Seconds time) { return fmt::format("{:.3f}", time.value * 1e3); }

std::string text_of(const ProjectRequest& request, const Experiment& step, const ProjectedStep& projected,
                    const Baseline& baseline, const std::optional<ProjectionCheck>& checked) {
  std::string text = fmt::format(
      "{} on {}, projected from {}: {} operators of the step from {} that were profiled\n\n", step.name,
      title_of(step.cluster), request.baseline, projected.operators.size(), baseline.profiled());
  TextTable groups({"class of operators", "count", "time"});
  for (const ProjectedGroup& group : groups_of(projected))
    groups.add({group.name, std::to_string(group.count), milliseconds(group.time)});
  text += groups.text() + "\n";
  const StepBreakdown& times = projected.schedule.times;
  TextTable table({"step", "time", "kernels", "comm.", "exposed", "share"});
  table.add({"projected", milliseconds(projected.schedule.time), milliseconds(times.kernels),
             milliseconds(times.communication), milliseconds(times.exposed),
             fmt::format("{:.1f}%", 100.0 * (times.exposed / projected.schedule.time))});
  text += table.text() +
          "times in ms of one GPU; exposed: a collective is in flight and no kernel runs; share: of the "
          "step\n";
  if (!checked) return text;
  TextTable against({"against", "time", "difference"});
  against.add({"operators alone", milliseconds(checked->alone),
               fmt::format("{:+.1f}%", 100.0 * (projected.schedule.time / checked->alone - 1.0))});
  against.add({"simulated", milliseconds(checked->simulated),
               fmt::format("{:+.1f}%", 100.0 * checked->error(projected.schedule.time))});
  return text + "\n" + against.text() +
         fmt::format(
             "difference of the projection; interference, hosts and gaps between kernels add {:+.1f}% to "
             "operators alone\n",
             100.0 * checked->interference());
}

std::string json_of(const ProjectRequest& request, const Experiment& step, const ProjectedStep& projected,
                    const Baseline& baseline, const std::optional<ProjectionCheck>& checked) {
  const auto us = [](Seconds time) { return time.value * 1e6; };
  const StepBreakdown& times = projected.schedule.times;
  Json groups = Json::array();
  for (const ProjectedGroup& group : groups_of(projected))
    groups.push_back(Json{{"class", group.name}, {"count", group.count}, {"time_us", us(group.time)}});
  Json document{{"schema_version", kJsonSchemaVersion}, {"experiment", step.name},
                {"baseline", request.baseline},         {"operators", projected.operators.size()},
                {"profiled", baseline.profiled()},      {"time_us", us(projected.schedule.time)},
                {"kernels_us", us(times.kernels)},      {"communication_us", us(times.communication)},
                {"exposed_us", us(times.exposed)},      {"classes", groups}};
  if (checked)
    document["check"] = {{"alone_us", us(checked->alone)},
                         {"simulated_us", us(checked->simulated)},
                         {"error", checked->error(projected.schedule.time)},
                         {"interference", checked->interference()},
                         {"timed", checked->timed}};
  return document.dump(2) + "\n";
}

int project(const ProjectRequest& request) {
  install_interrupt_handler();
  const ExperimentFile file = ExperimentFile::load(request.file, request.sets);
  const ExperimentFile from = ExperimentFile::load(request.baseline, request.baseline_sets);
  if (!request.quiet) print_notes(file.notes());
  const Experiment step = file.make(std::nullopt);
  try {
    const Baseline baseline(from.make(std::nullopt));
    const ProjectedStep projected = baseline.project(step);
    const auto checked = request.check ? std::optional(check(step)) : std::nullopt;
    const auto print = request.json ? json_of : text_of;
    fmt::print("{}", print(request, step, projected, baseline, checked));
  } catch (const std::invalid_argument& error) {
    throw UsageError(
        fmt::format("{}: cannot be projected from {}: {}", request.file, request.baseline, error.what()));
  }
  return kExitOk;
}

}  // namespace

void add_project_verb(Command& app, VerbAction& action) {
  const auto request = std::make_shared<ProjectRequest>();
  Command& verb = app.add_command("project", "Project a step operator by operator from one that was profiled");
  verb.add_option("FILE", request->file, "Experiment whose step is projected").required();
  verb.add_option("--from", request->baseline, "Experiment that is profiled, operator by operator")
      .required()
      .type_name("FILE");
  verb.add_option("--set", request->sets, "Override a key of FILE, as c3sim run does").type_name("KEY=VALUE");
  verb.add_option("--from-set", request->baseline_sets, "Override a key of the profiled experiment")
      .type_name("KEY=VALUE");
  verb.add_flag("--check", request->check, "Also simulate the step, and say how far the projection is off");
  verb.add_flag("--json", request->json, "Print one JSON object");
  verb.set_footer(
      "Times grow with the flops of products, attention and convolutions and with the bytes of other kernels\n"
      "and of collectives, and fall with peak rates. A projection knows no interference between operators, "
      "which a simulation adds.\n"
      "\nExamples:\n"
      "  c3sim project configs/experiments/bert/bert_large_a100.toml --from "
      "configs/experiments/bert/bert_large_mi100.toml\n"
      "  c3sim project large.toml --from small.toml --check");
  verb.when_parsed([&app, &action, request] {
    request->quiet = app.was_given("--quiet");
    action = [request] { return project(*request); };
  });
}

}}  // namespace c3::app
