#pragma once
/// Instructions in nested loops on a machine of pipelined units, and the date at which they end: by running
/// every iteration, or by running each loop until its iterations repeat.

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace c3 { inline namespace sampling {

/// A functional unit. Times in cycles.
struct LoopUnit {
  std::string name;
  std::uint32_t copies = 1;   ///< instructions take them in turn
  std::int64_t latency = 1;   ///< from the start of an instruction until others may use its result; >= 0
  std::int64_t interval = 1;  ///< from the start of an instruction until the same copy takes another; >= 1
};

/// Registers may be written several times before they are read, as accumulators are: they are ready when all
/// writes have ended.
struct LoopInstruction {
  std::uint32_t unit = 0;            ///< position in LoopMachine::units
  std::vector<std::uint32_t> reads;  ///< registers, below LoopProgram::registers
  std::vector<std::uint32_t> writes;
};

/// Issues instructions in order, `width` in a cycle; each starts when a copy of its unit and all registers that
/// it reads are ready. Source: the instruction dependency graphs of Luebeck et al., "Automatic
/// generation of fast and accurate performance models for deep neural network accelerators", arXiv 2409.08595.
/// Wrong when: hardware renames registers, or issues out of order.
struct LoopMachine {
  std::vector<LoopUnit> units;
  std::uint32_t width = 1;  ///< >= 1
};

struct LoopNest;
using LoopItem = std::variant<LoopInstruction, LoopNest>;

/// \p count times \p body. A program is a nest that runs once.
struct LoopNest {
  std::uint64_t count = 1;
  std::vector<LoopItem> body;
};

struct LoopProgram {
  LoopMachine machine;
  std::vector<std::string> registers;  ///< by name
  LoopNest nest;

  std::uint64_t instructions() const;  ///< that run
  std::uint64_t iterations() const;    ///< of innermost loops
};

/// What holds up an iteration: a date that an earlier instruction left.
enum class HeldBy : std::uint8_t {
  register_,  ///< a result is ready
  unit,       ///< a copy of a unit takes the next instruction
  issue,      ///< instructions are issued in order, `width` in a cycle
};
struct CriticalPart {
  HeldBy held_by = HeldBy::issue;
  std::uint32_t number = 0;  ///< of the register or unit; 0 of the issue

  friend bool operator==(const CriticalPart&, const CriticalPart&) = default;
};

/// The place where a loop began to repeat: from there on, so many iterations take so many cycles, forever.
/// Because dates only enter as maxima of sums, equal states, up to a common shift, have equal futures: this is
/// a proof and no extrapolation.
struct LoopCycle {
  std::size_t depth = 0;        ///< 0: the outermost
  std::uint64_t count = 0;      ///< iterations of the loop
  std::uint64_t evaluated = 0;  ///< of them, that were run
  std::uint64_t period = 0;     ///< iterations; 0: it did not repeat, and was run whole
  std::int64_t cycles = 0;      ///< of a period
  /// The certificate that a period cannot be shorter: each part's date follows, over one period, from that of
  /// the part before it and the first's from the last's, so that the dates along this circuit move by as many
  /// periods as it has parts. Neighbours that are alike are one. Empty of a loop that did not repeat.
  std::vector<CriticalPart> critical = {};
  /// Units, of the machine's first 64, whose latency or interval the circuit's dates contain.
  std::vector<std::uint32_t> critical_units = {};
};

struct LoopTime {
  std::int64_t cycles = 0;                ///< until the last instruction has ended
  std::uint64_t instructions = 0;         ///< that were evaluated
  std::uint64_t iterations = 0;           ///< of innermost loops that were evaluated
  std::vector<LoopCycle> loops;           ///< the last run of each loop, outermost first; empty of a whole run
  std::vector<std::int64_t> unit_cycles;  ///< of each unit: cycles in which a copy takes no other instruction
};

/// Every iteration.
LoopTime run_whole(const LoopProgram& program);

/// Each loop only until an iteration leaves the machine in a state that an earlier one left, all dates moved
/// alike; the rest is counted. Exactly the cycles of run_whole().
LoopTime run_to_fixed_point(const LoopProgram& program);

}}  // namespace c3::sampling
