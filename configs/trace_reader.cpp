#include "configs/trace_reader.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "results/program_file.hpp"
#include "workloads/traces/replay/replay_program.hpp"

namespace c3::inline configs {
namespace {

namespace fs = std::filesystem;

constexpr auto kKeys = std::to_array<KeyText>({
    {"use", "program file of c3sim import, relative to this file"},
    {"replay", "recorded: kernels and collectives take the time that they took in the trace",
     std::string_view("recorded")},
});

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

Program read_trace(Section& root, int ranks) {
  Section section = root.table("trace");
  const std::string path = section.text("use");
  if (section.has("replay")) section.choice<Replay>("replay");
  section.explain(kKeys);
  root.explain("trace", "a recorded run, in place of [[stream]]");
  section.finish();
  if (section.is_rehearsal()) return {};
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored))
    section.fail("use", fmt::format("{} is no file; c3sim import TRACES -o FOLDER writes one", path));
  const RecordedRun run = read_program_file(path);
  if (run.ranks.size() > 1 && run.ranks.back().number >= ranks)
    section.fail("use",
                 fmt::format("the trace has rank {}, the system has {} ranks: choose a larger system, or more "
                             "nodes",
                             run.ranks.back().number, ranks));
  return replay_program(run, ranks);
}

}  // namespace c3::configs
