#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "files/io_error.hpp"
#include "files/sha256.hpp"
#include "files/written_files.hpp"
#include "results/result_file.hpp"
#include "results/result_reader.hpp"
#include "tests/support/temporary_folder.hpp"

namespace c3::results_file_test { namespace {

const RunHeader kHeader{
    .experiment = "hand", .config_resolved = "abc", .seed = 1ULL << 63U, .command_line = "c3sim"};

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// A whole, empty result file.
std::filesystem::path committed(const TemporaryFolder& folder) {
  const auto path = folder / "run.h5";
  ResultFile(path, kHeader).commit();
  return path;
}

std::string attribute(const ResultReader& file, const std::string& name) {
  for (const auto& [key, value] : file.attributes()) {
    if (key == name) return value;
  }
  return "absent";
}

TEST_CASE("a result has its final name only when it is whole") {
  const TemporaryFolder folder;
  const auto path = folder / "run.h5";
  ResultFile file(path, kHeader);
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(folder.files() == 1);
  file.commit();
  CHECK(std::filesystem::exists(path));
  CHECK(folder.files() == 1);
}

TEST_CASE("a result that is given up leaves no file, and an older result as it was") {
  const TemporaryFolder folder;
  const auto path = folder / "run.h5";
  const std::string older = std::string(kSealedHdf5) + "older";
  write(path, older);
  { const ResultFile file(path, kHeader); }
  CHECK(folder.files() == 1);
  CHECK(content(path) == older);
}

TEST_CASE("a target that is a folder, a device or in no folder is refused before anything is written") {
  const TemporaryFolder folder;
  const auto inside = folder / "";
  CHECK_THROWS_WITH_AS(ResultFile(inside, kHeader),
                       (inside.string() + ": cannot write: Is a directory").c_str(), IoError);
  CHECK_THROWS_WITH_AS(ResultFile("/dev/null", kHeader), "/dev/null: cannot write: it is not a regular file",
                       IoError);
  const auto nowhere = folder / "no/run.h5";
  CHECK_THROWS_WITH_AS(ResultFile(nowhere, kHeader),
                       (nowhere.string() + ": cannot create: No such file or directory").c_str(), IoError);
  CHECK(folder.files() == 0);
}

TEST_CASE("the header says what is needed to run the same again") {
  const TemporaryFolder folder;
  const ResultReader file(committed(folder));
  CHECK(attribute(file, "schema") == "c3sim.run");
  CHECK(attribute(file, "experiment") == "hand");
  CHECK(attribute(file, "seed") == "9223372036854775808");
  CHECK(attribute(file, "config_resolved") == "abc");
  // The test vector of FIPS 180-2, appendix B.1.
  CHECK(attribute(file, "config_sha256") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(attribute(file, "command_line") == "c3sim");
}

TEST_CASE("strategies are listed in the order they were written") {
  const TemporaryFolder folder;
  const auto path = folder / "run.h5";
  ResultFile file(path, kHeader);
  for (const auto* name : {"serial", "concurrent", "dma"})
    file.add_strategy(name);
  file.commit();
  CHECK(ResultReader(path).strategies() == std::vector<std::string>{"serial", "concurrent", "dma"});
}

TEST_CASE("what is not a whole result file is refused with the reason") {
  const TemporaryFolder folder;
  const auto text = folder / "notes.txt";
  write(text, "not HDF5");
  CHECK_THROWS_WITH_AS(ResultReader{text},
                       (text.string() + ": cannot open as HDF5: file signature not found").c_str(), IoError);

  const auto missing = folder / "missing.h5";
  CHECK_THROWS_WITH_AS(ResultReader{missing},
                       (missing.string() + ": cannot read: No such file or directory").c_str(), IoError);

  const auto foreign = folder / "foreign.h5";
  h5_create_file(foreign.string());
  CHECK_THROWS_WITH_AS(ResultReader{foreign},
                       (foreign.string() + ": cannot read: not a result file of c3sim run").c_str(), IoError);

  const auto future = folder / "future.h5";
  {
    const auto file = h5_create_file(future.string());
    h5_set_attribute(file, "schema", "c3sim.run");
    h5_set_attribute(file, "schema_version", "2.0.0");
  }
  CHECK_THROWS_WITH_AS(
      ResultReader{future},
      (future.string() + ": cannot read: schema version 2.0.0, this c3sim reads 1.14.0").c_str(), IoError);
}

TEST_CASE("a result cut off anywhere is refused and never read in part") {
  const TemporaryFolder folder;
  const auto whole = content(committed(folder));
  const auto cut = folder / "cut.h5";
  for (std::size_t length = 0; length < whole.size(); length += 97) {
    CAPTURE(length);
    write(cut, whole.substr(0, length));
    CHECK_THROWS_AS(ResultReader{cut}, IoError);
  }
}

}}  // namespace c3::results_file_test
