#include "trainer/graph/testing/allocations.h"

#include <omp.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "oneapi/dnnl/dnnl.h"

namespace {
std::atomic<int64_t> allocations{0};
std::atomic<int64_t> of_library{0};
thread_local bool in_library = false;

void Count() { ++(in_library || omp_in_parallel() != 0 ? of_library : allocations); }
}  // namespace

// The linker sends our objects' calls here (see BUILD).
extern "C" {
void* __real_malloc(size_t bytes);
void* __real_calloc(size_t count, size_t bytes);
void* __real_realloc(void* memory, size_t bytes);
void* __real_aligned_alloc(size_t alignment, size_t bytes);
dnnl_status_t __real_dnnl_primitive_execute(const_dnnl_primitive_t primitive, dnnl_stream_t stream,
                                            int count, const dnnl_exec_arg_t* arguments);

dnnl_status_t __wrap_dnnl_primitive_execute(const_dnnl_primitive_t primitive, dnnl_stream_t stream,
                                            int count, const dnnl_exec_arg_t* arguments) {
  in_library = true;
  const dnnl_status_t status = __real_dnnl_primitive_execute(primitive, stream, count, arguments);
  in_library = false;
  return status;
}

dnnl_status_t __real_dnnl_sgemm(char transa, char transb, dnnl_dim_t m, dnnl_dim_t n, dnnl_dim_t k,
                                float alpha, const float* a, dnnl_dim_t lda, const float* b,
                                dnnl_dim_t ldb, float beta, float* c, dnnl_dim_t ldc);

dnnl_status_t __wrap_dnnl_sgemm(char transa, char transb, dnnl_dim_t m, dnnl_dim_t n, dnnl_dim_t k,
                                float alpha, const float* a, dnnl_dim_t lda, const float* b,
                                dnnl_dim_t ldb, float beta, float* c, dnnl_dim_t ldc) {
  in_library = true;
  const dnnl_status_t status =
      __real_dnnl_sgemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  in_library = false;
  return status;
}

void* __wrap_malloc(size_t bytes) {
  Count();
  return __real_malloc(bytes);
}
void* __wrap_calloc(size_t count, size_t bytes) {
  Count();
  return __real_calloc(count, bytes);
}
void* __wrap_realloc(void* memory, size_t bytes) {
  Count();
  return __real_realloc(memory, bytes);
}
void* __wrap_aligned_alloc(size_t alignment, size_t bytes) {
  Count();
  return __real_aligned_alloc(alignment, bytes);
}
}

// All forms that containers and the standard library use, so that none is freed by another's
// partner.
void* operator new(size_t bytes) {
  Count();
  void* memory = __real_malloc(bytes);
  if (memory == nullptr) std::abort();
  return memory;
}
void* operator new[](size_t bytes) { return operator new(bytes); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return operator new(bytes); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return operator new(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace taas {

int64_t Allocations() { return allocations; }
int64_t LibraryAllocations() { return of_library; }

}  // namespace taas
