// Stands for NVIDIA's libraries on machines without them, as far as they say what they are: each
// but NCCL is made of this file, and has the functions of all.

#include <cstddef>

extern "C" {

size_t cublasLtGetVersion() { return 130'103; }

size_t cudnnGetVersion() { return 91'900; }

}  // extern "C"
