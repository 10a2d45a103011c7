#include "configs/trace_reader.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest_name.hpp"
#include "configs/config_error.hpp"
#include "results/program_file.hpp"
#include "workloads/traces/replay/host_bound.hpp"
#include "workloads/traces/replay/replay_program.hpp"

namespace c3::inline configs {
namespace {

namespace fs = std::filesystem;

constexpr auto kKeys = std::to_array<KeyText>({
    {"use", "program file of c3sim import, relative to this file"},
    {"replay",
     "recorded: kernels and collectives take the time that they took in the trace; modelled: the time that the "
     "model gives their shapes; mixed: that for the classes of `model`",
     std::string_view("recorded")},
    {"model", "with replay = \"mixed\": classes of work to model; the rest is as recorded"},
});

/// What a `model` list may name: classes of which the kernel model or the collective model knows any work.
constexpr std::array kModelled{WorkClass::gemm, WorkClass::convolution, WorkClass::attention, WorkClass::vector,
                               WorkClass::collective};

std::vector<std::string> modelled_names() {
  std::vector<std::string> names;
  for (const WorkClass each : kModelled)
    names.emplace_back(name_of(each));
  return names;
}

std::vector<WorkClass> read_classes(Section& section) {
  const std::vector<std::string> known = modelled_names();
  const Node& written = section.node("model", Rule{ListRule{std::make_shared<Rule>(Rule{ChoiceRule{known}})}});
  const Array* list = written.array();
  if (list == nullptr || list->empty())
    section.fail("model", fmt::format("must be a list of some of {}", fmt::join(known, ", ")));
  std::vector<WorkClass> classes;
  for (const Node& each : *list) {
    const auto match = each.text() == nullptr ? known.end() : std::ranges::find(known, *each.text());
    if (match == known.end())
      throw ConfigError(each.origin, "trace.model",
                        each.text() == nullptr ? fmt::format("must be one of {}", fmt::join(known, ", "))
                                               : unknown_name("class", *each.text(), known));
    classes.push_back(kModelled.at(static_cast<std::size_t>(match - known.begin())));
  }
  return classes;
}

/// The classes to model.
std::vector<WorkClass> read_mode(Section& section) {
  const Replay replay = section.has("replay") ? section.choice<Replay>("replay") : Replay::recorded;
  const bool has_classes = section.has("model");
  std::vector<WorkClass> classes;
  if (has_classes) classes = read_classes(section);
  if (has_classes && replay != Replay::mixed)
    section.refuse("model",
                   "requires replay = \"mixed\"; \"modelled\" models all that it can, \"recorded\" nothing");
  if (!has_classes && replay == Replay::mixed)
    section.refuse(
        "replay", fmt::format("mixed requires model, a list of some of {}", fmt::join(modelled_names(), ", ")));
  return replay == Replay::modelled ? all_work_classes() : classes;
}

std::string percent(const ReplayShare& part, const ReplayShare& whole) {
  const double time = static_cast<double>(std::max<std::int64_t>(1, whole.time.count));
  return fmt::format("{:.1f} % ({} of {})", 100.0 * static_cast<double>(part.time.count) / time, part.count,
                     whole.count);
}

/// From here on a user who changes GPUs or streams sees little change.
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

void place_trace(Table& root) {
  Node* trace = root.find("trace");
  Node* use = trace == nullptr || trace->table() == nullptr ? nullptr : trace->table()->find("use");
  if (use == nullptr || use->text() == nullptr || fs::path(*use->text()).is_absolute()) return;
  std::error_code ignored;
  const fs::path written_in = use->origin.file ? fs::path(*use->origin.file) : fs::path();
  const fs::path folder = fs::is_regular_file(written_in, ignored) ? written_in.parent_path() : fs::path();
  use->value = fs::absolute(folder / *use->text(), ignored).lexically_normal().string();
}

Program read_trace(Section& root, const ClusterSpec& cluster) {
  const int ranks = cluster.ranks();
  Section section = root.table("trace");
  const std::string path = section.text("use");
  const std::vector<WorkClass> classes = read_mode(section);
  section.explain(kKeys);
  root.explain("trace", "a recorded run, in place of [[stream]]");
  section.finish();
  if (section.is_rehearsal()) return {};
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored))
    section.fail("use",
                 fmt::format("{} is not there or not a file; c3sim import TRACES -o FOLDER writes one", path));
  const RecordedRun run = read_program_file(path);
  if (run.ranks.size() > 1 && run.ranks.back().number >= ranks)
    section.fail(
        "use", fmt::format("the trace has rank {}, the system {} rank{}: choose a larger system, or more nodes",
                           run.ranks.back().number, ranks, ranks == 1 ? "" : "s"));
  return replay_program(run, ranks, {classes, &cluster.gpu});
}

std::vector<std::string> notes_on_trace(const Node& experiment, const ClusterSpec& cluster) {
  const Node* trace = experiment.table()->find("trace");
  if (trace == nullptr) return {};
  Section section(*trace, "trace");
  const std::string path = section.text("use");
  const std::vector<WorkClass> classes = read_mode(section);
  const RecordedRun run = read_program_file(path);
  std::vector<std::string> notes;
  const ReplayShares shares = shares_of(run, {classes, &cluster.gpu});
  if (!classes.empty() && shares.all().count > 0)
    notes.push_back("trace: of the recorded GPU time and pieces of work " + share_text(shares));
  if (const HostBound bound = host_bound(run); bound.share() >= kHostsDecide) notes.push_back(text_of(bound));
  return notes;
}

std::string share_text(const ReplayShares& shares) {
  const ReplayShare all = shares.all();
  std::string text = fmt::format(
      "{} are modelled, {} are in another kernel's time, {} keep their recorded time, because what they "
      "compute or "
      "move is not known or this GPU cannot run it (c3sim inspect PROGRAM lists reasons)",
      percent(shares.model, all), percent(shares.another, all), percent(shares.recording, all));
  if (shares.choice.count > 0)
    text += fmt::format(", {} because replay does not model their class", percent(shares.choice, all));
  return text;
}

}  // namespace c3::configs
