/// Members of tar archives.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "files/io_error.hpp"
#include "files/tar_members.hpp"

namespace c3::files_tar_test {

namespace {

std::string header(const std::string& name, std::size_t size, char type = '0') {
  std::string block(512, '\0');
  block.replace(0, name.size(), name);
  block.replace(124, 11, fmt::format("{:011o}", size));
  block.replace(148, 8, "        ");
  block[156] = type;
  block.replace(257, 5, "ustar");
  unsigned sum = 0;
  for (const char byte : block)
    sum += static_cast<unsigned char>(byte);
  block.replace(148, 7, fmt::format("{:06o}", sum) + '\0');
  return block;
}

std::string member(const std::string& name, const std::string& content) {
  std::string padded = content;
  padded.resize((content.size() + 511) / 512 * 512, '\0');
  return header(name, content.size()) + padded;
}

TarMembers::Source source_of(std::string text) {
  return [text = std::move(text), at = std::size_t{0}](std::span<char> space) mutable {
    const std::size_t count = std::min({std::size_t{100}, space.size(), text.size() - at});
    std::copy_n(text.begin() + static_cast<std::ptrdiff_t>(at), count, space.begin());
    at += count;
    return count;
  };
}

using Members = std::vector<std::pair<std::string, std::string>>;

Members members_of(const std::string& archive) {
  TarMembers members(source_of(archive), "t.tar");
  Members found;
  std::string part(77, ' ');
  while (members.next()) {
    found.emplace_back(members.name(), "");
    for (std::size_t count = members.read(part); count > 0; count = members.read(part))
      found.back().second.append(part, 0, count);
  }
  return found;
}

}  // namespace

TEST_CASE("members of a tar archive are read in turn, directories passed over") {
  const std::string long_content(1000, 'x');
  const std::string archive = header("run/", 0, '5') + member("run/a", "hello") + member("run/empty", "") +
                              member("run/b", long_content) + std::string(1024, '\0');
  CHECK(members_of(archive) == Members{{"run/a", "hello"}, {"run/empty", ""}, {"run/b", long_content}});
  // What was not read of a member is passed over, and an archive may lack the zeros at its end.
  TarMembers members(source_of(member("a", long_content) + member("b", "y")), "t.tar");
  CHECK(members.next());
  CHECK(members.next());
  CHECK(members.name() == "b");
  CHECK_FALSE(members.next());
}

TEST_CASE("a tar archive that ends anywhere inside a member is refused") {
  const std::string whole = member("a", "hello");
  for (const std::size_t size : {std::size_t{1}, std::size_t{511}, std::size_t{512}, std::size_t{514}}) {
    CAPTURE(size);
    CHECK_THROWS_WITH_AS(members_of(whole.substr(0, size)),
                         "t.tar: cannot unpack: the tar archive ends too early: it is truncated", IoError);
  }
  CHECK(members_of("").empty());
}

TEST_CASE("a damaged header of a tar archive is refused") {
  for (const std::size_t at : {std::size_t{0}, std::size_t{124}, std::size_t{150}}) {
    std::string damaged = member("a", "hello");
    damaged[at] = '\xFF';
    CHECK_THROWS_WITH_AS(members_of(damaged), "t.tar: cannot unpack: a header of the tar archive is damaged",
                         IoError);
  }
}

}  // namespace c3::files_tar_test
