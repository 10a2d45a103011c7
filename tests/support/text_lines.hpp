#pragma once
/// A text line by line, as tests look at it.

#include <sstream>
#include <string>
#include <vector>

namespace c3::test {

inline std::vector<std::string> lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> result;
  for (std::string line; std::getline(stream, line);)
    result.push_back(line);
  return result;
}

}  // namespace c3::test
