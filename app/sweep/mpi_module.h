#pragma once
/* What the MPI module offers to c3sim. C, because it is found by name at run time. */

#ifdef __cplusplus
extern "C" {
#endif

/* Points that came to an end in one rank since it last said so. */
struct C3MpiCounts {
  unsigned long long simulated, failed;
};

/* The next point for another rank; negative when there are no more. */
typedef long long (*C3MpiNext)(void* context);

void c3_mpi_begin(int* rank, int* size);
void c3_mpi_end(void);

/* Of every rank but 0. Asks rank 0 for a point; negative when there are no more. */
long long c3_mpi_ask(struct C3MpiCounts counts);
/* The last word of a rank that was told that there are no more. */
void c3_mpi_leave(struct C3MpiCounts counts);

/* Of rank 0. Answers whoever asks now, and adds up what they say. Returns how many have left. */
int c3_mpi_answer(C3MpiNext next, void* context, struct C3MpiCounts* counts);

#ifdef __cplusplus
}
#endif
