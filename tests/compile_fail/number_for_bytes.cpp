// A bare number cannot be passed where an amount of bytes is expected.

#include "engine/units.hpp"

void send(c3::Bytes size);

void call([[maybe_unused]] double number) {
#ifdef MUST_NOT_COMPILE
  send(number);
#endif
  send(c3::Bytes{number});
}
