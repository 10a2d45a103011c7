// A duration cannot be passed where an amount of bytes is expected.

#include "engine/units.hpp"

void send(c3::Bytes size);

void call([[maybe_unused]] c3::Seconds duration, c3::Bytes size) {
#ifdef MUST_NOT_COMPILE
  send(duration);
#endif
  send(size);
}
