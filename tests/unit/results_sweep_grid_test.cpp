// A sweep's table as a grid: keys, medians over seeds, what is chosen, where cells of a heat map are.

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "results/report/value_scale.hpp"
#include "results/sweep/heat_map.hpp"
#include "results/sweep/sweep_choice.hpp"
#include "results/sweep/sweep_grid.hpp"
#include "results/sweep/sweep_metric.hpp"

namespace c3::results_sweep_grid_test { namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
using Texts = std::vector<std::string>;

ColumnData texts(std::string name, Texts values) {
  return {.spec = {std::move(name), "1", ""}, .values = std::move(values)};
}
ColumnData numbers(std::string name, std::string units, std::vector<double> values) {
  return {.spec = {std::move(name), std::move(units), ""}, .values = std::move(values)};
}

/// A sweep with these keys; strategy s has \p times where status is ok.
SweepTable table_of(std::vector<ColumnData> keys, std::vector<double> times, Texts commands,
                    Texts status = {}) {
  const std::size_t rows = times.size();
  if (status.empty()) status.assign(rows, "ok");
  SweepTable table{.attributes = {}, .columns = {texts("id", Texts(rows, "id"))}, .axes = keys.size()};
  for (ColumnData& key : keys)
    table.columns.push_back(std::move(key));
  table.columns.push_back(texts("status", std::move(status)));
  table.columns.push_back(texts("error", Texts(rows, "")));
  table.columns.push_back(numbers("s.time", "us", std::move(times)));
  table.columns.push_back(texts("command", std::move(commands)));
  return table;
}

SweepGrid grid_of(const SweepTable& table) { return {table, swept_keys(table, level_labels), {}}; }

/// cus 16, 8 by size 4, 1, without one of the four points.
SweepTable sizes_and_cus() {
  return table_of({numbers("cus", "1", {16, 8, 16}), numbers("size", "B", {4096, 1024, 1024})}, {5, 7, kNone},
                  {"c3sim run f --set strategy.s.cus=16 --set 'stream.1.run=[4096]'",
                   "c3sim run f --set strategy.s.cus=8 --set 'stream.1.run=[1024]'",
                   "c3sim run f --set strategy.s.cus=16 --set 'stream.1.run=[1024]'"},
                  {"ok", "ok", "failed"});
}

TEST_CASE("the median over seeds is of a seed, the lower one of two in the middle, with its row") {
  const auto odd = spread_of({{3, 10}, {1, 11}, {2, 12}});
  REQUIRE(odd);
  CHECK(odd->median == 2);
  CHECK(odd->row == 12);
  CHECK(odd->low == 1);
  CHECK(odd->high == 3);
  const auto even = spread_of({{4, 0}, {3, 1}, {1, 2}, {2, 3}});
  CHECK(even->median == 2);
  CHECK(even->row == 3);
  CHECK(even->count == 4);
  CHECK_FALSE(spread_of({}));
}

TEST_CASE("seeds of one combination are one case, and a failed one is left out of its median") {
  const SweepTable table =
      table_of({numbers("cus", "1", {8, 8, 8, 16, 16, 16}), numbers("seed", "1", {1, 2, 3, 1, 2, 3})},
               {30, 10, 20, 7, kNone, 5}, Texts(6, "c3sim run f"), {"ok", "ok", "ok", "ok", "failed", "ok"});
  const SweepGrid grid = grid_of(table);
  CHECK(grid.axes().size() == 1);
  CHECK(grid.seeds() == 3);
  REQUIRE(grid.cases().size() == 2);
  CHECK(grid.value(grid.cases()[0], "time")->median == 20);
  CHECK(grid.value(grid.cases()[1], "time")->median == 5);
  CHECK(grid.value(grid.cases()[1], "time")->count == 2);
  CHECK(grid.value(grid.cases()[1], "s.time")->high == 7);
  CHECK(grid.value(grid.cases()[1], "cus")->median == 16);
  CHECK(grid.value(grid.cases()[1], "cus")->count == 2);
  CHECK_FALSE(grid.value(grid.cases()[1], "speedup"));
}

TEST_CASE("numbers of a key rise, its texts keep the order of the sweep") {
  const SweepTable table = table_of({numbers("cus", "1", {16, 8, 16}), texts("op", {"b", "a", "b"})}, {1, 2, 3},
                                    Texts(3, "c3sim run f"));
  const auto axes = swept_keys(table, level_labels);
  CHECK(axes[0].labels == Texts{"8", "16"});
  CHECK(axes[0].level == std::vector<std::size_t>{1, 0, 1});
  CHECK(axes[1].labels == Texts{"b", "a"});
  CHECK(axes[1].follows == "cus");  // 16 goes with b, 8 with a
  CHECK(swept_keys(table, level_labels, {"op"})[0].follows == "op");
  CHECK(level_of(axes[1], "a") == 1);
  CHECK(level_of(axes[1], "c") == 2);
}

TEST_CASE("what a strategy is told is a choice, what a stream is told is given") {
  const SweepTable table = sizes_and_cus();
  const auto axes = swept_keys(table, level_labels);
  CHECK_FALSE(axes[0].is_given);
  CHECK(axes[1].is_given);
  CHECK(sets_of(table.texts("command")[0])[1] == std::pair<std::string, std::string>("stream.1.run", "[4096]"));
  CHECK(sets_of(R"(c3sim run 'a --set b' --set 'k=it'\''s = 1')") ==
        std::vector<std::pair<std::string, std::string>>{{"k", "it's = 1"}});
}

TEST_CASE("a heat map has its cells where levels cross, and says what is missing") {
  const SweepTable table = sizes_and_cus();
  const SweepGrid grid = grid_of(table);
  const auto [panels, all] = panels_of(grid, {}, 9);
  REQUIRE(all == 1);
  const HeatMap map = heat_map(grid, panels[0], {0, 1}, "time", 9);
  REQUIRE(map.cells.size() == 2);        // down: sizes
  REQUIRE(map.cells[0].size() == 2);     // across: CUs
  CHECK(map.cells[0][0].value == 7.0);   // 8 CUs, 1 KiB
  CHECK(map.cells[1][1].value == 5.0);   // 16 CUs, 4 KiB
  CHECK(map.cells[1][0].at == nullptr);  // the sweep has no 8 CUs with 4 KiB
  REQUIRE(map.cells[0][1].at != nullptr);
  CHECK_FALSE(map.cells[0][1].value);
  CHECK(grid.status(*map.cells[0][1].at) == "failed");
}

TEST_CASE("only points with one of the wanted values of every key are kept") {
  const SweepTable table = sizes_and_cus();
  const auto axes = swept_keys(table, level_labels);
  CHECK(only_rows(table, axes, {{"size", "1KiB"}}).rows() == 2);
  CHECK(only_rows(table, axes, {{"size", "1 KiB"}, {"cus", "8"}}).rows() == 1);
  CHECK(only_rows(table, axes, {{"cus", "8"}, {"cus", "16"}}).rows() == 3);
  CHECK(only_rows(table, axes, {}).rows() == 3);
}

TEST_CASE("lines go along the key with the most numbers, with one for each choice") {
  std::vector<double> cus, times;
  Texts ops, backends, commands;
  for (const char* op : {"gather", "reduce", "all"}) {
    for (const char* backend : {"cu", "dma"}) {
      for (const double n : {8.0, 16.0, 24.0, 32.0}) {
        ops.emplace_back(op);
        backends.emplace_back(backend);
        cus.push_back(n);
        times.push_back(n);
        commands.push_back("c3sim run f --set stream.1.run=" + ops.back() + " --set strategy.s.backend=" +
                           backend + " --set strategy.s.cus=" + std::to_string(n));
      }
    }
  }
  const SweepTable table =
      table_of({texts("op", ops), texts("backend", backends), numbers("cus", "1", cus)}, times, commands);
  const SweepGrid grid = grid_of(table);
  const SweepChoice choice = choose(grid, {});
  CHECK(choice.y == "time");
  CHECK(choice.x == 2);
  CHECK(choice.has_lines(grid));
  CHECK(choice.series == 1);
  CHECK(choice.panels == std::vector<std::size_t>{0});
  CHECK(choice.for_each == std::vector<std::size_t>{0});
  CHECK(choice.heat == std::pair<std::size_t, std::size_t>(2, 0));
  const SweepChoice other = choose(grid, {.x = "op", .series = "cus"});
  CHECK_FALSE(other.has_lines(grid));
  CHECK(other.panels == std::vector<std::size_t>{1});
  CHECK(panels_of(grid, choice.panels, 2).first.back().title == "all");
  CHECK(panels_of(grid, choice.panels, 2).second == 3);
}

TEST_CASE(
    "where machines are compared the time is drawn, since a speedup is over each machine's own serial time") {
  const auto y_of = [](const std::string& key) {
    SweepTable table = table_of({texts("k", {"a", "b"})}, {1, 2},
                                {"c3sim run f --set " + key + "=a", "c3sim run f --set " + key + "=b"});
    table.columns.push_back(numbers("s.speedup", "1", {1.5, 1.2}));
    return choose(grid_of(table), {}).y;
  };
  for (const char* machine :
       {"system", "nodes", "gpu.hbm_peak", "node.link_raw", "fabric.spines", "library.channels"}) {
    CAPTURE(machine);
    CHECK(y_of(machine) == "time");
  }
  for (const char* other : {"stream.1.run", "strategy.s.cus", "model.tokens"}) {
    CAPTURE(other);
    CHECK(y_of(other) == "speedup");
  }
}

TEST_CASE("places that are kept of many are evenly spread, with both ends") {
  using Places = std::vector<std::size_t>;
  CHECK(thinned(3, 5) == Places{0, 1, 2});
  CHECK(thinned(11, 3) == Places{0, 5, 10});
  CHECK(thinned(9, 1) == Places{0});
  CHECK(thinned(0, 4).empty());
}

TEST_CASE("which way is better follows from what the number is") {
  CHECK(sweep_metric("dma.time").better == Better::less);
  CHECK(sweep_metric("speedup").better == Better::more);
  CHECK(sweep_metric("s.ideal_speedup").better == Better::neither);
  CHECK(sweep_metric("s.stream.comm_together").better == Better::less);
  CHECK(sweep_metric("s.kernel_alone").better == Better::neither);
  CHECK(sweep_metric("cus").better == Better::neither);
  CHECK(sweep_metric("mfu").is_share);
}

}}  // namespace c3::results_sweep_grid_test
