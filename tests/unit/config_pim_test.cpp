// `place = "pim"`, and `memory_grain = "channels"`, in experiments.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "configs/jobs/experiment_reader.hpp"
#include "gpu/hbm_rate.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::config_pim_test {

namespace {

std::string text(const std::string& kernel, const std::string& gpu = "pim_units = 8\npim_interval = 2\n") {
  return "schema = 1\nsystem = \"mi300x-8\"\n[gpu]\n" + gpu + "[[stream]]\nname = \"a\"\nrun = [{ kernel = { " +
         kernel + " } }]\n[strategy.default]\n";
}

Experiment read(const std::string& written) {
  const ScratchFolder folder;
  return ExperimentFile::load(folder.write("e.toml", written)).make(std::nullopt);
}

std::string refusal(const std::string& kernel, const std::string& gpu = "pim_units = 8\n") {
  return error_of([&] { read(text(kernel, gpu)); });
}

}  // namespace

TEST_CASE("place pim makes an operator one of memory, with the bytes that its kernel would move") {
  const Experiment experiment =
      read(text(R"(op = "quantize_mx6", dtype = "fp32", rows = 1024, cols = 1024, place = "pim")"));
  const auto& work = experiment.program.scripts.front().streams.front().front().work;
  const auto* const kernel = std::get_if<TimedKernel>(&work);
  REQUIRE(kernel != nullptr);
  CHECK(kernel->place == Place::pim);
  CHECK(kernel->read.value == 4.0 * 1024 * 1024);
  CHECK(kernel->written.value == 0.75 * 1024 * 1024);
  CHECK(kernel->duration.value ==
        near(1.0 / hbm_rate_alone(experiment.cluster.gpu.hbm, kernel->read / 4.0, kernel->written / 4.0)));
}

TEST_CASE("keys of units in memory are noted where nothing runs there") {
  const ScratchFolder folder;
  const auto notes = [&](const std::string& place) {
    const std::string kernel = R"(op = "add", dtype = "fp32", rows = 8, cols = 8, place = )" + place;
    return ExperimentFile::load(folder.write("e.toml", text(kernel))).notes();
  };
  const auto is_of_pim = [](const std::string& note) { return note.find("gpu.pim_") != std::string::npos; };
  CHECK(std::ranges::count_if(notes("\"gpu\""), is_of_pim) == 2);
  CHECK(std::ranges::count_if(notes("\"pim\""), is_of_pim) == 0);
}

TEST_CASE("memory of channels needs channels that its mapping can deal, and blocks of a burst") {
  const auto refused = [](const std::string& gpu) {
    const ScratchFolder folder;
    const std::string add = R"(op = "add", dtype = "fp32", rows = 8, cols = 8)";
    const std::string written = text(add, gpu) + "[measure]\nmemory_grain = \"channels\"\n";
    return error_of([&] { ExperimentFile::load(folder.write("e.toml", written)); });
  };
  CHECK(refused("channels = 128\n") == "no error");
  CHECK(refused("channels = 0\n") ==
        Part{"measure: memory_grain = \"channels\": memory of channels requires gpu.channels, which is 0"});
  CHECK(refused("channels = 12\n") ==
        Part{"gpu.channel_mapping \"ipoly\" requires a power of two of channels, not 12"});
  CHECK(refused("channels = 12\nchannel_mapping = \"random\"\n") == "no error");
  CHECK(refused("channels = 8\nchannel_interleave = \"1 B\"\n") ==
        Part{"gpu.channel_interleave: must not be below 32 B"});
  CHECK(refused("channels = 8\nchannel_row = \"128 B\"\n") == Part{"must not be below gpu.channel_interleave"});
}

TEST_CASE("place pim is refused where there are no units, and of what they cannot compute") {
  const std::string add = R"(op = "add", dtype = "fp32", rows = 8, cols = 8, place = "pim")";
  CHECK(refusal(add, "pim_units = 0\n") == Part{"e.toml:7:"});
  CHECK(refusal(add, "pim_units = 0\n") ==
        Part{R"(run[0].kernel.place: place "pim" requires arithmetic units in memory (gpu.pim_units)"});
  CHECK(refusal(add) == "no error");
  CHECK(refusal(R"(op = "softmax", dtype = "fp32", rows = 8, cols = 8, place = "pim")") ==
        Part{"place: units in memory cannot compute 'softmax'"});
  CHECK(refusal(R"(op = "gemm", dtype = "bf16", m = 8, n = 8, k = 8, place = "pim")") ==
        Part{"place: units in memory compute elementwise operators"});
  CHECK(refusal(R"(op = "add", dtype = "fp32", rows = 8, cols = 8, place = "pin")") ==
        Part{"did you mean 'pim'"});
  CHECK(refusal(R"(op = "quantize_mx9", dtype = "bf16", rows = 8, cols = 8)") ==
        Part{"'quantize_mx9' casts fp32"});
}

}  // namespace c3::config_pim_test
