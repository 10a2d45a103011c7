#include "configs/jobs/trace_reader.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest_name.hpp"
#include "configs/jobs/trace_source.hpp"
#include "configs/toml/config_error.hpp"
#include "workloads/traces/replay/data_parallel.hpp"
#include "workloads/traces/replay/host_bound.hpp"
#include "workloads/traces/replay/rank_roles.hpp"
#include "workloads/traces/replay/replay_program.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr auto kKeys = std::to_array<KeyText>({
    {"use", "program of c3sim import, relative to this file; or operator lists, run in turn"},
    {"drop", "of operator lists: classes of work to leave out"},
    {"repeat", "of operator lists: how often they run in turn", std::int64_t{1}},
    {"scale_to", "of operator lists: ranks that run alike; default: those listed"},
    {"replay", "whose times count: the trace's, the model's, or (mixed) the model's for classes in `model`",
     std::string_view("recorded")},
    {"data_parallel", "ranks of the system, which repeat the recorded ones; default: as recorded"},
    {"model", "with replay = \"mixed\": classes of work to model; others as recorded"},
});

/// What a `model` list may name: classes of which the kernel model or the collective model knows any work.
constexpr std::array kModelled{WorkClass::gemm, WorkClass::convolution, WorkClass::attention, WorkClass::vector,
                               WorkClass::collective};

std::vector<std::string> modelled_names() {
  std::vector<std::string> names;
  for (const WorkClass work_class : kModelled)
    names.emplace_back(name_of(work_class));
  return names;
}

/// The classes to model.
std::vector<WorkClass> read_mode(Section& section) {
  const Replay replay = section.has("replay") ? section.choice<Replay>("replay") : Replay::recorded;
  const bool has_classes = section.has("model");
  std::vector<WorkClass> classes;
  if (has_classes) classes = read_work_classes(section, "model", {kModelled.begin(), kModelled.end()});
  if (has_classes && replay != Replay::mixed)
    section.refuse("model",
                   "requires replay = \"mixed\"; \"modelled\" models all that it can, \"recorded\" nothing");
  if (!has_classes && replay == Replay::mixed)
    section.refuse(
        "replay", fmt::format("mixed requires model, a list of some of {}", fmt::join(modelled_names(), ", ")));
  return replay == Replay::modelled ? all_work_classes() : classes;
}

std::string percent(const ReplayShare& part, const ReplayShare& whole) {
  const bool has_times = whole.time.count > 0;
  const double all = static_cast<double>(has_times ? whole.time.count : static_cast<std::int64_t>(whole.count));
  const double part_count =
      static_cast<double>(has_times ? part.time.count : static_cast<std::int64_t>(part.count));
  return fmt::format("{:.1f} % ({} of {})", all > 0.0 ? 100.0 * part_count / all : 0.0, part.count,
                     whole.count);
}

/// A replay of nothing would take no time. \param classes to model
void refuse_without_times(const RecordedRun& run, const std::vector<WorkClass>& classes, Section& section) {
  const auto has_times = [](const RecordedRank& rank) {
    return std::ranges::any_of(rank.work, &RecordedWork::has_time);
  };
  if (run.events() == 0 || !classes.empty() || std::ranges::any_of(run.ranks, has_times)) return;
  section.refuse(section.has("replay") ? "replay" : "use",
                 "the operator list has no recorded times, as it was made without Kineto traces: use replay = "
                 "\"modelled\"");
}

/// Names of work that takes no time, the most frequent first.
std::string names_without_time(const RecordedRun& run, const ReplayModel& model) {
  constexpr std::size_t kMost = 5;
  std::vector<NotModelled> entries = not_modelled(run, model);
  std::erase_if(entries, &NotModelled::has_time);
  std::string text;
  for (const NotModelled& entry : entries | std::views::take(kMost))
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", entry.name, entry.count);
  return entries.size() > kMost ? text + fmt::format(" and {} others", entries.size() - kMost) : text;
}

/// What a rank that was recorded alone does not tell of its collectives.
std::string waiting_text(const RecordedRun& run, const ReplayModel& model) {
  const AloneCollectives alone = alone_collectives(run);
  if (alone.count == 0) return "";
  const ReplayChoice choice(run, model);
  const auto modelled = std::ranges::count_if(
      run.collectives, [&](const RecordedCollective& collective) { return choice.is_modelled(collective); });
  return fmt::format(
      "trace: one rank recorded {} collectives alone: {:.3f} ms, of which at least {:.3f} ms, and at most what "
      "the transfer leaves, was waiting for late ranks; {}",
      alone.count, alone.time.milliseconds(), alone.waiting_at_least.milliseconds(),
      modelled == 0 ? "this replay keeps it"
                    : fmt::format("{} of them take the time of the model's transfer and no waiting", modelled));
}

/// Recorded durations hold for as many ranks as were recorded, and no others.
void require_modelled_collectives(Section& section, const std::vector<WorkClass>& classes) {
  if (std::ranges::find(classes, WorkClass::collective) != classes.end()) return;
  section.fail("data_parallel",
               "requires replay = \"modelled\", or \"mixed\" with \"collective\" in model: collectives of more "
               "ranks do not take the recorded times");
}

