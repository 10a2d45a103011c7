#include "configs/jobs/loop_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/nearest_name.hpp"
#include "configs/presets/document.hpp"
#include "configs/toml/section.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr std::int64_t kMostCycles = 1'000'000'000;
constexpr std::int64_t kMostCopies = 4096;
constexpr std::int64_t kMostWidth = 64;
constexpr std::int64_t kMostIterations = 1'000'000'000'000;
constexpr std::size_t kMostItems = 100'000;
constexpr std::size_t kDeepest = 16;

class LoopReader {
 public:
  LoopProgram read(Section& root) {
    root.integer("schema", 1, 1);
    if (root.has("name")) root.text("name");
    program_.machine.width =
        root.has("width") ? static_cast<std::uint32_t>(root.integer("width", 1, kMostWidth)) : 1;
    Section units = root.table("unit");
    for (const ChosenKey& key : units.chosen_keys())
      program_.machine.units.push_back(read_unit(units.table(key.name), key.name));
    if (program_.machine.units.empty()) root.fail("unit", "must have at least one unit");
    program_.nest.body = read_items(root, 1);
    root.finish();
    if (!is_countable(program_)) root.fail("run", "runs more instructions than can be counted");
    return std::move(program_);
  }

 private:
  static LoopUnit read_unit(Section section, const std::string& name) {
    LoopUnit unit{.name = name};
    if (section.has("copies"))
      unit.copies = static_cast<std::uint32_t>(section.integer("copies", 1, kMostCopies));
    unit.latency = section.integer("latency", 0, kMostCycles);
    unit.interval = section.integer("interval", 1, kMostCycles);
    section.finish();
    return unit;
  }

  std::vector<LoopItem> read_items(Section& section, std::size_t depth) {
    if (depth > kDeepest) section.fail("run", fmt::format("loops are nested deeper than {}", kDeepest));
    std::vector<LoopItem> items;
    for (Section& item : section.tables("run", kMostItems)) {
      if (item.has("loop")) {
        LoopNest nest{.count = static_cast<std::uint64_t>(item.integer("loop", 1, kMostIterations)),
                      .body = {}};
        nest.body = read_items(item, depth + 1);
        items.emplace_back(std::move(nest));
      } else {
        items.emplace_back(read_instruction(item));
      }
      item.finish();
    }
    return items;
  }

  LoopInstruction read_instruction(Section& item) {
    const std::string name = item.slug("unit");
    const std::vector<LoopUnit>& units = program_.machine.units;
    const auto unit = std::ranges::find(units, name, &LoopUnit::name);
    if (unit == units.end()) {
      std::vector<std::string> known;
      for (const LoopUnit& one : units)
        known.push_back(one.name);
      item.fail("unit", unknown_name("unit", name, known));
    }
    LoopInstruction instruction{.unit = static_cast<std::uint32_t>(unit - units.begin()),
                                .reads = registers_of(item, "reads"),
                                .writes = registers_of(item, "writes")};
    return instruction;
  }

  std::vector<std::uint32_t> registers_of(Section& item, std::string_view key) {
    std::vector<std::uint32_t> numbers;
    if (!item.has(key)) return numbers;
    for (const PlacedText& text : item.sourced_texts(key, {"[A-Za-z][A-Za-z0-9_]*", "a"})) {
      auto& names = program_.registers;
      const auto known = std::ranges::find(names, text.name);
      numbers.push_back(static_cast<std::uint32_t>(known - names.begin()));
      if (known == names.end()) names.push_back(text.name);
    }
    return numbers;
  }

  /// Dates are 64-bit integers.
  static bool is_countable(const LoopProgram& program) {
    constexpr double kMost = 4e18;
    double longest = 1.0;
    for (const LoopUnit& unit : program.machine.units)
      longest = std::max(longest, static_cast<double>(unit.latency + unit.interval));
    return instructions(program.nest) * longest < kMost;
  }

  static double instructions(const LoopNest& nest) {
    double count = 0.0;
    for (const LoopItem& item : nest.body) {
      const auto* inner = std::get_if<LoopNest>(&item);
      count += inner == nullptr ? 1.0 : instructions(*inner);
    }
    return static_cast<double>(nest.count) * count;
  }

  LoopProgram program_;
};

}  // namespace

LoopProgram load_loop_program(const std::filesystem::path& path, std::span<const std::string> sets) {
  const Node document = load_document(path, sets);
  Section root(document, "");
  return LoopReader().read(root);
}

}}  // namespace c3::configs
