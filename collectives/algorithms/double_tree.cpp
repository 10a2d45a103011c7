#include "collectives/algorithms/double_tree.hpp"

#include <algorithm>

namespace c3 { inline namespace collectives {

std::vector<int> InOrderTree::children(int number) const {
  std::vector<int> children;
  if (number == 0) {
    int top = 1;
    while (2 * top < size)
      top *= 2;
    if (top < size) children.push_back(top);
    return children;
  }
  int reach = (number & -number) / 2;
  if (reach == 0) return children;
  children.push_back(number - reach);
  while (reach > 0 && number + reach >= size)
    reach /= 2;
  if (reach > 0) children.push_back(number + reach);
  return children;
}

std::vector<int> nccl_numbering(const std::vector<int>& vertices, int tree) {
  std::vector<int> numbered = vertices;
  if (tree == 0) return numbered;
  if (numbered.size() % 2 == 0) {
    std::ranges::reverse(numbered);
  } else {
    std::ranges::rotate(numbered, numbered.begin() + 1);
  }
  return numbered;
}

std::vector<int> rooted_numbering(const std::vector<int>& vertices, int tree) {
  std::vector<int> numbered = vertices;
  if (tree == 0) return numbered;
  if (numbered.size() % 2 == 1) {
    std::reverse(numbered.begin() + 1, numbered.end());
  } else {
    std::rotate(numbered.begin() + 1, numbered.begin() + 2, numbered.end());
  }
  return numbered;
}

}}  // namespace c3::collectives
