#pragma once
/// Two binary trees over the same vertices, so that who is inner in one is a leaf in the other.

#include <vector>

namespace c3 { inline namespace collectives {

/// Numbers 0 .. size-1: 0 on top with one child, below it a binary tree in order, in which a number's children
/// lie half its lowest set bit to both sides; so odd numbers are leaves.
struct InOrderTree {
  int size = 0;
  std::vector<int> children(int number) const;
};

/// Which of \p vertices has which number in tree 0 or 1.
/// NCCL's: the second tree is the first one mirrored (even count) or shifted by one (odd count), so that the
/// trees have different tops.
std::vector<int> nccl_numbering(const std::vector<int>& vertices, int tree);
/// The first of \p vertices tops both, those below are mirrored or shifted (Sanders, Speck, Träff, "Two-tree
/// algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing 35, 2009).
std::vector<int> rooted_numbering(const std::vector<int>& vertices, int tree);

}}  // namespace c3::collectives
