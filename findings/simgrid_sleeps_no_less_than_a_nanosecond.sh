#!/usr/bin/env bash
# SimGrid (3.32) keeps time as a double in seconds, and executes work and sends messages that take a tenth of a
# nanosecond in just that. One would expect the same of an actor that sleeps, but whatever is longer than 0 and shorter
# than the option surf/precision (1 ns unless set) is stretched to it, without a warning:
#
# 1. 1,000 executions or messages of 0.1 ns take 100 ns, but 1,000 sleeps of 0.1 ns take 1,000 ns. So two programs that
#    differ only in whether they model a delay as a sleep or as work disagree tenfold.
# 2. The same goes for sleep_until, even though the date is after the present one, and for a wait that times out.
# 3. A sleep of a picosecond is a thousand times too long; one of 0 takes no time.
# 4. With surf/precision:1e-12 sleeps of 0.1 ns are right. SimGrid describes this option as the numerical precision of
#    simulated times, from which nobody would guess that it is the shortest sleep, too.
#
# It matters to who models clock cycles, issue slots or the gaps between packets of a fast link with sleeps.
#
# Seen on 2026-11-30 with python3-simgrid 3.32-2+b2 and libsimgrid3.32 3.32-2+b2, 1,000 times each:
#   execute 0.1 ns: 100.0 ns
#   message 0.1 ns: 100.0 ns
#   sleep_for 0.1 ns: 1000.0 ns
#   sleep_until 0.1 ns: 1000.0 ns
#   wait_for 0.1 ns: 1000.0 ns
#   sleep_for 0.001 ns: 1000.0 ns
#   sleep_for 0 ns: 0.0 ns
#   sleep_for 0.1 ns, surf/precision:1e-12: 100.0 ns
#
# Needs Debian 12 (amd64) with python3 and apt-get. Exits with 1 if any of this is no longer so.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
chmod 755 "$folder"  # for apt's own user
cd "$folder"

packages=(python3-simgrid=3.32-2+b2 libsimgrid3.32=3.32-2+b2 libboost-context1.74.0 libboost-stacktrace1.74.0
  libns3.37 libgsl27 libgslcblas0 libsqlite3-0 libgfortran5 libquadmath0)
apt-get -qq download "${packages[@]}"
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu PYTHONPATH=$folder/root/usr/lib/python3/dist-packages

cat >waits.py <<'P'
import sys

from simgrid import Actor, Engine, LinkInRoute, Mailbox, NetZone, TimeoutException, this_actor

TIMES = 1000
engine = Engine(["waits", "--log=root.thres:error", "--cfg=network/model:CM02", *sys.argv[2:]])
zone = NetZone.create_full_zone("zone")
one, other = (zone.create_host(name, 1e12).seal() for name in ("one", "other"))  # 1 Tflop/s
link = zone.create_link("link", 1e12).set_latency(1e-10).seal()
zone.add_route(one.netpoint, other.netpoint, None, None, [LinkInRoute(link)], True)
zone.seal()
box = Mailbox.by_name("box")


def times_out():
    try:
        endless.wait_for(1e-10)
    except TimeoutException:
        pass


waits = {
    "execute 0.1 ns": lambda: this_actor.execute(100),
    "message 0.1 ns": lambda: box.put("", 0),
    "sleep_for 0.1 ns": lambda: this_actor.sleep_for(1e-10),
    "sleep_until 0.1 ns": lambda: this_actor.sleep_until(Engine.clock + 1e-10),
    "wait_for 0.1 ns": times_out,
    "sleep_for 0.001 ns": lambda: this_actor.sleep_for(1e-12),
    "sleep_for 0 ns": lambda: this_actor.sleep_for(0),
}


def measure():
    global endless
    endless = this_actor.exec_init(1e15)
    endless.host = other
    endless.start()
    for name in [name for name in waits if name.startswith(sys.argv[1])]:
        start = Engine.clock
        for _ in range(TIMES):
            waits[name]()
        print(f"{', '.join([name, *(option[6:] for option in sys.argv[2:])])}: {1e9 * (Engine.clock - start):.1f} ns")


def receive():
    while True:
        box.get()


Actor.create("measure", one, measure)
Actor.create("receive", other, receive).daemonize()
engine.run()
P
show() { /usr/bin/python3 waits.py "$@" 2>notes || { cat notes >&2; exit 1; }; }
{
  show ""
  show "sleep_for 0.1" --cfg=surf/precision:1e-12
} | tee seen
cat >expected <<'T'
execute 0.1 ns: 100.0 ns
message 0.1 ns: 100.0 ns
sleep_for 0.1 ns: 1000.0 ns
sleep_until 0.1 ns: 1000.0 ns
wait_for 0.1 ns: 1000.0 ns
sleep_for 0.001 ns: 1000.0 ns
sleep_for 0 ns: 0.0 ns
sleep_for 0.1 ns, surf/precision:1e-12: 100.0 ns
T
diff expected seen && echo "as on 2026-11-30"
