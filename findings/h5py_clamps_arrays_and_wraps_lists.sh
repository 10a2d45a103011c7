#!/usr/bin/env bash
# h5py (3.7.0) stores integers that do not fit the type of a dataset without an error or a warning. A user of NumPy
# would expect them to wrap around, as in array.astype, or at least that all ways to store them store the same. But:
#
# 1. An array that is assigned to a dataset, or given to create_dataset with a dtype, is converted by HDF5, which
#    clamps: -1 becomes 0, and 5,000,000,000 the largest number of 32 bits.
# 2. The same numbers as a list, one by one, as a column of a compound or as an attribute are converted by NumPy before
#    HDF5 sees them, and wrap: -1 becomes 4294967295, and 5,000,000,000 becomes 705032704.
# 3. Reading is alike: dataset.astype("u4")[...] and read_direct clamp, dataset[...].astype("u4") wraps.
#
# A rank of -1 (none) thus becomes rank 0, and sizes above 4 GiB all become the same plausible size. A check for the
# mark that wrapping leaves misses it in files whose writer passed arrays.
#
# Seen on 2026-11-30 with python3-h5py 3.7.0-8, libhdf5-103-1 1.10.8+repack1-1 and python3-numpy 1:1.24.2-1+deb12u1:
#   stored: -1 300 5000000000
#   dataset[...] = array: 0 300 4294967295
#   create_dataset(data=array, dtype="u4"): 0 300 4294967295
#   dataset[...] = list: 4294967295 300 705032704
#   dataset[i] = array[i]: 4294967295 300 705032704
#   compound["rank"] = array: 4294967295 300 705032704
#   attrs.create(.., array, dtype="u4"): 4294967295 300 705032704
#   dataset.astype("u4")[...]: 0 300 4294967295
#   dataset.read_direct(u4): 0 300 4294967295
#   dataset[...].astype("u4"): 4294967295 300 705032704
#
# Needs Debian 12 (amd64) with python3 and apt-get. Exits with 1 if any of this is no longer so.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
chmod 755 "$folder"  # for apt's own user
cd "$folder"

packages=(python3-h5py=3.7.0-8 python3-h5py-serial=3.7.0-8 libhdf5-103-1=1.10.8+repack1-1
  libhdf5-hl-100=1.10.8+repack1-1 python3-numpy=1:1.24.2-1+deb12u1 python3-pkg-resources
  libaec0 libsz2 liblzf1 libblas3 liblapack3 libgfortran5 libquadmath0 libcurl4 libbrotli1 libnghttp2-14 libpsl5
  librtmp1 libssh2-1 libssl3 libldap-2.5-0 libsasl2-2 libgssapi-krb5-2 libkrb5-3 libk5crypto3 libkrb5support0
  libkeyutils1)
apt-get -qq download "${packages[@]}"
for package in ./*.deb; do dpkg-deb -x "$package" root; done
libraries=$folder/root/usr/lib/x86_64-linux-gnu
export LD_LIBRARY_PATH=$libraries:$libraries/blas:$libraries/lapack:$folder/root/lib/x86_64-linux-gnu
export PYTHONPATH=$folder/root/usr/lib/python3/dist-packages

cat >stores.py <<'P'
import h5py
import numpy

array = numpy.array([-1, 300, 5_000_000_000], "i8")


def show(how, numbers):
    print(f"{how}:", *numbers)


show("stored", array)
with h5py.File("ranks.h5", "w") as file:
    by_array, by_list, one_by_one = (file.create_dataset(name, 3, "u4") for name in ("array", "list", "one"))
    compound = file.create_dataset("compound", 3, [("rank", "u4"), ("bytes", "f8")])
    by_array[...] = array
    by_list[...] = array.tolist()
    for place, number in enumerate(array):
        one_by_one[place] = number
    compound["rank"] = array
    file.attrs.create("ranks", array, dtype="u4")
    show("dataset[...] = array", by_array)
    show('create_dataset(data=array, dtype="u4")', file.create_dataset("created", data=array, dtype="u4"))
    show("dataset[...] = list", by_list)
    show("dataset[i] = array[i]", one_by_one)
    show('compound["rank"] = array', compound["rank"])
    show('attrs.create(.., array, dtype="u4")', file.attrs["ranks"])

    wide = file.create_dataset("wide", data=array)
    direct = numpy.empty(3, "u4")
    wide.read_direct(direct)
    show('dataset.astype("u4")[...]', wide.astype("u4")[...])
    show("dataset.read_direct(u4)", direct)
    show('dataset[...].astype("u4")', wide[...].astype("u4"))
P
/usr/bin/python3 stores.py | tee seen
cat >expected <<'T'
stored: -1 300 5000000000
dataset[...] = array: 0 300 4294967295
create_dataset(data=array, dtype="u4"): 0 300 4294967295
dataset[...] = list: 4294967295 300 705032704
dataset[i] = array[i]: 4294967295 300 705032704
compound["rank"] = array: 4294967295 300 705032704
attrs.create(.., array, dtype="u4"): 4294967295 300 705032704
dataset.astype("u4")[...]: 0 300 4294967295
dataset.read_direct(u4): 0 300 4294967295
dataset[...].astype("u4"): 4294967295 300 705032704
T
diff expected seen && echo "as on 2026-11-30"
