#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "configs/jobs/loop_reader.hpp"
#include "studies/sampling/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

/// A program, and changes that make every iteration of it quick to run.
struct LoopCase {
  std::string_view id, file, label;
  std::vector<std::string> small;
};

std::vector<LoopCase> loop_cases() {
  return {{"systolic",
           "systolic_gemm.toml",
           "systolic array, product of 16,384^3",
           {"run.0.loop=8", "run.0.run.0.loop=6", "run.0.run.0.run.2.loop=40"}},
          {"vector",
           "vector_machine.toml",
           "vector machine, 64 channels of 112 x 112",
           {"run.0.loop=10", "run.0.run.0.loop=20"}}};
}

}  // namespace

StudyReport loop_sections(const PublishedFigures& published) {
  StudySection exact{
      .heading = "Loops run to their fixed point against every iteration, cut down to run quickly",
      .lines = {},
      .notes = {},
      .value = "cycles apart",
      .decimals = 0};
  StudySection whole{.heading = "The whole loops: innermost iterations evaluated",
                     .lines = {},
                     .notes = {"Published: 154 iterations for 4.19 G instructions."},
                     .value = "evaluated",
                     .decimals = 0};
  for (const LoopCase& one : loop_cases()) {
    const LoopProgram small = load_loop_program(study_file("sampling", one.file), one.small);
    const LoopTime every = run_whole(small), closed = run_to_fixed_point(small);
    StudyLine difference{.figure = {.of = published.find(fmt::format("loop.difference.{}", one.id))},
                         .label = std::string(one.label)};
    difference.figure.simulated = static_cast<double>(every.cycles - closed.cycles);
    difference.beside = {{"cycles [cycles]", static_cast<double>(every.cycles)},
                         {"iterations [count]", static_cast<double>(every.iterations)},
                         {"evaluated [count]", static_cast<double>(closed.iterations)}};
    exact.lines.push_back(std::move(difference));
    const LoopProgram program = load_loop_program(study_file("sampling", one.file));
    const LoopTime time = run_to_fixed_point(program);
    StudyLine line{.figure = {.of = published.find(fmt::format("loop.iterations.{}", one.id))},
                   .label = std::string(one.label)};
    line.figure.simulated = static_cast<double>(time.iterations);
    line.beside = {{"of iterations [count]", static_cast<double>(program.iterations())},
                   {"instructions [count]", static_cast<double>(program.instructions())},
                   {"evaluated instructions [count]", static_cast<double>(time.instructions)},
                   {"cycles [cycles]", static_cast<double>(time.cycles)}};
    whole.lines.push_back(std::move(line));
  }
  return {exact, whole};
}

}}  // namespace c3::studies
