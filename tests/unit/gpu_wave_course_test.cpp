// How many waves are left of a grid whose slots change on the way, worked out by hand.

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "gpu/wave_course.hpp"
#include "tests/support/near.hpp"

using namespace c3;
using namespace c3::test;

namespace {

using Counts = std::vector<std::int64_t>;

/// 20 work groups on two XCDs, whose four slots each take three waves.
WaveCourse three_waves() { return {20, 2, 3}; }

}  // namespace

TEST_CASE("waves of one placement end at equal parts of the progress") {
  const WaveCourse course = three_waves();
  CHECK(course.waves() == near(3.0));
  CHECK(course.done(0.3) == 0);
  CHECK(course.done(1.0 / 3.0) == 1);  // though rounding may leave it just below
  CHECK(course.into_wave(0.5) == near(0.5));
  CHECK(course.progress_after(2) == near(2.0 / 3.0));
  CHECK(course.left_after(2, Counts{4, 4}) == Counts{2, 2});
  CHECK(course.left_after(3, Counts{4, 4}) == Counts{0, 0});
  CHECK(course.stretch(3) == 1.0);
}

TEST_CASE("slots that are added in a wave begin waves of their own, for what is left") {
  WaveCourse course = three_waves();
  course.stop(0.5, Counts{4, 4});  // six are left on each XCD, four of them half done
  course.go_on(Counts{4, 4}, Counts{2, 2});
  CHECK(course.waves() == near(1.0));  // those that were added take a whole wave
  // Half of the kernel takes one wave, where six slots from the start would take it one of two.
  CHECK(course.stretch(2) == near(1.0));
  CHECK(course.left_after(0, Counts{6, 6}) == Counts{6, 6});
}

TEST_CASE("slots that were kept take what waits when their wave ends, before those that were added") {
  WaveCourse course(64, 1, 3);
  course.stop(0.39 / 3.0, Counts{31});
  course.go_on(Counts{31}, Counts{4});
  CHECK(course.waves() == near(1.61));  // 29 wait, for which the 31 are enough
  course = WaveCourse(64, 1, 3);
  course.stop(0.39 / 3.0, Counts{31});
  course.go_on(Counts{31}, Counts{1});
  CHECK(course.waves() == near(2.0));  // 32 wait: the last one goes to the slot that was added
}

TEST_CASE("who was taken off all slots goes on in whole waves on those that it gets") {
  WaveCourse course = three_waves();
  course.stop(1.0 / 3.0, Counts{4, 4});
  CHECK(course.left_after(0, Counts{0, 0}) == Counts{6, 6});
  course.go_on(Counts{0, 0}, Counts{2, 3});
  CHECK(course.waves() == near(3.0));  // six on two slots
  CHECK(course.done(1.0 / 3.0) == 0);
  CHECK(course.progress_after(3) == near(1.0));
  CHECK(course.stretch(3) == near(1.5));  // two thirds of the kernel take as long as a whole one
}
