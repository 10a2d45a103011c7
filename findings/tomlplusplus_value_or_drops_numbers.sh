#!/usr/bin/env bash
# toml++ (3.3.0) reads a key as table["bytes"].value_or(0): the number of the file, or 0 where the key is not there. One
# would expect that a number that is there, and is valid TOML, is read, or that its loss is an error. But the literal
# chooses the type in which it is read, and what this type may not hold gives the default, as if the key were missing:
#
# 1. 0 is an int, so 80_000_000_000 bytes (the memory of a GPU) are read as 0, and 4_294_967_296 tokens, too.
# 2. value_or(0.0f) gives the default for integers beyond 2^24, and value_or(0.0) for those beyond 2^53, although
#    80_000_000_000 and 2^60 are exact in these types. Written as 8e10, the same number is read: the spelling decides.
# 3. An integer key that the file has as 0.5 or "16" gives the default as well, but 16.0 and true are read, as 16 and 1.
#
# So a wider machine, or another spelling of the same number, silently turns a configured value into a built-in one.
# What helps: value_or(std::int64_t{0}), or value_exact<T>() and an error of one's own where the key is there.
#
# Seen on 2026-11-30 with libtomlplusplus-dev 3.3.0+ds-1 and g++ of Debian 12:
#   memory = 80_000_000_000: value_or(7) is 7
#   memory = 80_000_000_000: value_or(7L) is 80000000000
#   memory = 80_000_000_000: value_or(7.0f) is 7
#   memory = 8e10: value_or(7.0f) is 80000000000
#   memory = 8e10: value_or(7) is 7
#   memory = 1_152_921_504_606_846_976: value_or(7.0) is 7
#   memory = 4_294_967_296: value_or(7) is 7
#   memory = 0.5: value_or(7) is 7
#   memory = "16": value_or(7) is 7
#   memory = 16.0: value_or(7) is 16
#   memory = true: value_or(7) is 1
#
# Needs Debian 12 (amd64) with g++ and apt-get. Exits with 1 if any of this is no longer so.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
chmod 755 "$folder"  # for apt's own user
cd "$folder"

apt-get -qq download libtomlplusplus-dev=3.3.0+ds-1
dpkg-deb -x ./*.deb root

cat >reads.cpp <<'C'
#include <toml++/toml.h>

#include <iostream>
#include <string>

#define SHOW(TEXT, DEFAULT)                                                                                            \
  std::cout << TEXT << ": value_or(" #DEFAULT ") is " << toml::parse(std::string(TEXT))["memory"].value_or(DEFAULT) \
            << '\n'

int main() {
  std::cout.precision(17);
  SHOW("memory = 80_000_000_000", 7);
  SHOW("memory = 80_000_000_000", 7L);
  SHOW("memory = 80_000_000_000", 7.0f);
  SHOW("memory = 8e10", 7.0f);
  SHOW("memory = 8e10", 7);
  SHOW("memory = 1_152_921_504_606_846_976", 7.0);
  SHOW("memory = 4_294_967_296", 7);
  SHOW("memory = 0.5", 7);
  SHOW("memory = \"16\"", 7);
  SHOW("memory = 16.0", 7);
  SHOW("memory = true", 7);
}
C
g++ -std=c++17 -DTOML_HEADER_ONLY=1 -isystem root/usr/include reads.cpp -o reads
./reads | tee seen
cat >expected <<'T'
memory = 80_000_000_000: value_or(7) is 7
memory = 80_000_000_000: value_or(7L) is 80000000000
memory = 80_000_000_000: value_or(7.0f) is 7
memory = 8e10: value_or(7.0f) is 80000000000
memory = 8e10: value_or(7) is 7
memory = 1_152_921_504_606_846_976: value_or(7.0) is 7
memory = 4_294_967_296: value_or(7) is 7
memory = 0.5: value_or(7) is 7
memory = "16": value_or(7) is 7
memory = 16.0: value_or(7) is 16
memory = true: value_or(7) is 1
T
diff expected seen && echo "as on 2026-11-30"
