#include "trainer/kernels/cpu/onednn.h"

#include "third_party/openmp.h"

namespace taas {

const dnnl::engine& DnnlEngine() {
  static const dnnl::engine kEngine(dnnl::engine::kind::cpu, 0);
  return kEngine;
}

void SetDnnlThreads(int threads) {
  if (omp_get_max_threads() != threads) omp_set_num_threads(threads);
}

dnnl::memory Unbound(const dnnl::memory::desc& desc) {
  return dnnl::memory(desc, DnnlEngine(), DNNL_MEMORY_NONE);
}

DnnlCall::DnnlCall() : stream_(DnnlEngine()) {}

void DnnlCall::Add(dnnl::primitive primitive, const Arguments& arguments) {
  Part part{.primitive = std::move(primitive), .memories = {}, .arguments = {}};
  for (const auto& [name, memory] : arguments) {
    part.memories.push_back(memory);
    part.arguments.push_back({name, memory.get()});
  }
  parts_.push_back(std::move(part));
}

absl::Status DnnlCall::Run(int threads) {
  SetDnnlThreads(threads);
  for (const Part& part : parts_) {
    const dnnl_status_t status =
        dnnl_primitive_execute(part.primitive.get(), stream_.get(),
                               static_cast<int>(part.arguments.size()), part.arguments.data());
    if (status != dnnl_success) {
      return absl::InternalError("oneDNN returned status " +
                                 std::to_string(static_cast<int>(status)));
    }
  }
  // On the CPU a primitive is done when its call returns.
  return absl::OkStatus();
}

absl::Status DnnlError(const std::string& what, const dnnl::error& error) {
  return absl::InternalError(what + ": oneDNN: " + error.what() + " (status " +
                             std::to_string(static_cast<int>(error.status)) + ")");
}

}  // namespace taas
