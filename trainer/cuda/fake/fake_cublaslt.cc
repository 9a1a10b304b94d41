// Stands for cuBLASLt on machines without it: the product in plain loops, of matrices by columns as
// the library has them, run by the stream of the driver that stands for NVIDIA's. It refuses shapes
// that do not go together, leading dimensions that are too small, a workspace that it was not
// offered, attributes of another size, epilogues that the library's documentation does not have,
// and a bias that is not there, lies in no memory of the device, or is less aligned than the one
// that the way was chosen for.

#include <dlfcn.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>

#include "trainer/cuda/cublaslt_api.h"
#include "trainer/cuda/fake/fake_control.h"
#include "trainer/cuda/fake/fake_machine.h"

namespace taas::cuda::fake {
namespace {

struct Description {
  int compute = 0;
  int32_t transpose_a = kLtPlain, transpose_b = kLtPlain;
  uint32_t epilogue = kLtNoEpilogue;
  float* bias = nullptr;  // Read, or written.
};

struct Layout {
  int64_t rows = 0, columns = 0, leading = 0;
  int32_t batch = 1;
  int64_t apart = 0;
};

struct Preference {
  uint64_t workspace = 0;
};

// What an algorithm of this library is: what it was asked for.
constexpr uint64_t kAlgo = 0x7461617300000000;

// As the tensor cores take it: the nearest of 8 or 11 bits, ties to even.
float AsFactor(float x, int compute) {
  if (compute == kLtCompute32 || !std::isfinite(x)) return x;
  const int dropped = compute == kLtComputeFastBFloat16 ? 16 : 13;
  uint32_t bits = std::bit_cast<uint32_t>(x);
  bits += (1u << (dropped - 1)) - 1 + (bits >> dropped & 1);
  return std::bit_cast<float>(bits >> dropped << dropped);
}

template <typename F>
F* Driver(F*, const char* name) {
  return reinterpret_cast<F*>(dlsym(dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY), name));
}

struct Matrices {
  int device;
  Description description;
  Layout a, b, c;
  const float* at;
  const float* by;
  float* to;
  float alpha, beta;
};

bool Fits(const Description& d, const Layout& a, const Layout& b, const Layout& c) {
  const bool across = d.transpose_a == kLtTransposed, along = d.transpose_b == kLtTransposed;
  const int64_t m = across ? a.columns : a.rows, k = across ? a.rows : a.columns;
  return m == c.rows && (along ? b.rows : b.columns) == c.columns &&
         (along ? b.columns : b.rows) == k && a.leading >= a.rows && b.leading >= b.rows &&
         c.leading >= c.rows && a.batch == c.batch && b.batch == c.batch;
}

// As many rows as the result; of a gradient, the sums of the first factor over the columns that are
// multiplied.
int64_t BiasBytes(const Matrices& p) { return p.c.rows * static_cast<int64_t>(sizeof(float)); }

void SumFirst(const Matrices& p) {
  const bool across = p.description.transpose_a == kLtTransposed;
  const int64_t k = across ? p.a.rows : p.a.columns;
  for (int64_t row = 0; row < p.c.rows; ++row) {
    float sum = 0;
    for (int64_t j = 0; j < k; ++j) {
      sum += p.at[across ? row * p.a.leading + j : j * p.a.leading + row];
    }
    p.description.bias[row] = sum;
  }
}

int Multiply(const Matrices& p) {
  const uint32_t epilogue = p.description.epilogue;
  if (epilogue != kLtNoEpilogue &&
      !Driver(&FakeCudaContains, "FakeCudaContains")(p.device, p.description.bias,
                                                     static_cast<size_t>(BiasBytes(p)))) {
    return kCuIllegalAddress;
  }
  if (epilogue == kLtBiasGradA) SumFirst(p);
  const bool across = p.description.transpose_a == kLtTransposed;
  const bool along = p.description.transpose_b == kLtTransposed;
  const int64_t k = across ? p.a.rows : p.a.columns;
  const int compute = p.description.compute;
  for (int64_t matrix = 0; matrix < p.c.batch; ++matrix) {
    const float* const a = p.at + matrix * p.a.apart;
    const float* const b = p.by + matrix * p.b.apart;
    for (int64_t column = 0; column < p.c.columns; ++column) {
      for (int64_t row = 0; row < p.c.rows; ++row) {
        float sum = 0;
        for (int64_t j = 0; j < k; ++j) {
          sum += AsFactor(a[across ? row * p.a.leading + j : j * p.a.leading + row], compute) *
                 AsFactor(b[along ? j * p.b.leading + column : column * p.b.leading + j], compute);
        }
        float& c = p.to[matrix * p.c.apart + column * p.c.leading + row];
        c = p.alpha * sum + (p.beta == 0 ? 0 : p.beta * c);
        if (epilogue == kLtBias) c += p.description.bias[row];
      }
    }
  }
  return kCuSuccess;
}

template <typename T>
int Make(void** made) {
  *made = std::make_unique<T>().release();
  return kLtSuccess;
}

template <typename T>
int Destroy(void* gone) {
  const std::unique_ptr<T> owned(static_cast<T*>(gone));
  return gone == nullptr ? kLtInvalidValue : kLtSuccess;
}

template <typename T>
int Set(T* value, const void* from, size_t bytes) {
  if (bytes != sizeof(T)) return kLtInvalidValue;
  std::memcpy(value, from, bytes);
  return kLtSuccess;
}

// cublasLtEpilogue_t, of which only those are computed here that are used.
int SetEpilogue(Description* its, const void* from, size_t bytes) {
  uint32_t wanted = 0;
  if (const int set = Set(&wanted, from, bytes); set != kLtSuccess) return set;
  if (wanted != kLtNoEpilogue && wanted != kLtBias && wanted != kLtBiasGradA) {
    return kLtNotSupported;
  }
  its->epilogue = wanted;
  return kLtSuccess;
}

uint64_t AlignmentOf(const float* address) {
  const auto bits = reinterpret_cast<uint64_t>(address);
  return bits & -bits;
}

// For a single product, which a bias is of.
bool HasItsBias(const Description& of, const Layout& c) {
  return of.epilogue == kLtNoEpilogue ||
         (c.batch == 1 && AlignmentOf(of.bias) >= sizeof(float));
}

}  // namespace

