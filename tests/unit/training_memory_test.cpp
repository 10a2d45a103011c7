// Addresses of tensors, and what a GPU holds when it holds most.

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/support/print_units.hpp"
#include "workloads/training/memory_ledger.hpp"
#include "workloads/training/memory_pool.hpp"

namespace c3::training_memory_test {

using namespace literals;

namespace {

constexpr double kBlock = 512.0;
Bytes blocks(int count) { return Bytes{kBlock * count}; }

constexpr MemoryPool::Address kPage = 20 << 20;  // of the ledger's pools
Bytes pages(int count) { return Bytes{static_cast<double>(kPage) * count}; }

/// The same rules on an array of blocks, of which each is free or not.
class BlockArray {
 public:
  explicit BlockArray(std::size_t page) : page_(page) {}

  std::size_t allocate(std::size_t size) {
    std::size_t best = taken_.size(), best_size = SIZE_MAX;
    for (std::size_t at = 0; at < taken_.size();) {
      std::size_t end = at;
      while (end < taken_.size() && !taken_[end])
        ++end;
      const std::size_t hole = end - at;
      if (hole >= size && hole < best_size && end < taken_.size())
        std::tie(best, best_size) = std::pair(at, hole);
      at = end + 1;
    }
    if (best_size == SIZE_MAX) {
      while (best > 0 && !taken_[best - 1])
        --best;
      taken_.resize(std::max(taken_.size(), (best + size + page_ - 1) / page_ * page_));
    }
    std::fill_n(taken_.begin() + static_cast<std::ptrdiff_t>(best), size, true);
    return best;
  }
  void release(std::size_t at, std::size_t size) {
    std::fill_n(taken_.begin() + static_cast<std::ptrdiff_t>(at), size, false);
  }
  std::size_t size() const { return taken_.size(); }
  /// Blocks of pages that are not free.
  std::size_t held() const {
    std::size_t blocks = 0;
    for (auto page = taken_.begin(); page != taken_.end(); page += static_cast<std::ptrdiff_t>(page_)) {
      if (std::find(page, page + static_cast<std::ptrdiff_t>(page_), true) !=
          page + static_cast<std::ptrdiff_t>(page_))
        blocks += page_;
    }
    return blocks;
  }

