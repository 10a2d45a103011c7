/* Hands out points of a sweep over MPI: rank 0 answers each rank's questions, one at a time.

   A module of its own, opened only under mpirun with RTLD_DEEPBIND: SimGrid's library defines MPI_* itself (SMPI),
   and c3sim is linked with that one. */

#include "app/sweep/mpi_module.h"

#include <mpi.h>

enum { kAsk = 1, kLeave = 2, kAnswer = 3 };

void c3_mpi_begin(int* rank, int* size) {
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, size);
}

void c3_mpi_end(void) { MPI_Finalize(); }

static void say(struct C3MpiCounts counts, int tag) {
  unsigned long long words[2] = {counts.simulated, counts.failed};
  MPI_Send(words, 2, MPI_UNSIGNED_LONG_LONG, 0, tag, MPI_COMM_WORLD);
}

long long c3_mpi_ask(struct C3MpiCounts counts) {
  long long point = -1;
  say(counts, kAsk);
  MPI_Recv(&point, 1, MPI_LONG_LONG, 0, kAnswer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return point;
}

void c3_mpi_leave(struct C3MpiCounts counts) { say(counts, kLeave); }

int c3_mpi_answer(C3MpiNext next, void* context, struct C3MpiCounts* counts) {
  int left = 0;
  for (;;) {
    int waiting = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &waiting, &status);
    if (!waiting) return left;
    unsigned long long words[2];
    MPI_Recv(words, 2, MPI_UNSIGNED_LONG_LONG, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    counts->simulated += words[0];
    counts->failed += words[1];
    if (status.MPI_TAG == kLeave) {
      ++left;
      continue;
    }
    const long long point = next(context);
    MPI_Send(&point, 1, MPI_LONG_LONG, status.MPI_SOURCE, kAnswer, MPI_COMM_WORLD);
  }
}
