// Stands for NVIDIA's libraries on machines without them, as far as they say what they are: of
// cuBLASLt, and of a cuDNN of another major version.

#include <cstddef>

extern "C" {

size_t cublasLtGetVersion() { return 130'103; }

size_t cudnnGetVersion() { return 91'900; }

}  // extern "C"
