// The place of a work group: bit sets by residents against a search of all CUs.

#include "gpu/compute_units.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <iterator>
#include <vector>

namespace c3::gpu_compute_units_test {

using namespace literals;

namespace {

/// The emptiest CU of the range that has room, the first of equals.
class LinearSearch {
 public:
  explicit LinearSearch(const ComputeSpec& spec)
      : cus_(spec.cus_per_xcd),
        units_(static_cast<std::size_t>(spec.cus()),
               Unit{spec.lds_per_cu.value, spec.registers_per_cu.value, spec.wave_slots_per_cu, 0}) {}

  int place(int xcd, const WorkGroupNeeds& needs, CuRange range) {
    int best = -1;
    for (int cu = range.begin; cu < range.end; ++cu) {
      const Unit& unit = at(xcd, cu);
      if (unit.waves < needs.waves || unit.lds < needs.lds.value || unit.registers < needs.registers.value)
        continue;
      if (best < 0 || unit.residents < at(xcd, best).residents) best = cu;
    }
    if (best >= 0) change(at(xcd, best), needs, 1);
    return best;
  }
  void release(int xcd, int cu, const WorkGroupNeeds& needs) { change(at(xcd, cu), needs, -1); }

 private:
  struct Unit {
    double lds, registers;
    int waves, residents;
  };
  static void change(Unit& unit, const WorkGroupNeeds& needs, int by) {
    unit.lds -= by * needs.lds.value;
    unit.registers -= by * needs.registers.value;
    unit.waves -= by * needs.waves;
    unit.residents += by;
  }
  Unit& at(int xcd, int cu) { return units_[static_cast<std::size_t>(xcd * cus_ + cu)]; }

  int cus_;
  std::vector<Unit> units_;
};

struct Placed {
  int xcd, cu;
  WorkGroupNeeds needs;
};

}  // namespace

TEST_CASE("property: the emptiest CU of the range that has room, the first of equals") {
  const std::vector<WorkGroupNeeds> kinds = {{.lds = 64.0_KiB, .registers = 256.0_KiB, .waves = 4},
                                             {.lds = {}, .registers = 64.0_KiB, .waves = 8},
                                             {.lds = 16.0_KiB, .registers = {}, .waves = 1, .computes = false},
                                             {.lds = {}, .registers = {}, .waves = 1}};
  for (const int cus : {3, 38, 64, 132}) {
    CHECK(rc::check([&](const std::vector<std::uint32_t>& choices) {
      const ComputeSpec spec{.xcds = 2,
                             .cus_per_xcd = cus,
                             .lds_per_cu = 64.0_KiB,
                             .registers_per_cu = 512.0_KiB,
                             .wave_slots_per_cu = 8,
                             .boost_clock = {},
                             .matrix = {}};
      ComputeUnits units(spec);
      LinearSearch search(spec);
      std::vector<Placed> live;
      for (const std::uint32_t choice : choices) {
        if (choice % 3 == 0 && !live.empty()) {
          const auto which = live.begin() + static_cast<std::ptrdiff_t>(choice / 3 % live.size());
          units.release(which->xcd, which->cu, which->needs, 1);
          search.release(which->xcd, which->cu, which->needs);
          live.erase(which);
          continue;
        }
        // Several at once, so that CUs fill up.
        const int begin = static_cast<int>(choice / 7 % static_cast<unsigned>(cus));
        const CuRange range{begin,
                            begin + 1 + static_cast<int>(choice / 1021 % static_cast<unsigned>(cus - begin))};
        const int xcd = static_cast<int>(choice / 5 % 2);
        const WorkGroupNeeds& needs = kinds[choice / 11 % kinds.size()];
        const int most = 1 + static_cast<int>(choice / 13 % 200);
        std::vector<int> searched;
        for (int i = 0; i < most; ++i) {
          const int cu = search.place(xcd, needs, range);
          if (cu >= 0) searched.push_back(cu);
        }
        std::vector<int> placed;
        if (choice % 2 == 0) {
          units.place_all(xcd, needs, range, most, placed);
        } else {
          for (int cu = 0; cu >= 0 && std::ssize(placed) < most;) {
            cu = units.place(xcd, needs, range);
            if (cu >= 0) placed.push_back(cu);
          }
        }
        RC_ASSERT(placed == searched);
        for (const int cu : placed)
          live.push_back({xcd, cu, needs});
      }
    }));
  }
}

}  // namespace c3::gpu_compute_units_test
