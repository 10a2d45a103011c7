// DMA-Latte's table: what its rows ask for, and how the answers become figures.

#include "studies/collectives/dma_variants.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tests/support/near.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace c3;
using namespace c3::literals;

namespace {

PublishedFigures figures_of(const std::string& rows) {
  const TemporaryFolder folder;  // of its own: tests run side by side
  const std::filesystem::path file = folder / "figures.csv";
  std::ofstream(file) << "id,unit,published,low,high,gate,known_miss,source\n" << rows;
  return PublishedFigures(file);
}

const StudyLine& line_of(const StudySection& section, std::string_view id) {
  return *std::ranges::find(section.lines, id, [](const StudyLine& line) { return line.figure.of.id; });
}

}  // namespace

TEST_CASE("a cell is the time of a copy for each peer over the variant's") {
  DmaVariants variants(figures_of("dma.all_gather.64KiB.bcst_prelaunch,x,4.01,3.4,4.6,band,,source\n"));
  REQUIRE(variants.runs() == 2);
  variants.take(0, 10.0_us);
  variants.take(1, 25.0_us);
  const StudySection section = variants.section();
  REQUIRE(section.lines.size() == 1);
  CHECK(section.lines.front().label == "all_gather 64KiB bcst_prelaunch");
  CHECK(section.lines.front().figure.simulated.value() == near(2.5));
}

TEST_CASE("cells of a size share its baseline, and other studies' rows are left alone") {
  DmaVariants variants(
      figures_of("dma.all_to_all.1MiB.swap,x,1.55,,,none,,source\n"
                 "dma.all_to_all.1MiB.b2b,x,1.22,,,none,,source\n"
                 "overall.median,%,8,,,none,,source\n"));
  CHECK(variants.runs() == 3);
}

TEST_CASE("a row that names no variant, collective or size is a mistake in the file") {
  CHECK_THROWS_AS(DmaVariants(figures_of("dma.all_gather.1KiB.ring,x,1,,,none,,source\n")), std::logic_error);
  CHECK_THROWS_AS(DmaVariants(figures_of("dma.gather_all.1KiB.b2b,x,1,,,none,,source\n")), std::logic_error);
  CHECK_THROWS_AS(DmaVariants(figures_of("dma.all_gather.much.b2b,x,1,,,none,,source\n")),
                  std::invalid_argument);
}

TEST_CASE("limits of large sizes are met to 5 %, and what sets a parameter is marked as fitted") {
  const StudySection section = dma_variants([](std::size_t, std::size_t) {});
  for (const char* id :
       {"dma.all_gather.limit.bcst", "dma.all_gather.limit.b2b", "dma.all_to_all.limit.swap"}) {
    CAPTURE(id);
    CHECK(passes(line_of(section, id).figure) == true);
  }
  CHECK(line_of(section, "dma.all_gather.limit.bcst").figure.kind == FigureKind::fitted);
  CHECK(line_of(section, "dma.all_to_all.limit.swap").figure.kind == FigureKind::predicted);
}
