#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "files/input_files.hpp"
#include "files/io_error.hpp"
#include "files/temporary_file.hpp"
#include "files/unpacked_file.hpp"
#include "files/written_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace c3::files_test { namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kAny = 1U << 20U;

void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::string content(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

fs::path path_of(const TemporaryFolder& folder) { return folder / "."; }

void put(const fs::path& target, const std::string& text) {
  TemporaryFile file(target);
  file.append(text);
  file.rename_to_target();
}

/// A process that writes to \p target and is killed before it is done.
void be_killed_writing(const fs::path& target) {
  const pid_t child = ::fork();
  if (child == 0) {
    TemporaryFile file(target);
    file.append("half");
    ::raise(SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
}

/// Calls \p body in a process of its own. \returns whether it came to its end.
template <class Body>
bool in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    bool is_done = false;
    try {
      body();
      is_done = true;
    } catch (const std::exception&) {
    }
    ::_exit(is_done ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_CASE("a file that was read cannot become an output, under any of its names") {
  const TemporaryFolder folder;
  write(folder / "in.toml", "mine");
  fs::create_symlink("in.toml", folder / "link");
  fs::create_hard_link(folder / "in.toml", folder / "twin");
  fs::create_directory_symlink(".", folder / "here");
  CHECK_FALSE(is_input(folder / "in.toml"));
  const std::vector<char> read = read_file(folder / "in.toml", kAny);
  CHECK(std::string(read.begin(), read.end()) == "mine");
  for (const char* name : {"in.toml", "link", "twin", "here/in.toml"}) {
    CAPTURE(name);
    CHECK(is_input(folder / name));
    CHECK_THROWS_AS(TemporaryFile{folder / name}, OutputConflictError);
  }
  CHECK(content(folder / "in.toml") == "mine");
  CHECK(folder.files() == 4);  // no temporary file is left
}

TEST_CASE("a file that is read while its replacement is written is not replaced") {
  const TemporaryFolder folder;
  write(folder / "in", marked_text("mine"));
  TemporaryFile output(folder / "in");
  read_file(folder / "in", kAny);
  CHECK_THROWS_AS(output.rename_to_target(), OutputConflictError);
  CHECK(content(folder / "in") == marked_text("mine"));
}

TEST_CASE("a file that c3sim did not write is replaced with --force only") {
  const TemporaryFolder folder;
  const fs::path file = folder / "out";
  for (const std::string& mine :
       {std::string("# my experiment\nschema = 1\n"), std::string("a,b\n1,2\n"),
        std::string("<html>c3sim</html>"), std::string("\0x", 2), std::string("\n")}) {
    CAPTURE(mine);
    write(file, mine);
    CHECK_THROWS_WITH_AS(
        TemporaryFile{file},
        (file.string() +
         ": this file would be replaced, and it is not as c3sim wrote it; choose another output, "
         "or add --force")
            .c_str(),
        OutputConflictError);
    CHECK(content(file) == mine);
    CHECK(in_child([&] {
      replace_files_of_user();
      put(file, "new");
    }));
    CHECK(content(file) == "new");
  }
}

TEST_CASE("a file with c3sim's mark, or without content, is replaced") {
  const TemporaryFolder folder;
  const fs::path file = folder / "out";
  for (const std::string& own :
       {std::string(), std::string(kSealedHdf5) + "12", "<head>\n" + std::string(kPageMark),
        "{" + std::string(kJsonSchemaMark) + "run\"}", marked_text("schema = 1\n")}) {
    CAPTURE(own);
    write(file, own);
    put(file, "new");
    CHECK(content(file) == "new");
  }
}

TEST_CASE("a text that c3sim wrote and somebody edited is the user's") {
  const std::string whole = marked_text("schema = 1\nseeds = 2\n");
  const TemporaryFolder folder;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string edited = whole;
    edited[at] = edited[at] == '3' ? '4' : '3';
    write(folder / "e.toml", edited);
    CHECK_FALSE(is_written_by_c3sim(folder / "e.toml"));
  }
  write(folder / "e.toml", whole);
  CHECK(is_written_by_c3sim(folder / "e.toml"));
}

TEST_CASE("a table is known by its first line, for the table that would replace it") {
  const TemporaryFolder folder;
  const fs::path file = folder / "t.csv";
  write(file, "op,m,time_us,bound\ngemm,1,2,hbm\n");
  CHECK_FALSE(is_written_by_c3sim(file));
  CHECK(is_written_by_c3sim(file, {.begins = {}, .ends = "time_us,bound"}));
  CHECK(is_written_by_c3sim(file, {.begins = "op,", .ends = ",bound"}));
  CHECK(is_written_by_c3sim(file, header_of("op,m,time_us,bound\nattention,3,4,hbm\n")));
  CHECK(is_written_by_c3sim(file, kAnyTable));
  CHECK_FALSE(is_written_by_c3sim(file, {.begins = {}, .ends = ",reason"}));
  CHECK_FALSE(is_written_by_c3sim(file, {.begins = "op,m,time_us", .ends = "time_us,bound"}));  // not twice
  write(file, "a note\n");
  CHECK_FALSE(is_written_by_c3sim(file, kAnyTable));
}

TEST_CASE("two outputs cannot have one name") {
  const TemporaryFolder folder;
  fs::create_symlink("page", folder / "link");
  const TemporaryFile first(folder / "page");
  CHECK_THROWS_AS(TemporaryFile{folder / "page"}, OutputConflictError);
  CHECK_THROWS_AS(TemporaryFile{folder / "link"}, OutputConflictError);
}

TEST_CASE("an output that is a symbolic link is written to where the link points") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "disk");
  write(folder / "disk/old", marked_text("older"));
  fs::create_symlink("disk/old", folder / "link");
  fs::create_symlink("disk/new", folder / "dangling");
  fs::create_symlink("link", folder / "chain");
  put(folder / "chain", "newer");
  put(folder / "dangling", "first");
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(fs::is_symlink(folder / "dangling"));
  CHECK(content(folder / "disk/old") == "newer");
  CHECK(content(folder / "disk/new") == "first");
}

TEST_CASE("an output that is a loop of links is refused") {
  const TemporaryFolder folder;
  fs::create_symlink("b", folder / "a");
  fs::create_symlink("a", folder / "b");
  CHECK_THROWS_AS(TemporaryFile{folder / "a"}, IoError);
  CHECK(fs::is_symlink(folder / "a"));
}

TEST_CASE("what a killed process left is removed by the next that writes there") {
  const TemporaryFolder folder;
  be_killed_writing(folder / "a.h5");
  REQUIRE(folder.files() == 1);
  remove_stale_files(path_of(folder));
  CHECK(folder.files() == 0);
}

TEST_CASE("two processes that write the same target do not touch each other's file") {
  const TemporaryFolder folder;
  int ready[2], go[2];
  REQUIRE((::pipe(ready) == 0 && ::pipe(go) == 0));
  const pid_t other = ::fork();
  if (other == 0) {
    TemporaryFile file(folder / "run.h5");
    char byte = 0;
    const bool told = ::write(ready[1], &byte, 1) == 1 && ::read(go[0], &byte, 1) == 1;
    file.append("other");
    if (told) file.rename_to_target();
    ::_exit(0);
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  put(folder / "run.h5", "mine");
  CHECK(content(folder / "run.h5") == "mine");
  CHECK(folder.files() == 2);  // the other's temporary file is untouched
  REQUIRE(::write(go[1], &byte, 1) == 1);
  ::waitpid(other, nullptr, 0);
  CHECK(content(folder / "run.h5") == "other");
  CHECK(folder.files() == 1);
}

TEST_CASE("the temporary file of a living process stays") {
  const TemporaryFolder folder;
  const TemporaryFile living(folder / "a.h5");
  CHECK(in_child([&] { remove_stale_files(path_of(folder)); }));
  CHECK(fs::exists(living.path()));
}

TEST_CASE("files that only look like ours are not removed") {
  const TemporaryFolder folder;
  const std::string digits = [&] {
    const TemporaryFile ours(folder / "a");
    return ours.path().filename().string().substr(std::string("a.c3sim-").size(), 8);
  }();
  for (const std::string& name :
       {std::string("a.h5.tmp"), std::string("notes.tmp"), "a.h5.c3sim-" + digits + "-0",
        "a.c3sim-" + digits + "-x.tmp", std::string("a.c3sim-0000000-1.tmp"), ".c3sim-" + digits + "-0.tmp"})
    write(folder / name.c_str(), "somebody's");
  fs::create_directory(folder / ("b.c3sim-" + digits + "-0.tmp").c_str());
  fs::create_symlink("notes.tmp", folder / ("c.c3sim-" + digits + "-0.tmp").c_str());
  remove_stale_files(path_of(folder));
  CHECK(folder.files() == 8);
}

TEST_CASE("a temporary file of another machine is removed after a day") {
  const TemporaryFolder folder;
  write(folder / "new.c3sim-00000000-0.tmp", "");
  write(folder / "old.c3sim-00000000-0.tmp", "");
  fs::last_write_time(folder / "old.c3sim-00000000-0.tmp",
                      fs::file_time_type::clock::now() - std::chrono::hours(25));
  remove_stale_files(path_of(folder));
  CHECK(fs::exists(folder / "new.c3sim-00000000-0.tmp"));
  CHECK_FALSE(fs::exists(folder / "old.c3sim-00000000-0.tmp"));
}

TEST_CASE("a temporary name tells the name that it will get") {
  const TemporaryFolder folder;
  const TemporaryFile file(folder / "run.h5");
  CHECK(final_name(file.path().string()) == (folder / "run.h5").string());
  CHECK(final_name("out/run.h5") == "out/run.h5");
}

TEST_CASE("a name as long as the file system allows has a temporary file, too") {
  const TemporaryFolder folder;
  const std::string longest(255, 'n');
  put(folder / longest.c_str(), "text");
  CHECK(content(folder / longest.c_str()) == "text");
}

TEST_CASE("a pipe is read to its end, and one without a writer is refused at once") {
  const TemporaryFolder folder;
  const fs::path pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH_AS(read_file(pipe, kAny),
                       (pipe.string() + ": cannot read: no process writes to this pipe").c_str(), IoError);
  CHECK_THROWS_AS(note_input(pipe), IoError);
  const int both = ::open(pipe.c_str(), O_RDWR);  // so that the writer does not wait for the reader
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    REQUIRE(::write(both, "text", 4) == 4);
    ::close(both);
  });
  const std::vector<char> read = read_file(pipe, kAny);
  writer.join();
  CHECK(std::string(read.begin(), read.end()) == "text");
}

