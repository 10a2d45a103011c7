#!/usr/bin/env bash
# Names of nodes in brackets, such as x[1-2]c[0-1]s[0-1] for cabinet, chassis and slot, stand for all combinations. One
# would expect them in the order of nested loops, the last bracket running fastest, and the same from Slurm (22.05) as
# from ClusterShell (1.9.1), whose nodeset prints such lists for the same clusters. Both give the same names, but:
#
# 1. With two brackets both count like nested loops. With three, Slurm runs through the last bracket, then through the
#    first, then through the second: the third node in the list is in the next cabinet, not in the next chassis.
# 2. Slurm keeps the order within a bracket, [3,1-2], and names that are there twice; nodeset sorts and joins them.
# 3. A range takes its width from the first number in Slurm, so that [8-010] is 8, 9, 10; nodeset refuses it.
#
# Neither says anything of this. Who numbers ranks by the place of their node in the list, or fills the leaves of a
# simulated network from it, puts them on other nodes than the tool that expanded the same text in another way.
#
# Seen on 2026-11-30 with slurm-client 22.05.8-4+deb12u3 and clustershell 1.9.1-1:
#   x[1-2]c[0-1]
#     scontrol: x1c0 x1c1 x2c0 x2c1
#     nodeset: x1c0 x1c1 x2c0 x2c1
#   x[1-2]c[0-1]s[0-1]
#     scontrol: x1c0s0 x1c0s1 x2c0s0 x2c0s1 x1c1s0 x1c1s1 x2c1s0 x2c1s1
#     nodeset: x1c0s0 x1c0s1 x1c1s0 x1c1s1 x2c0s0 x2c0s1 x2c1s0 x2c1s1
#   n[3,1-2],n1
#     scontrol: n3 n1 n2 n1
#     nodeset: n1 n2 n3
#   n[8-010]
#     scontrol: n8 n9 n10
#     nodeset: refused
#
# Needs Debian 12 (amd64) with python3 and apt-get. Exits with 1 if any of this is no longer so.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
chmod 755 "$folder"  # for apt's own user
cd "$folder"

packages=(slurm-client=22.05.8-4+deb12u3 slurm-wlm-basic-plugins=22.05.8-4+deb12u3 libreadline8
  clustershell=1.9.1-1 python3-clustershell=1.9.1-1 python3-yaml libyaml-0-2)
apt-get -qq download "${packages[@]}"
for package in ./*.deb; do dpkg-deb -x "$package" root; done
libraries=$folder/root/usr/lib/x86_64-linux-gnu
export LD_LIBRARY_PATH=$libraries:$libraries/slurm-wlm:$folder/root/lib/x86_64-linux-gnu
export PYTHONPATH=$folder/root/usr/lib/python3/dist-packages

# scontrol reads a configuration before it does anything, but asks no daemon to expand names.
export SLURM_CONF=$folder/slurm.conf
cat >"$SLURM_CONF" <<C
ClusterName=none
SlurmctldHost=localhost
PluginDir=$libraries/slurm-wlm
C

in_slurm() { root/usr/bin/scontrol show hostnames "$1" | paste -sd' '; }
in_clustershell() {
  /usr/bin/python3 root/usr/bin/nodeset -e "$1" 2>notes || { grep -q 'Parse error' notes && echo refused; }
}

for names in 'x[1-2]c[0-1]' 'x[1-2]c[0-1]s[0-1]' 'n[3,1-2],n1' 'n[8-010]'; do
  echo "$names"
  echo "  scontrol: $(in_slurm "$names")"
  echo "  nodeset: $(in_clustershell "$names")"
done | tee seen
cat >expected <<'T'
x[1-2]c[0-1]
  scontrol: x1c0 x1c1 x2c0 x2c1
  nodeset: x1c0 x1c1 x2c0 x2c1
x[1-2]c[0-1]s[0-1]
  scontrol: x1c0s0 x1c0s1 x2c0s0 x2c0s1 x1c1s0 x1c1s1 x2c1s0 x2c1s1
  nodeset: x1c0s0 x1c0s1 x1c1s0 x1c1s1 x2c0s0 x2c0s1 x2c1s0 x2c1s1
n[3,1-2],n1
  scontrol: n3 n1 n2 n1
  nodeset: n1 n2 n3
n[8-010]
  scontrol: n8 n9 n10
  nodeset: refused
T
diff expected seen && echo "as on 2026-11-30"
