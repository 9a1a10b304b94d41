// The two calls of OpenMP that this tree makes. Their header is in a folder of GCC's own, where
// Clang (make fuzz) does not look; the library is the same.

#ifndef THIRD_PARTY_OPENMP_H_
#define THIRD_PARTY_OPENMP_H_

#if __has_include(<omp.h>)
#include <omp.h>
#else
extern "C" int omp_get_max_threads(void);
extern "C" void omp_set_num_threads(int threads);
#endif

#endif  // THIRD_PARTY_OPENMP_H_
