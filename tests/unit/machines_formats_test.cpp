// Every file that describes a machine is known by its content, as one format.

#include <doctest/doctest.h>

#include <algorithm>

#include "importers/user_files/formats.hpp"

namespace c3::machines_formats_test {

TEST_CASE("at most one format recognises a file of a machine, and it has what a reader needs") {
  struct Sample {
    std::string_view format, text;
  };
  for (const Sample& sample : {
           Sample{"nccl-topology", "<system version=\"1\"><cpu numaid=\"0\"/></system>"},
           Sample{"hwloc",
                  "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\"><object "
                  "type=\"Machine\"/>"},
           Sample{"nvidia-smi-topo", "\tGPU0\tGPU1\nGPU0\t X \tNV4\n"},
           Sample{"rocm-smi-topo", "== Link Type between two GPUs ==\n GPU0 GPU1\nGPU0 0 XGMI\n"},
           Sample{"slurm-topology", "# a cluster\nSwitchName=a Nodes=b\n"},
           Sample{"ibnetdiscover", "devid=0x1\nSwitch\t36 \"S-1\"\t# \"a\"\n"},
       }) {
    CAPTURE(sample.format);
    const auto recognises = [&](const FileFormat& format) { return format.recognises(sample.text); };
    CHECK(std::ranges::count_if(file_formats(), recognises) == 1);
    const FileFormat* const format = format_of(sample.text);
    REQUIRE(format != nullptr);
    CHECK(format->name == sample.format);
    CHECK(format->role == FileRole::machine);
    CHECK((format->read != nullptr));
  }
  for (const std::string_view other : {"", "{}", "GPU0", "<a/>", "a: b\n", "SwitchName"})
    CHECK(format_of(other) == nullptr);
}

}  // namespace c3::machines_formats_test