extern "C" {

int cublasLtCreate(void** handle) { return Make<int>(handle); }
int cublasLtDestroy(void* handle) { return Destroy<int>(handle); }

int cublasLtMatmulDescCreate(void** description, int compute, int scale) {
  const bool known = compute == kLtCompute32 || compute == kLtComputeFastTf32 ||
                     compute == kLtComputeFastBFloat16;
  if (scale != kLtFloat || !known) return kLtNotSupported;
  Make<Description>(description);
  static_cast<Description*>(*description)->compute = compute;
  return kLtSuccess;
}
int cublasLtMatmulDescDestroy(void* description) { return Destroy<Description>(description); }
int cublasLtMatmulDescSetAttribute(void* description, int attribute, const void* value,
                                   size_t bytes) {
  auto& its = *static_cast<Description*>(description);
  if (attribute == kLtTransposeA) return Set(&its.transpose_a, value, bytes);
  if (attribute == kLtTransposeB) return Set(&its.transpose_b, value, bytes);
  if (attribute == kLtEpilogue) return SetEpilogue(&its, value, bytes);
  if (attribute == kLtBiasPointer) return Set(&its.bias, value, bytes);
  return kLtNotSupported;
}

int cublasLtMatrixLayoutCreate(void** layout, int type, uint64_t rows, uint64_t columns,
                               int64_t leading) {
  if (type != kLtFloat || rows == 0 || columns == 0) return kLtInvalidValue;
  Make<Layout>(layout);
  auto& its = *static_cast<Layout*>(*layout);
  its.rows = static_cast<int64_t>(rows);
  its.columns = static_cast<int64_t>(columns);
  its.leading = leading;
  return kLtSuccess;
}
int cublasLtMatrixLayoutDestroy(void* layout) { return Destroy<Layout>(layout); }
int cublasLtMatrixLayoutSetAttribute(void* layout, int attribute, const void* value,
                                     size_t bytes) {
  auto& its = *static_cast<Layout*>(layout);
  if (attribute == kLtBatchCount) return Set(&its.batch, value, bytes);
  if (attribute == kLtStridedBatchOffset) return Set(&its.apart, value, bytes);
  return kLtNotSupported;
}

int cublasLtMatmulPreferenceCreate(void** preference) { return Make<Preference>(preference); }
int cublasLtMatmulPreferenceDestroy(void* preference) { return Destroy<Preference>(preference); }
int cublasLtMatmulPreferenceSetAttribute(void* preference, int attribute, const void* value,
                                         size_t bytes) {
  if (attribute == kLtMaxWorkspaceBytes) {
    return Set(&static_cast<Preference*>(preference)->workspace, value, bytes);
  }
  uint32_t alignment = 0;
  const int set = Set(&alignment, value, bytes);
  return set == kLtSuccess && alignment < sizeof(float) ? kLtInvalidValue : set;
}

int cublasLtMatmulAlgoGetHeuristic(void*, void* description, void* a, void* b, void* c, void* d,
                                   void* preference, int asked, LtHeuristic* results, int* found) {
  *found = 0;
  if (asked < 1 || c != d) return kLtInvalidValue;
  const auto& of = *static_cast<const Description*>(description);
  if (!Fits(of, *static_cast<const Layout*>(a), *static_cast<const Layout*>(b),
            *static_cast<const Layout*>(c))) {
    return kLtInvalidValue;
  }
  if (!HasItsBias(of, *static_cast<const Layout*>(c))) return kLtInvalidValue;
  if (of.epilogue != kLtNoEpilogue && !ReadMachine().epilogues) return kLtSuccess;
  *results = {.algo = {{kAlgo}},
              .workspace_bytes = static_cast<const Preference*>(preference)->workspace,
              .state = kLtSuccess,
              .waves = 1,
              .reserved = {}};
  results->algo.data[1] = results->workspace_bytes;
  results->algo.data[2] = of.epilogue;
  results->algo.data[3] = AlignmentOf(of.bias);
  *found = 1;
  return kLtSuccess;
}

int cublasLtMatmul(void*, void* description, const void* alpha, const void* a, void* a_layout,
                   const void* b, void* b_layout, const void* beta, const void* c, void* c_layout,
                   void* d, void* d_layout, const LtAlgo* algo, void* workspace,
                   size_t workspace_bytes, CuStream stream) {
  if (algo->data[0] != kAlgo || c != d || c_layout != d_layout) return kLtNotSupported;
  const Matrices product{.device = Driver(&FakeCudaDeviceOf, "FakeCudaDeviceOf")(stream),
                         .description = *static_cast<const Description*>(description),
                         .a = *static_cast<const Layout*>(a_layout),
                         .b = *static_cast<const Layout*>(b_layout),
                         .c = *static_cast<const Layout*>(c_layout),
                         .at = static_cast<const float*>(a),
                         .by = static_cast<const float*>(b),
                         .to = static_cast<float*>(d),
                         .alpha = *static_cast<const float*>(alpha),
                         .beta = *static_cast<const float*>(beta)};
  if (!Fits(product.description, product.a, product.b, product.c)) return kLtInvalidValue;
  if (algo->data[1] > workspace_bytes || (workspace_bytes > 0 && workspace == nullptr)) {
    return kLtInvalidValue;
  }
  const Description& of = product.description;
  if (!HasItsBias(of, product.c) || algo->data[2] != of.epilogue ||
      (of.epilogue != kLtNoEpilogue && algo->data[3] > AlignmentOf(of.bias))) {
    return kLtInvalidValue;
  }
  static const auto kLaunch = Driver(&FakeCudaLaunch, "FakeCudaLaunch");
  constexpr int kExecutionFailed = 13;  // CUBLAS_STATUS_EXECUTION_FAILED
  return kLaunch(stream, [product] { return Multiply(product); }) == kCuSuccess ? kLtSuccess
                                                                               : kExecutionFailed;
}

}  // extern "C"

}  // namespace taas::cuda::fake
