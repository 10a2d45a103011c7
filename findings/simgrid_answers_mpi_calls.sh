#!/usr/bin/env bash
# Debian 12's libsimgrid.so (3.32) defines 387 MPI_ functions for its simulated MPI, SMPI, beside the interface that
# programs use which simulate no MPI at all. So in a process that has loaded it, whoever calls MPI may get SimGrid's:
#
# 1. A program that links both libraries calls the one that is named first, without a warning of the linker.
# 2. A module that is linked with Open MPI alone, and opened by dlopen(.., RTLD_LOCAL), calls SimGrid's functions where
#    the program that opens it is linked with SimGrid, even if that program never calls MPI.
# 3. With RTLD_DEEPBIND the module calls the library that it was linked with.
#
# Seen on 2026-11-30 with libsimgrid3.32 3.32-2+b2 and libopenmpi3 4.1.4-3+b1:
#   SimGrid defines 387 functions MPI_*
#   SimGrid first: SMPI
#   Open MPI first: Open MPI
#   module, RTLD_LOCAL: SMPI
#   module, RTLD_LOCAL | RTLD_DEEPBIND: Open MPI
#
# Needs Debian 12 (amd64) with gcc and apt-get. Exits with 1 if any of this is no longer so.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
chmod 755 "$folder"  # for apt's own user
cd "$folder"

packages=(libsimgrid3.32=3.32-2+b2 libopenmpi3=4.1.4-3+b1 libopenmpi-dev=4.1.4-3+b1
  libboost-context1.74.0 libboost-stacktrace1.74.0 libns3.37 libgsl27 libgslcblas0 libsqlite3-0 libxml2 libicu72
  libgfortran5 libquadmath0 libevent-core-2.1-7 libevent-pthreads-2.1-7 libhwloc15 libudev1)
apt-get -qq download "${packages[@]}"
for package in ./*.deb; do dpkg-deb -x "$package" root; done
libraries=$folder/root/usr/lib/x86_64-linux-gnu
simgrid=$libraries/libsimgrid.so.3.32
openmpi=$libraries/libmpi.so.40
headers=$libraries/openmpi/include
export LD_LIBRARY_PATH=$libraries:$libraries/openmpi/lib

cat >name.c <<'C'
#include <mpi.h>
#include <string.h>
const char* name_of_mpi(void) {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int size = 0;
  MPI_Get_library_version(text, &size);
  return strncmp(text, "SMPI", 4) == 0 ? "SMPI" : strncmp(text, "Open MPI", 8) == 0 ? "Open MPI" : text;
}
C
cat >both.c <<'C'
#include <stdio.h>
const char* name_of_mpi(void);
int main(void) { return puts(name_of_mpi()) < 0; }
C
cat >opens.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  void* module = dlopen(argv[1], argc > 2 ? RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND : RTLD_NOW | RTLD_LOCAL);
  if (module == NULL) return fprintf(stderr, "%s\n", dlerror()), 2;
  const char* (*name)(void) = (const char* (*)(void))dlsym(module, "name_of_mpi");
  return puts(name()) < 0;
}
C
gcc -I"$headers" both.c name.c -Wl,--no-as-needed "$simgrid" "$openmpi" -Wl,--allow-shlib-undefined -o simgrid_first
gcc -I"$headers" both.c name.c -Wl,--no-as-needed "$openmpi" "$simgrid" -Wl,--allow-shlib-undefined -o openmpi_first
gcc -shared -fPIC -I"$headers" name.c "$openmpi" -Wl,--allow-shlib-undefined -o module.so
gcc opens.c -Wl,--no-as-needed "$simgrid" -Wl,--allow-shlib-undefined -o opens

{
  echo "SimGrid defines $(nm -D --defined-only "$simgrid" | grep -c ' [TW] MPI_') functions MPI_*"
  echo "SimGrid first: $(./simgrid_first)"
  echo "Open MPI first: $(./openmpi_first)"
  echo "module, RTLD_LOCAL: $(./opens ./module.so)"
  echo "module, RTLD_LOCAL | RTLD_DEEPBIND: $(./opens ./module.so deep)"
} | tee seen
cat >expected <<'T'
SimGrid defines 387 functions MPI_*
SimGrid first: SMPI
Open MPI first: Open MPI
module, RTLD_LOCAL: SMPI
module, RTLD_LOCAL | RTLD_DEEPBIND: Open MPI
T
diff expected seen && echo "as on 2026-11-30"
