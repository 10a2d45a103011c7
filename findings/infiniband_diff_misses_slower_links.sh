#!/usr/bin/env bash
# ibnetdiscover and iblinkinfo (infiniband-diags 44.0) keep a fabric in a file (--cache) and later list what has changed
# (--diff), which makes them the natural check that a cluster is still as it was when its collectives were measured. The
# commonest fault of a link is that it comes back slower, and both tools print each link's width and speed. One would
# expect the difference to show. But:
#
# 1. A link of 4 lanes at QDR that is 1 lane at SDR now, a sixteenth of the rate, is no difference: both print nothing,
#    with the checks that they make by themselves and with all that --diffcheck offers. Their plain output has it.
# 2. A link that is gone is printed by both, with a "<" before each of its ends.
# 3. The exit code is 0 in all cases, unlike that of diff.
#
# The manual pages list what is compared (switches, adapters, routers, ports, LIDs, descriptions; iblinkinfo: states),
# and do not say that a port's rate is no part of "port".
#
# Seen on 2026-11-30 with infiniband-diags 44.0-2, over a fabric of ibsim 0.10-2 with two leaves and two spines:
#   as it was: ibnetdiscover exit 0, 0 lines; iblinkinfo exit 0, 0 lines
#   a link at a sixteenth of its rate: ibnetdiscover exit 0, 0 lines; iblinkinfo exit 0, 0 lines
#   the same, all checks: ibnetdiscover exit 0, 0 lines; iblinkinfo exit 0, 0 lines
#   a link less: ibnetdiscover exit 0, 2 ends gone; iblinkinfo exit 0, 2 ends gone
#   plain output: 2 lines of ibnetdiscover with 1xSDR
#
# Needs Debian 12 (amd64) with apt-get. Exits with 1 if any of this is no longer so.
set -euo pipefail

folder=$(mktemp -d)
fabric=
cleanup() {
  [[ -z $fabric ]] || kill "$fabric" 2>/dev/null || true
  rm -rf -- "$folder"
}
trap cleanup EXIT
chmod 755 "$folder"  # for apt's own user
cd "$folder"

apt-get -qq download infiniband-diags=44.0-2 libibumad3=44.0-2 libibmad5=44.0-2 libibnetdisc5=44.0-2 \
  ibsim-utils=0.10-2 libumad2sim0=0.10-2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
libraries=$folder/root/usr/lib/x86_64-linux-gnu

# net RATE: the fabric, its link from leaf1 to spine1 at RATE
net() {
  local rate=$1
  printf 'Switch 36 "leaf1"\n[1] "node01"[1] # "n" lid 0 4xQDR\n[33] "spine1"[1] # "n" lid 0 %s\n' "$rate"
  [[ $2 == less ]] || printf '[34] "spine2"[1] # "n" lid 0 4xQDR\n'
  printf '\nSwitch 36 "leaf2"\n[1] "node02"[1] # "n" lid 0 4xQDR\n'
  printf '[33] "spine1"[2] # "n" lid 0 4xQDR\n[34] "spine2"[2] # "n" lid 0 4xQDR\n'
  printf '\nSwitch 36 "spine1"\n[1] "leaf1"[33] # "n" lid 0 %s\n[2] "leaf2"[33] # "n" lid 0 4xQDR\n' "$rate"
  printf '\nSwitch 36 "spine2"\n'
  [[ $2 == less ]] || printf '[1] "leaf1"[34] # "n" lid 0 4xQDR\n'
  printf '[2] "leaf2"[34] # "n" lid 0 4xQDR\n'
  printf '\nHca 1 "node01"\n[1] "leaf1"[1] # "n" lid 0 4xQDR\n\nHca 1 "node02"\n[1] "leaf2"[1] # "n" lid 0 4xQDR\n'
}

# tool NAME ARGUMENT...: runs a tool of infiniband-diags on node01 of the fabric that is up
tool() {
  local name=$1
  shift
  LD_LIBRARY_PATH=$libraries LD_PRELOAD=$libraries/umad2sim/libumad2sim.so SIM_HOST=node01 \
    "root/usr/sbin/$name" "$@"
}

# with_fabric RATE LINKS: takes the fabric down that is up, and puts this one in its place
with_fabric() {
  if [[ -n $fabric ]]; then
    kill "$fabric"
    wait "$fabric" 2>/dev/null || true
  fi
  net "$@" >fabric.net
  tail -f /dev/null --pid=$$ | LD_LIBRARY_PATH=$libraries exec root/usr/bin/ibsim -s -n fabric.net >ibsim.log 2>&1 &
  fabric=$!
  for _ in {1..50}; do
    tool ibnetdiscover >plain.txt 2>/dev/null && return
    sleep 0.1
  done
  cat ibsim.log
  exit 1
}

# differences WHAT EXPECTED [ARGUMENT...]: what both tools say against the cache, and whether it is EXPECTED
differences() {
  local what=$1 expected=$2 name found='' code
  shift 2
  for name in ibnetdiscover iblinkinfo; do
    code=0
    tool "$name" --diff fabric.cache "$@" >found.txt 2>/dev/null || code=$?
    if grep -q '^<' found.txt; then
      found+="$name exit $code, $(grep -c '^<' found.txt) ends gone; "
    else
      found+="$name exit $code, $(wc -l <found.txt) lines; "
    fi
  done
  found=${found%; }
  printf '%s: %s\n' "$what" "$found"
  [[ $found == "$expected" ]] || { printf 'expected: %s\n' "$expected" >&2 && exit 1; }
}

nothing='ibnetdiscover exit 0, 0 lines; iblinkinfo exit 0, 0 lines'
with_fabric 4xQDR all
tool ibnetdiscover --cache fabric.cache >/dev/null
differences 'as it was' "$nothing"
with_fabric 1xSDR all
differences 'a link at a sixteenth of its rate' "$nothing"
[[ $(grep -c 1xSDR plain.txt) == 2 ]]
plain="plain output: $(grep -c 1xSDR plain.txt) lines of ibnetdiscover with 1xSDR"
found=''
for call in 'ibnetdiscover sw,ca,router,port,lid,nodedesc' 'iblinkinfo port,state,lid,nodedesc'; do
  read -r name checks <<<"$call"
  code=0
  tool "$name" --diff fabric.cache --diffcheck "$checks" >found.txt 2>/dev/null || code=$?
  found+="$name exit $code, $(wc -l <found.txt) lines; "
done
printf 'the same, all checks: %s\n' "${found%; }"
[[ ${found%; } == "$nothing" ]]
with_fabric 4xQDR less
differences 'a link less' 'ibnetdiscover exit 0, 2 ends gone; iblinkinfo exit 0, 2 ends gone'
printf '%s\n' "$plain"
