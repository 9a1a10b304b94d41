// Which function computes an op on a device: the seam between the graph and the machine.
//
// A kernel is made once per node when a session is compiled, with everything that is known by then
// (attributes, concrete shapes), and run once per step. A few belong to no node, such as updates of
// variables (trainer/optimizer/update_ops.h).
//
// Ownership: the registry owns the factories, whoever asks for a kernel the kernel. Threads: const
// methods are safe from any thread; a kernel runs on one thread at a time. Errors: a factory
// refuses what it cannot compute; a run reports what it finds wrong with the data
// (step_block.h) and returns other errors.
//
//   kernels.Add("Square", "CPU", DType::kFloat32, [](const KernelSpec& spec) {
//     const int64_t n = spec.outputs[0].shape.count();
//     return Kernel{.run = [n](const KernelCall& call) { … return absl::OkStatus(); }};
//   });

#ifndef TRAINER_GRAPH_KERNEL_REGISTRY_H_
#define TRAINER_GRAPH_KERNEL_REGISTRY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/graph/attributes.h"
#include "trainer/graph/tensor_type.h"

namespace taas {

// Shapes have no open dimension.
class Device;

struct KernelSpec {
  const Attributes& attributes;
  std::span<const TensorType> inputs;
  std::span<const TensorType> outputs;
  std::string_view name = "";  // Of the node.
  uint64_t seed = 0;           // Of random numbers: the session's.
  int threads = 1;             // That a call will have.
  // The bits must not depend on `threads`.
  bool deterministic = false;
  // In what products may be computed; a kernel that has none of it, or is slower with it, stays
  // with float32.
  Precision products = Precision::kFloat32;
  // On which it is to run, for kernels that a device has more than one way for; null: on any.
  Device* device = nullptr;
};

class Stream;
struct StepBlock;

struct KernelCall {
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
  void* scratch = nullptr;  // Kernel::scratch_bytes of it.
  int threads = 1;
  // Of the device: what changes from step to step, and where kernels tell what is wrong.
  StepBlock* block = nullptr;
  int32_t index = 0;  // Of the kernel, in the order of the step.
  Stream* stream = nullptr;  // Into which it is launched.

  const float* in(size_t i) const { return static_cast<const float*>(inputs[i]); }
  const int32_t* in_int32(size_t i) const { return static_cast<const int32_t*>(inputs[i]); }
  const int64_t* in_int64(size_t i) const { return static_cast<const int64_t*>(inputs[i]); }
  const uint8_t* in_uint8(size_t i) const { return static_cast<const uint8_t*>(inputs[i]); }
  float* out(size_t i = 0) const { return static_cast<float*>(outputs[i]); }
  int32_t* out_int32(size_t i = 0) const { return static_cast<int32_t*>(outputs[i]); }
};

struct Kernel {
  std::function<absl::Status(const KernelCall&)> run;
  size_t scratch_bytes = 0;
  Precision products = Precision::kFloat32;  // In what it computes them, for people to see.
};

using KernelFactory = std::function<absl::StatusOr<Kernel>(const KernelSpec&)>;

class KernelRegistry {
 public:
  // `dtype` is that of the op's first input. A second kernel of one key is a programmer error.
  void Add(std::string_view op, std::string_view device_type, DType dtype, KernelFactory factory);
  // Null when there is none.
  const KernelFactory* Find(std::string_view op, std::string_view device_type, DType dtype) const;
  // Of a device type: op and type of its first input, of each kernel.
  std::vector<std::pair<std::string, DType>> Of(std::string_view device_type) const;

 private:
  std::map<std::tuple<std::string, std::string, DType>, KernelFactory> kernels_;
};

}  // namespace taas

#endif  // TRAINER_GRAPH_KERNEL_REGISTRY_H_
