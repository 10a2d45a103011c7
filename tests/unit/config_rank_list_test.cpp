// Groups of ranks as people write them.

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

#include "configs/toml/rank_list.hpp"

namespace c3::config_rank_list_test {

TEST_CASE("ranges and ranks are read in their order, and written back shorter") {
  CHECK(parse_ranks("0-3,6") == std::vector<int>{0, 1, 2, 3, 6});
  CHECK(parse_ranks("9,0-1") == std::vector<int>{9, 0, 1});
  CHECK(ranks_text({0, 1, 2, 3, 6, 7, 9}) == "0-3,6,7,9");
  CHECK(ranks_text({3, 2, 1}) == "3,2,1");
  CHECK(ranks_text({}).empty());
}

TEST_CASE("what is no group of ranks is refused with what was expected") {
  CHECK_THROWS_WITH_AS(parse_ranks(""), "'' is no rank; expected ranks and ranges, as in 0-3,6",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(parse_ranks("1,"), "'' is no rank; expected ranks and ranges, as in 0-3,6",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(parse_ranks("3-1"), "no range '3-1'", std::invalid_argument);
  for (const char* text : {"a", "-1", "1-", "1--2", "1.5", "1048576", "99999999999", " 1"})
    CHECK_THROWS_AS(parse_ranks(text), std::invalid_argument);
  CHECK_THROWS_WITH_AS(parse_ranks("0-1048575,0-1048575"), "more ranks than there can be",
                       std::invalid_argument);
}

}  // namespace c3::config_rank_list_test