TEST_CASE("what is not a file is not read") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(read_file(path_of(folder), kAny), IoError);
  CHECK_THROWS_AS(read_file("/dev/zero", kAny), IoError);
  CHECK_THROWS_AS(read_file(folder / "none", kAny), IoError);
  CHECK_THROWS_AS(read_file("/proc/self/mem", kAny), IoError);
}

TEST_CASE("a file larger than allowed is refused, one of that size is read") {
  const TemporaryFolder folder;
  write(folder / "ten", "0123456789");
  CHECK(read_file(folder / "ten", 10).size() == 10);
  CHECK_THROWS_AS(read_file(folder / "ten", 9), IoError);
}

std::string unpacked(const fs::path& path) {
  UnpackedFile file(path);
  std::string text;
  std::vector<char> part(1000);
  while (const std::size_t got = file.read(part))
    text.append(part.data(), got);
  return text;
}

void pack(const fs::path& path, const std::string& text) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
}

TEST_CASE("a file is unpacked if it begins as gzip does, whatever its name") {
  const TemporaryFolder folder;
  const std::string text(100'000, 'x');
  pack(folder / "packed.json", text);
  write(folder / "plain.gz", text);
  CHECK(fs::file_size(folder / "packed.json") < 1000);
  CHECK(unpacked(folder / "packed.json") == text);
  CHECK(unpacked(folder / "plain.gz") == text);
  CHECK(is_input(folder / "plain.gz"));
}

TEST_CASE("gzip data that end too early or are damaged are refused, not taken for short files") {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 20'000; ++i)
    text += std::to_string(i * 7919 % 10007);
  const fs::path path = folder / "packed.gz";
  pack(path, text);
  const std::string packed = content(path);
  write(path, packed.substr(0, packed.size() / 2));
  CHECK_THROWS_WITH_AS(
      unpacked(path),
      (path.string() + ": cannot unpack: the gzip data ends too early: it is truncated").c_str(), IoError);
  std::string damaged = packed;
  for (std::size_t i = damaged.size() / 2; i < damaged.size() / 2 + 100; ++i)
    damaged[i] = static_cast<char>(~damaged[i]);
  write(path, damaged);
  CHECK_THROWS_WITH_AS(unpacked(path), (path.string() + ": cannot unpack: the gzip data is damaged").c_str(),
                       IoError);
}

}}  // namespace c3::files_test