 private:
  std::size_t page_;
  std::vector<bool> taken_;
};

}  // namespace

TEST_CASE("a tensor gets the smallest free block that it fits in, the first of equal ones") {
  // a 4 | b 1 | c 2 | d 1 | e 2 | f 1, in blocks. Holes of 4, 2 and 2: one block goes to the first hole of two
  // and leaves one behind it, into which the next one fits best.
  MemoryPool pool;
  const auto a = pool.allocate(blocks(4));
  pool.allocate(blocks(1));
  const auto c = pool.allocate(blocks(2));
  pool.allocate(blocks(1));
  const auto e = pool.allocate(blocks(2));
  pool.allocate(blocks(1));
  for (const auto hole : {a, c, e})
    pool.release(hole);
  CHECK(pool.allocate(blocks(1)) == 5 * 512);
  CHECK(pool.allocate(blocks(1)) == 6 * 512);
  CHECK(pool.allocate(blocks(2)) == 8 * 512);
  CHECK(pool.allocate(blocks(3)) == 0);
  CHECK(pool.reserved() == blocks(11));
}

TEST_CASE("the free end, which can grow, is taken when no other hole fits") {
  // a 5 | b 1 | c 2: without a and c, 2 blocks fit best at the end, which would be in the way of what grows
  // there.
  MemoryPool pool;
  const auto a = pool.allocate(blocks(5));
  pool.allocate(blocks(1));
  const auto c = pool.allocate(blocks(2));
  pool.release(a);
  pool.release(c);
  CHECK(pool.allocate(blocks(2)) == 0);
  CHECK(pool.allocate(blocks(4)) == 6 * 512);
  CHECK(pool.reserved() == blocks(10));
}

TEST_CASE("free neighbours become one block, whichever of them is released last") {
  for (const std::vector<int>& order : {std::vector{0, 1, 2}, {2, 1, 0}, {0, 2, 1}}) {
    MemoryPool pool;
    std::vector<MemoryPool::Address> tensors;
    for (int i = 0; i < 3; ++i)
      tensors.push_back(pool.allocate(blocks(1)));
    pool.allocate(blocks(1));
    for (const int i : order)
      pool.release(tensors[static_cast<std::size_t>(i)]);
    CHECK(pool.allocate(blocks(3)) == 0);
    CHECK(pool.reserved() == blocks(4));
  }
}

TEST_CASE("what is free at the end grows by what is missing, what is free before a tensor does not") {
  MemoryPool pool;
  const auto first = pool.allocate(blocks(2));
  const auto last = pool.allocate(blocks(3));
  pool.release(last);
  CHECK(pool.allocate(blocks(5)) == 2 * 512);
  CHECK(pool.reserved() == blocks(7));
  pool.release(first);
  CHECK(pool.allocate(blocks(3)) == 7 * 512);
  CHECK(pool.reserved() == blocks(10));
}

TEST_CASE("sizes are rounded up to 512 bytes, and nothing takes a block as well") {
  MemoryPool pool;
  CHECK(pool.allocate(Bytes{1}) == 0);
  CHECK(pool.allocate(Bytes{513}) == 512);
  CHECK(pool.allocate(Bytes{0}) == 3 * 512);
  CHECK(pool.allocate(Bytes{512}) == 4 * 512);
}

TEST_CASE("a pool grows by whole pages, and cannot give back those that a tensor is on") {
  // Pages of 8 blocks. a has pages 0, 1 and half of 2, where b is, too. Without a, pages 0 and 1 are free; c
  // takes some of page 0.
  MemoryPool pool(8 * 512);
  const auto a = pool.allocate(blocks(20));
  CHECK(pool.reserved() == blocks(24));
  CHECK(pool.held() == blocks(24));
  pool.allocate(blocks(4));
  CHECK(pool.reserved() == blocks(24));
  pool.release(a);
  CHECK(pool.held() == blocks(8));
  pool.allocate(blocks(3));
  CHECK(pool.held() == blocks(16));
  CHECK(pool.reserved() == blocks(24));
}

TEST_CASE("what a larger tensor finds no place in is reserved, and not held") {
  // a's 4 blocks are free when 5 are asked for behind b: 10 are reserved, and 6 are in use.
  MemoryPool pool;
  const auto a = pool.allocate(blocks(4));
  pool.allocate(blocks(1));
  pool.release(a);
  pool.allocate(blocks(5));
  CHECK(pool.reserved() == blocks(10));
  CHECK(pool.held() == blocks(6));
}

TEST_CASE("property: a pool is an array of blocks, of which the best hole is taken") {
  CHECK(rc::check([](const std::vector<std::uint8_t>& choices, bool has_pages) {
    const std::size_t page = has_pages ? 4 : 1;
    MemoryPool pool(page * 512);
    BlockArray array(page);
    std::vector<std::pair<std::size_t, std::size_t>> live;  // block and size
    for (const std::uint8_t choice : choices) {
      if (choice >= 112 && !live.empty()) {
        const auto which = live.begin() + choice % static_cast<int>(live.size());
        pool.release(which->first * 512);
        array.release(which->first, which->second);
        live.erase(which);
        continue;
      }
      const std::size_t size = 1 + choice % 7;
      const std::size_t at = array.allocate(size);
      RC_ASSERT(pool.allocate(blocks(static_cast<int>(size))) == at * 512);
      RC_ASSERT(pool.reserved() == blocks(static_cast<int>(array.size())));
      RC_ASSERT(pool.held() == blocks(static_cast<int>(array.held())));
      live.emplace_back(at, size);
    }
  }));
}

TEST_CASE("the peak is what was in use at once, by class and by name, at the moment that it is named after") {
  // 100 weights and twice 10 of "x" are 120 at "forward", before one of them goes: no later moment has as much.
  MemoryLedger ledger;
  ledger.set_moment("start");
  ledger.allocate(0, MemoryClass::weights, "parameters", Bytes{100});
  ledger.release(ledger.allocate(1, MemoryClass::communication, "gone by then", Bytes{19}));
  ledger.set_moment("forward");
  const auto x = ledger.allocate(0, MemoryClass::activations, "x", Bytes{10});
  ledger.allocate(1, MemoryClass::activations, "x", Bytes{10});
  ledger.release(x);
  ledger.set_moment("backward");
  ledger.allocate(0, MemoryClass::gradients, "of layers", Bytes{5});
  ledger.allocate(0, MemoryClass::gradients, "of layers", Bytes{5});
  CHECK(ledger.in_use() == Bytes{120});
  const MemoryPeak peak = ledger.peak();
  CHECK(peak.bytes == Bytes{120});
  CHECK(peak.moment == "forward");
  CHECK(peak.of(MemoryClass::weights) == Bytes{100});
  CHECK(peak.of(MemoryClass::activations) == Bytes{20});
  CHECK(peak.of(MemoryClass::gradients) == Bytes{0});
  CHECK(peak.of(MemoryClass::communication) == Bytes{0});
  CHECK(peak.tenants == std::vector<MemoryTenant>{{"parameters", MemoryClass::weights, Bytes{100}},
                                                  {"x", MemoryClass::activations, Bytes{20}}});
  // Two pools of a page.
  CHECK(peak.reserved == pages(2));
  CHECK(peak.held == pages(2));
}

TEST_CASE("moments are the highest of each range, by class, and the highest of them is the peak") {
  // start: 100, then 119, then 100 again. forward: 110, 120, then 110. backward: from 110 to 115 and, when x is
  // let go, 105; its release later changes nothing. An empty range holds what is there.
  MemoryLedger ledger;
  ledger.set_moment("start");
  ledger.allocate(0, MemoryClass::weights, "parameters", Bytes{100});
  ledger.release(ledger.allocate(1, MemoryClass::communication, "gone by then", Bytes{19}));
  ledger.set_moment("forward");
  const auto x = ledger.allocate(0, MemoryClass::activations, "x", Bytes{10});
  ledger.release(ledger.allocate(1, MemoryClass::activations, "y", Bytes{10}));
  ledger.set_moment("backward");
  ledger.allocate(0, MemoryClass::gradients, "of layers", Bytes{5});
  ledger.let_go(x);
  ledger.set_moment("empty");
  ledger.set_moment("end");
  ledger.release(x);
  ledger.set_moment("after");
  const std::vector<MemoryMoment> moments = ledger.moments();
  REQUIRE(moments.size() == 6);
  const std::vector<std::pair<std::string, Bytes>> highest = {{"start", Bytes{119}},    {"forward", Bytes{120}},
                                                              {"backward", Bytes{115}}, {"empty", Bytes{105}},
                                                              {"end", Bytes{105}},      {"after", Bytes{105}}};
  for (std::size_t i = 0; i < moments.size(); ++i) {
    CHECK(moments[i].name == highest[i].first);
    CHECK(moments[i].bytes == highest[i].second);
  }
  CHECK(moments[0].of(MemoryClass::communication) == Bytes{19});
  CHECK(moments[1].of(MemoryClass::communication) == Bytes{0});
  CHECK(moments[1].of(MemoryClass::activations) == Bytes{20});
  CHECK(moments[2].of(MemoryClass::gradients) == Bytes{5});
  CHECK(ledger.peak().bytes == moments[1].bytes);
  CHECK(ledger.peak().moment == moments[1].name);
}

TEST_CASE("what the first step's optimizer makes stands in the way of the next step") {
  // Places in pages: a 4 | b 2, then without a: b 2 | c 5 behind b, 11 in all. Moments of one page get the
  // first. The next step has a from 1 to 5, b from 5 to 7, and c finds 4 free at either side of b: 12 in
  // all. In use at most are moments, b and c.
  MemoryLedger ledger;
  ledger.allocate_late(0, MemoryClass::optimizer, "moments", pages(1));
  ledger.begin_step();
  const auto a = ledger.allocate(0, MemoryClass::activations, "a", pages(4));
  const auto b = ledger.allocate(0, MemoryClass::activations, "b", pages(2));
  ledger.release(a);
  const auto c = ledger.allocate(0, MemoryClass::activations, "c", pages(5));
  ledger.release(b);
  ledger.release(c);
  CHECK(ledger.peak().bytes == pages(8));
  CHECK(ledger.peak().held == pages(8));
  CHECK(ledger.peak().reserved == pages(12));
}

TEST_CASE("what a step leaves behind goes when the next begins, and what was there before stays") {
  MemoryLedger ledger;
  ledger.allocate(0, MemoryClass::weights, "parameters", pages(2));
  ledger.begin_step();
  ledger.allocate(0, MemoryClass::gradients, "of layers", pages(3));
  CHECK(ledger.peak().reserved == pages(5));
  CHECK(ledger.peak().held == pages(5));
}

TEST_CASE("a tensor that is released twice is a bug that names it") {
  MemoryLedger ledger;
  const auto tensor = ledger.allocate(0, MemoryClass::weights, "parameters", Bytes{1});
  ledger.release(tensor);
  CHECK_THROWS_WITH_AS(ledger.release(tensor), "MemoryLedger: 'parameters' is released twice",
                       std::logic_error);
}

TEST_CASE("a tensor that is let go keeps its place, which counts as reserved and not as held") {
  MemoryLedger ledger;
  ledger.begin_step();
  const auto a = ledger.allocate(0, MemoryClass::weights, "a", pages(3));
  ledger.let_go(a);
  CHECK(ledger.in_use() == Bytes{});
  const auto b = ledger.allocate(0, MemoryClass::weights, "b", pages(4));
  ledger.release(a);
  ledger.release(b);
  CHECK(ledger.in_use() == Bytes{});
  CHECK(ledger.peak().bytes == pages(4));
  CHECK(ledger.peak().held == pages(4));
  CHECK(ledger.peak().reserved == pages(7));
  CHECK_THROWS_WITH_AS(ledger.let_go(a), "MemoryLedger: 'a' is let go twice", std::logic_error);
}

}  // namespace c3::training_memory_test
