#!/usr/bin/env bash
# h5diff (HDF5 1.10.8) compares two files and exits with 0 "if no differences", which makes it the natural check that a
# program still writes the same results. One would expect its answer to depend on what a reader of the files sees. But:
#
# 1. An enum is compared by its numbers, whatever they are called. A column of kernels that is "gemm, copy" in one file
#    and "copy, gemm" in the other is alike, without a note, where the names changed their numbers; and the same names
#    with other numbers are differences, though h5dump and readers of the names see the same data.
# 2. Columns of a compound are compared by their place. If "start" and "end" change places, 1 and 2 stay 1 and 2.
# 3. A table with one more row, integers in place of floating-point numbers, another sign or one more column of a
#    compound are "not comparable": exit 0, with a note that says how to list them, or with -q without any.
# 4. What is in one file only makes it exit with 1, but prints nothing.
#
# Its help tells how to list what is not comparable, and not that this counts as no difference.
#
# Seen on 2026-11-30 with hdf5-tools 1.10.8+repack1-1, files by python3-h5py 3.7.0-8:
#   other names, same numbers: exit 0 and prints nothing
#   same names, other numbers: exit 1 and prints 2 lines
#   start and end change places: exit 0 and prints nothing
#   one more row: exit 0 and prints a note
#   integers for floating point: exit 0 and prints a note
#   unsigned for signed: exit 0 and prints a note
#   one more column in a compound: exit 0 and prints a note
#   one more row, with -q: exit 0 and prints nothing
#   one more dataset: exit 1 and prints nothing
#
# Needs Debian 12 (amd64) with python3 and apt-get. Exits with 1 if any of this is no longer so.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
chmod 755 "$folder"  # for apt's own user
cd "$folder"

packages=(hdf5-tools=1.10.8+repack1-1 libhdf5-103-1=1.10.8+repack1-1 libhdf5-hl-100=1.10.8+repack1-1
  python3-h5py=3.7.0-8 python3-h5py-serial=3.7.0-8 python3-numpy python3-pkg-resources
  libaec0 libsz2 liblzf1 libblas3 liblapack3 libgfortran5 libquadmath0 libcurl4 libbrotli1 libnghttp2-14 libpsl5
  librtmp1 libssh2-1 libssl3 libldap-2.5-0 libsasl2-2 libgssapi-krb5-2 libkrb5-3 libk5crypto3 libkrb5support0
  libkeyutils1)
apt-get -qq download "${packages[@]}"
for package in ./*.deb; do dpkg-deb -x "$package" root; done
libraries=$folder/root/usr/lib/x86_64-linux-gnu
export LD_LIBRARY_PATH=$libraries:$libraries/blas:$libraries/lapack:$folder/root/lib/x86_64-linux-gnu
export PYTHONPATH=$folder/root/usr/lib/python3/dist-packages

cat >writes.py <<'P'
import h5py
import numpy


def write(path, values, kind=None, **more):
    with h5py.File(path, "w") as file:
        for name, content in {"column": values, **more}.items():
            file.create_dataset(name, data=content, dtype=kind)


gemm_first, copy_first = (h5py.enum_dtype(names, "i1") for names in ({"gemm": 0, "copy": 1}, {"copy": 0, "gemm": 1}))
write("gemm_copy.h5", numpy.int8([0, 1]), gemm_first)
write("copy_gemm.h5", numpy.int8([0, 1]), copy_first)
write("gemm_copy_too.h5", numpy.int8([1, 0]), copy_first)
for path, names in {"start_end.h5": ["start", "end"], "end_start.h5": ["end", "start"]}.items():
    write(path, numpy.array([(1.0, 2.0)], [(name, "f8") for name in names]))
write("start_end_gpu.h5", numpy.array([(1.0, 2.0, 3)], [("start", "f8"), ("end", "f8"), ("gpu", "i4")]))
write("floats.h5", numpy.float64([0, 1]))
write("three_floats.h5", numpy.float64([0, 1, 2]))
write("integers.h5", numpy.int64([0, 7]))
write("unsigned.h5", numpy.uint64([0, 8]))
write("floats_and_more.h5", numpy.float64([0, 1]), more=numpy.float64([2]))
P
/usr/bin/python3 writes.py

compare() {
  local text=$1 status=0
  shift
  root/usr/bin/h5diff "$@" >printed 2>&1 || status=$?
  echo "$text: exit $status and prints $(
    awk '/not comparable/ {note = 1} END {print NR == 0 ? "nothing" : note ? "a note" : NR " lines"}' printed
  )"
}
{
  compare "other names, same numbers" gemm_copy.h5 copy_gemm.h5
  compare "same names, other numbers" gemm_copy.h5 gemm_copy_too.h5
  compare "start and end change places" start_end.h5 end_start.h5
  compare "one more row" floats.h5 three_floats.h5
  compare "integers for floating point" floats.h5 integers.h5
  compare "unsigned for signed" integers.h5 unsigned.h5
  compare "one more column in a compound" start_end.h5 start_end_gpu.h5
  compare "one more row, with -q" -q floats.h5 three_floats.h5
  compare "one more dataset" floats.h5 floats_and_more.h5
} | tee seen
cat >expected <<'T'
other names, same numbers: exit 0 and prints nothing
same names, other numbers: exit 1 and prints 2 lines
start and end change places: exit 0 and prints nothing
one more row: exit 0 and prints a note
integers for floating point: exit 0 and prints a note
unsigned for signed: exit 0 and prints a note
one more column in a compound: exit 0 and prints a note
one more row, with -q: exit 0 and prints nothing
one more dataset: exit 1 and prints nothing
T
diff expected seen && echo "as on 2026-11-30"
