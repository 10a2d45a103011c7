// How many waves are left of a grid whose slots change on the way, worked out by hand.

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "gpu/wave_course.hpp"
#include "tests/support/near.hpp"

namespace c3::gpu_wave_course_test {

using namespace test;

namespace {

using Counts = std::vector<std::int64_t>;

/// 20 work groups on two XCDs, whose four slots each take three waves.
WaveCourse three_waves() { return {20, 3, Counts{4, 4}}; }

}  // namespace

TEST_CASE("waves of one placement end at equal parts of the progress") {
  const WaveCourse course = three_waves();
  CHECK(course.waves() == near(3.0));
  CHECK(course.done(0.3) == 0);
  CHECK(course.done(1.0 / 3.0) == 1);  // though rounding may leave it just below
  CHECK(course.into_wave(0.5) == near(0.5));
  CHECK(course.progress_after(2) == near(2.0 / 3.0));
  CHECK(course.is_whole());
}

TEST_CASE("a last wave that does not fill its slots is shorter, by as much as work groups share") {
  WaveCourse course = three_waves();
  course.set_end(1.0, 0.0);  // on each XCD the last wave is two work groups on four slots
  CHECK(course.progress_after(1) == near(0.4));
  CHECK(course.progress_after(2) == near(0.8));
  CHECK(course.progress_after(3) == near(1.0));
  CHECK(course.done(0.79) == 1);
  CHECK(course.into_wave(0.9) == near(0.5));
  course.set_end(0.5, 0.25);  // half as much shorter, and a tail
  CHECK(course.progress_after(2) == near(2.0 / 3.0));
  course.stop(2.0 / 3.0 + 0.5 / 3.0);
  CHECK(course.left() == Counts{2, 2});
}

TEST_CASE("slots that are added in a wave begin waves of their own, for what is left") {
  WaveCourse course = three_waves();
  course.stop(0.5);  // six are left on each XCD, four of them half done
  CHECK(course.left() == Counts{6, 6});
  course.go_on(Counts{4, 4}, Counts{2, 2});
  CHECK(course.waves() == near(1.0));  // those that were added take a whole wave
  const WaveCourse::Rest rest = course.rest(1);
  CHECK(rest.occupancy == Occupancy{.resident = 12, .waves = 1, .first = 4, .last = 12});
  CHECK(rest.waits == near(2.0));       // half of the kernel takes one wave
  CHECK(rest.arithmetic == near(2.0));  // each has a CU of its own
  course.stop(0.75);
  CHECK(course.left() == Counts{2, 2});  // those that were kept have ended, for they were half done
}

TEST_CASE("slots that were kept take what waits when their wave ends, before those that were added") {
  WaveCourse course(64, 3, Counts{31});
  course.stop(0.39 / 3.0);
  course.go_on(Counts{31}, Counts{4});
  CHECK(course.waves() == near(1.61));  // 29 wait, for which the 31 are enough
  course = WaveCourse(64, 3, Counts{31});
  course.stop(0.39 / 3.0);
  course.go_on(Counts{31}, Counts{1});
  CHECK(course.waves() == near(2.0));  // 32 wait: the last one goes to the slot that was added
}

TEST_CASE("who was taken off all slots goes on in whole waves on those that it gets") {
  WaveCourse course = three_waves();
  course.stop(1.0 / 3.0);
  CHECK(course.left() == Counts{6, 6});
  course.go_on(Counts{0, 0}, Counts{2, 3});
  CHECK_FALSE(course.is_whole());
  CHECK(course.waves() == near(3.0));  // six on two slots
  CHECK(course.done(1.0 / 3.0) == 0);
  CHECK(course.progress_after(3) == near(1.0));
  const WaveCourse::Rest rest = course.rest(2);
  CHECK(rest.occupancy.waves == 3);
  CHECK(rest.occupancy.resident == 5);
  CHECK(rest.waits == near(1.5));  // two thirds of the kernel take as long as a whole one
}

}  // namespace c3::gpu_wave_course_test
