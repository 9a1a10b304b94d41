// Counts what a process allocates, for tests that say that a step allocates nothing. Linking it
// replaces operator new, and the linker sends malloc, calloc, realloc and aligned_alloc here.
//
// Counted are every operator new of the process, on all threads, and every malloc, calloc, realloc
// and aligned_alloc that an object of this tree calls, but for those within
// dnnl_primitive_execute and dnnl_sgemm, on its thread and on those of OpenMP: the first makes a
// table of its arguments, the second of its threads' parts, as many allocations in each step as in
// the one before, which a test says too. Not seen are the calls of malloc inside oneDNN and OpenMP,
// which the linker does not send here (a matrix product packs its operands into buffers that oneDNN
// takes and gives back).
//
// Ownership: none. Threads: any. Errors: none.
//
//   const int64_t before = Allocations();
//   step();
//   EXPECT_EQ(Allocations() - before, 0);

#ifndef TRAINER_GRAPH_TESTING_ALLOCATIONS_H_
#define TRAINER_GRAPH_TESTING_ALLOCATIONS_H_

#include <cstdint>

namespace taas {

// Since the process began: of ours, and of oneDNN's.
int64_t Allocations();
int64_t LibraryAllocations();

}  // namespace taas

#endif  // TRAINER_GRAPH_TESTING_ALLOCATIONS_H_
