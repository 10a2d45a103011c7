#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/command/exit_code.hpp"
#include "app/sample/sample_request.hpp"
#include "base/json.hpp"
#include "configs/jobs/loop_reader.hpp"
#include "results/schema.hpp"
#include "results/text_table.hpp"

namespace c3 { inline namespace app {
namespace {

/// What is known of a program and of its runs.
struct LoopRuns {
  const SampleLoopRequest& request;
  const LoopProgram& program;
  LoopTime closed;
  std::optional<LoopTime> whole;

  /// Share of all cycles in which a unit takes no other instruction, of its copies together.
  double busy(std::size_t unit) const {
    return static_cast<double>(closed.unit_cycles[unit]) / program.machine.units[unit].copies /
           static_cast<double>(closed.cycles);
  }
};

std::string name_of_part(const LoopProgram& program, const CriticalPart& part) {
  switch (part.held_by) {
    case HeldBy::register_:
      return "register " + program.registers[part.number];
    case HeldBy::unit:
      return "unit " + program.machine.units[part.number].name;
    case HeldBy::issue:
      break;
  }
  return "issue";
}

std::vector<std::string> critical_units(const LoopProgram& program, const LoopCycle& loop) {
  std::vector<std::string> names;
  for (const std::uint32_t unit : loop.critical_units)
    names.push_back(program.machine.units[unit].name);
  return names;
}

std::vector<std::string> critical_parts(const LoopProgram& program, const LoopCycle& loop) {
  std::vector<std::string> names;
  for (const CriticalPart& part : loop.critical)
    names.push_back(name_of_part(program, part));
  return names;
}

/// "issue through load, array"; a unit alone goes through itself.
std::string circuit_text(const LoopProgram& program, const LoopCycle& loop) {
  const std::vector<std::string> parts = critical_parts(program, loop), units = critical_units(program, loop);
  if (parts.empty()) return "-";
  const bool is_unit = loop.critical.size() == 1 && loop.critical.front().held_by == HeldBy::unit;
  return fmt::format("{}{}", fmt::join(parts, ", "),
                     units.empty() || (is_unit && units.size() == 1)
                         ? std::string()
                         : fmt::format(" through {}", fmt::join(units, ", ")));
}

std::string text_of(const LoopRuns& runs) {
  const LoopTime& closed = runs.closed;
  std::string text = fmt::format(
      "{}: {} cycles for {} instructions, exactly; evaluated {} instructions, {} of {} innermost "
      "iterations\n\n",
      runs.request.file, closed.cycles, runs.program.instructions(), closed.instructions, closed.iterations,
      runs.program.iterations());
  TextTable loops({"loop", "iterations", "run", "repeats after", "cycles each time", "critical circuit"});
  for (const LoopCycle& loop : closed.loops) {
    if (loop.depth == 0) continue;  // the program itself, once
    const bool repeats = loop.period > 0;
    loops.add({std::to_string(loop.depth), std::to_string(loop.count), std::to_string(loop.evaluated),
               repeats ? std::to_string(loop.period) : "-", repeats ? std::to_string(loop.cycles) : "-",
               circuit_text(runs.program, loop)});
  }
  TextTable units({"unit", "busy"});
  for (std::size_t unit = 0; unit < runs.program.machine.units.size(); ++unit)
    units.add({runs.program.machine.units[unit].name, fmt::format("{:.1f}%", 100.0 * runs.busy(unit))});
  text += loops.text() + "\n" + units.text();
  if (runs.whole) text += fmt::format("\nevery iteration: {} cycles\n", runs.whole->cycles);
  return text;
}

std::string json_of(const LoopRuns& runs) {
  Json loops = Json::array(), units = Json::array();
  for (const LoopCycle& loop : runs.closed.loops)
    if (loop.depth > 0)
      loops.push_back({{"depth", loop.depth},
                       {"count", loop.count},
                       {"evaluated", loop.evaluated},
                       {"period", loop.period},
                       {"cycles", loop.cycles},
                       {"critical", critical_parts(runs.program, loop)},
                       {"critical_units", critical_units(runs.program, loop)}});
  for (std::size_t unit = 0; unit < runs.program.machine.units.size(); ++unit)
    units.push_back({{"unit", runs.program.machine.units[unit].name}, {"busy", runs.busy(unit)}});
  Json json{{"schema_version", kJsonSchemaVersion},
            {"file", runs.request.file},
            {"cycles", runs.closed.cycles},
            {"instructions", runs.program.instructions()},
            {"evaluated_instructions", runs.closed.instructions},
            {"iterations", runs.program.iterations()},
            {"evaluated_iterations", runs.closed.iterations},
            {"whole_cycles", nullptr},
            {"loops", loops},
            {"units", units}};
  if (runs.whole) json["whole_cycles"] = runs.whole->cycles;
  return json.dump(2) + "\n";
}

}  // namespace

int sample_loop(const SampleLoopRequest& request) {
  const LoopProgram program = load_loop_program(request.file, request.sets);
  LoopRuns runs{request, program, run_to_fixed_point(program), std::nullopt};
  if (request.whole) runs.whole = run_whole(program);
  fmt::print("{}", request.json ? json_of(runs) : text_of(runs));
  return runs.whole && runs.whole->cycles != runs.closed.cycles ? kExitCheckFailed : kExitOk;
}

}}  // namespace c3::app
