// What kernels over oneDNN share: one engine, threads, errors as Status, and primitives that are
// made once and run on other memory each step without an allocation of ours.
//
// Tensors keep the plain order that the graph has (NHWC images, HWIO weights); where a primitive
// wants its weights in blocks it gets them reordered into scratch memory, which costs little beside
// the convolution.
//
// Ownership: a DnnlCall owns its primitives; the memory that it runs on is the caller's. Threads: a
// DnnlCall on one thread at a time. Errors: what oneDNN throws becomes Internal, with `what`.
//
//   return MakeDnnl("make a convolution", spec.threads, [&]() -> Kernel {
//     auto call = std::make_shared<DnnlCall>();
//     call->Add(primitive, {{DNNL_ARG_SRC, src}, …});
//     return {.run = [call](const KernelCall& args) {
//       call->Bind(DNNL_ARG_SRC, args.in(0));
//       return call->Run(args.threads);
//     }};
//   });

#ifndef TRAINER_KERNELS_CPU_ONEDNN_H_
#define TRAINER_KERNELS_CPU_ONEDNN_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "oneapi/dnnl/dnnl.hpp"
#include "trainer/graph/kernel_registry.h"

namespace taas {

const dnnl::engine& DnnlEngine();

// oneDNN takes its threads from OpenMP: those of whoever makes a primitive decide on its blocks.
void SetDnnlThreads(int threads);

// Memory without an address, which each run gives it.
dnnl::memory Unbound(const dnnl::memory::desc& desc);

class DnnlCall {
 public:
  using Arguments = std::vector<std::pair<int, dnnl::memory>>;

  DnnlCall();
  // Primitives run in the order in which they were added.
  void Add(dnnl::primitive primitive, const Arguments& arguments);
  absl::Status Run(int threads);

 private:
  struct Part {
    dnnl::primitive primitive;
    std::vector<dnnl::memory> memories;  // Keeps the handles in `arguments` alive.
    std::vector<dnnl_exec_arg_t> arguments;
  };
  dnnl::stream stream_;
  std::vector<Part> parts_;
};

absl::Status DnnlError(const std::string& what, const dnnl::error& error);

// `make` may throw what oneDNN throws.
template <typename Make>
absl::StatusOr<Kernel> MakeDnnl(const std::string& what, int threads, Make make) {
  SetDnnlThreads(threads);
  try {
    return make();
  } catch (const dnnl::error& error) {
    return DnnlError(what, error);
  }
}

}  // namespace taas

#endif  // TRAINER_KERNELS_CPU_ONEDNN_H_
