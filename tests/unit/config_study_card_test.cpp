#include "configs/presets/study_card.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "files/io_error.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::config_study_card_test { namespace {

/// A folder of the user's, in which studies are looked for first.
class UserFolder {
 public:
  UserFolder() { setenv("C3SIM_CONFIGS", folder_.path().c_str(), 1); }
  UserFolder(const UserFolder&) = delete;
  UserFolder& operator=(const UserFolder&) = delete;
  ~UserFolder() { unsetenv("C3SIM_CONFIGS"); }

  std::string write(const std::string& name, std::string_view text) const {
    return folder_.write("studies/" + name, text);
  }

 private:
  ScratchFolder folder_;
};

StudyCard card_called(std::string_view name) {
  const std::vector<StudyCard> cards = study_cards();
  REQUIRE(std::ranges::is_sorted(cards, {}, &StudyCard::name));
  const auto found = std::ranges::find(cards, name, &StudyCard::name);
  REQUIRE(found != cards.end());
  return *found;
}

TEST_CASE("a card says what a study takes, and a folder without a card is no study") {
  const UserFolder user;
  user.write("mine/study.toml", R"(about = "Mine"
rows = true
page = false
[[measured]]
file = "a/b.csv"
what = "times"
)");
  user.write("notes/README.md", "no study");
  const StudyCard card = card_called("mine");
  CHECK(card.about == "Mine");
  CHECK(card.has_rows);
  CHECK_FALSE(card.has_page);
  CHECK_FALSE(card.has_draws);
  REQUIRE(card.measured.size() == 1);
  CHECK(card.measured.front().path == "a/b.csv");
  CHECK(card.measured.front().what == "times");
  CHECK(std::ranges::count(study_cards(), "notes", &StudyCard::name) == 0);
}

TEST_CASE("the user's folder is looked in before the shipped one, for cards and for files") {
  const std::string shipped = card_called("t3").about;
  const UserFolder user;
  user.write("t3/study.toml", "about = \"Another\"\n");
  const std::string mine = user.write("t3/one.toml", "");
  CHECK(shipped != "Another");
  CHECK(card_called("t3").about == "Another");
  CHECK(study_file("t3", "one.toml") == mine);
  CHECK(study_file("t3", "sublayers.csv") != mine);
  CHECK_THROWS_AS(study_file("t3", "none.csv"), IoError);
}

TEST_CASE("a broken card is refused with its place") {
  const UserFolder user;
  const std::string file = user.write("mine/study.toml", "about = \"Mine\"\nrow = true\n");
  CHECK_THROWS_WITH_AS(study_cards(), (file + ":2:1: row: unknown key; did you mean 'rows'?").c_str(),
                       ConfigError);
}

TEST_CASE("files that are not there are named, with what they are") {
  const ScratchFolder folder;
  folder.write("b.csv", "x");
  const StudyCard study{
      .name = "s", .about = "", .measured = {{"a.csv", "the first"}, {"b.csv", "the second"}}};
  const std::string text =
      folder.path().string() +
      ": cannot reproduce s: the measurements are not there: a.csv (the first); name their folder "
      "with --data or C3SIM_DATA";
  CHECK_THROWS_WITH_AS(check_measurements(study, folder.path()), text.c_str(), IoError);
}

}}  // namespace c3::config_study_card_test