/// \param written absent: as recorded
PlacedRun place_run(Section& section, RecordedRun run, std::optional<int> written,
                    const std::vector<WorkClass>& classes, int ranks) {
  if (!written) {
    if (run.ranks.size() > 1 && run.ranks.back().number >= ranks)
      section.fail("use", fmt::format("the trace has rank {}, the system {} rank{}: choose a larger system, or "
                                      "more nodes",
                                      run.ranks.back().number, ranks, ranks == 1 ? "" : "s"));
    RankRoles roles = recorded_roles(run, ranks);
    return {std::move(run), std::move(roles)};
  }
  if (*written != ranks)
    section.fail("data_parallel",
                 fmt::format("is {}, and the system has {} rank{}: both must be equal (nodes = ..)", *written,
                             ranks, ranks == 1 ? "" : "s"));
  try {
    if (*written != data_parallel_ranks(run)) require_modelled_collectives(section, classes);
    run = with_data_parallel(std::move(run), ranks);
  } catch (const std::invalid_argument& refusal) {
    section.fail("data_parallel", refusal.what());
  }
  RankRoles roles = repeated_roles(run, ranks);
  return {std::move(run), std::move(roles)};
}

std::vector<std::string> notes_on_scaling(const RecordedRun& run, int ranks) {
  const int recorded = data_parallel_ranks(run);
  if (recorded == ranks) return {};
  return {
      fmt::format("trace: {} ranks repeat {} recorded rank{} of a job of {}. They come to collectives as far "
                  "apart as those did; more ranks would come further apart",
                  ranks, run.ranks.size(), run.ranks.size() == 1 ? "" : "s", recorded)};
}

std::optional<int> read_data_parallel(Section& section) {
  constexpr int kMost = 1 << 20;
  if (!section.has("data_parallel")) return std::nullopt;
  return static_cast<int>(section.integer("data_parallel", 2, kMost));
}

/// Beyond this share of host-bound time, a user who changes GPUs or streams sees little change.
constexpr double kHostsDecide = 0.9;

std::string text_of(const HostBound& bound) {
  constexpr double kPicosecondsPerMillisecond = 1e9;
  const auto milliseconds = [&](Picoseconds time) {
    return static_cast<double>(time.count) / kPicosecondsPerMillisecond;
  };
  return fmt::format(
      "trace: hosts bind the recorded run: {:.3f} of {:.3f} ms would remain if kernels, copies and "
      "collectives took no time; other GPUs, networks and strategies can change the rest",
      milliseconds(bound.by_hosts), milliseconds(bound.recorded));
}

}  // namespace

Program read_trace(Section& root, const ClusterSpec& cluster) {
  Section section = root.table("trace");
  const TraceSource source = read_source(section);
  const std::vector<WorkClass> classes = read_mode(section);
  const std::optional<int> data_parallel = read_data_parallel(section);
  section.explain(kKeys);
  root.explain("trace", "a recorded run, in place of [[stream]]");
  section.finish();
  if (section.is_rehearsal()) return {};
  RecordedRun run = load(source, section);
  refuse_without_times(run, classes, section);
  const PlacedRun placed = place_run(section, std::move(run), data_parallel, classes, cluster.ranks());
  return replay_program(placed.run, placed.roles, {classes, &cluster.gpu});
}

std::optional<PlacedRun> recording_of(const Node& experiment, const ClusterSpec& cluster) {
  const Node* trace = experiment.table()->find("trace");
  if (trace == nullptr) return std::nullopt;
  Section section(*trace, "trace");
  const TraceSource source = read_source(section);
  if (is_of_lists(source)) return std::nullopt;
  RecordedRun run = load(source, section);
  RankRoles roles = section.has("data_parallel") ? repeated_roles(run, cluster.ranks())
                                                 : recorded_roles(run, cluster.ranks());
  return PlacedRun{std::move(run), std::move(roles)};
}

std::vector<std::string> notes_on_trace(const Node& experiment, const ClusterSpec& cluster) {
  const Node* trace = experiment.table()->find("trace");
  if (trace == nullptr) return {};
  Section section(*trace, "trace");
  const TraceSource source = read_source(section);
  const std::vector<WorkClass> classes = read_mode(section);
  const std::optional<int> data_parallel = read_data_parallel(section);
  RecordedRun run = load(source, section);
  std::vector<std::string> notes;
  if (data_parallel) notes = notes_on_scaling(run, *data_parallel);
  run = place_run(section, std::move(run), data_parallel, classes, cluster.ranks()).run;
  const ReplayModel model{classes, &cluster.gpu, cluster.ranks()};
  const ReplayShares shares = shares_of(run, model);
  if (!classes.empty() && shares.all().count > 0) notes.push_back("trace: " + share_text(shares));
  if (shares.nothing.count > 0)
    notes.push_back(fmt::format(
        "trace: {} of {} kernels, copies and collectives take no time: the model has no rule for them, and no "
        "time was recorded: {}",
        shares.nothing.count, shares.all().count, names_without_time(run, model)));
  if (std::string waiting = waiting_text(run, model); !waiting.empty()) notes.push_back(std::move(waiting));
  if (const HostBound bound = host_bound(run); bound.share() >= kHostsDecide) notes.push_back(text_of(bound));
  return notes;
}

std::string share_text(const ReplayShares& shares) {
  const ReplayShare all = shares.all();
  std::string text = fmt::format(
      "{} {} are modelled, {} are in another kernel's time, {} keep their recorded time, because what they "
      "compute or "
      "move is not known or this GPU cannot run it (c3sim import .. -o DIR --csv not-modelled lists reasons)",
      all.time.count > 0 ? "of the recorded GPU time and pieces of work" : "of the pieces of work",
      percent(shares.model, all), percent(shares.another, all), percent(shares.recording, all));
  if (shares.choice.count > 0)
    text += fmt::format(", {} because replay does not model their class", percent(shares.choice, all));
  return text;
}

}}  // namespace c3::configs
