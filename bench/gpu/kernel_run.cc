#include "bench/gpu/kernel_run.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "operator/base/random.h"
#include "operator/base/status.h"
#include "trainer/graph/graph.h"

namespace taas::bench {
namespace {

size_t BytesOf(const TensorType& type) {
  return static_cast<size_t>(type.shape.count()) * SizeOf(type.dtype);
}

// They come again: drawing all of a large array takes longer than measuring.
constexpr size_t kDrawn = 1 << 16;

std::vector<std::byte> Draw(const KernelInput& input) {
  SeededRandom random(1);
  const auto count = std::min(static_cast<size_t>(input.type.shape.count()), kDrawn);
  std::vector<std::byte> bytes(BytesOf(input.type));
  const auto fill = [&](auto next) {
    for (size_t i = 0; i < count; ++i) {
      const auto value = next();
      std::memcpy(bytes.data() + i * sizeof(value), &value, sizeof(value));
    }
  };
  const auto below = [&] { return random.Below(static_cast<uint64_t>(input.bound)); };
  switch (input.type.dtype) {
    case DType::kFloat32:
      fill([&] { return static_cast<float>(input.low + (1 - input.low) * random.Unit()); });
      break;
    case DType::kInt32: fill([&] { return static_cast<int32_t>(below()); }); break;
    case DType::kInt64: fill([&] { return static_cast<int64_t>(below()); }); break;
    case DType::kUint8: fill([&] { return static_cast<uint8_t>(below()); }); break;
  }
  const size_t drawn = count * SizeOf(input.type.dtype);
  for (size_t at = drawn; at < bytes.size(); at += drawn) {
    std::memcpy(bytes.data() + at, bytes.data(), std::min(drawn, bytes.size() - at));
  }
  return bytes;
}

}  // namespace

absl::Status KernelRun::Make(const KernelRegistry& kernels) {
  RETURN_IF_ERROR(MakeKernel(kernels));
  for (const KernelInput& input : of_.inputs) {
    const std::vector<std::byte> bytes = Draw(input);
    ASSIGN_OR_RETURN(std::byte* const memory, Allocate(bytes.size()));
    RETURN_IF_ERROR(device_.Copy(memory, bytes.data(), bytes.size()));
    in_.push_back(input.absent ? nullptr : memory);
    moved_bytes_ += static_cast<int64_t>(bytes.size());
  }
  for (const size_t input : of_.in_place) {
    out_.push_back(const_cast<void*>(in_[input]));
    moved_bytes_ += static_cast<int64_t>(BytesOf(types_[input]));
  }
  for (const TensorType& output : outputs_) {
    ASSIGN_OR_RETURN(std::byte* const memory, Allocate(BytesOf(output)));
    out_.push_back(memory);
    moved_bytes_ += static_cast<int64_t>(BytesOf(output));
  }
  if (of_.moved_bytes > 0) moved_bytes_ = of_.moved_bytes;
  ASSIGN_OR_RETURN(scratch_, Allocate(kernel_.scratch_bytes));
  ASSIGN_OR_RETURN(block_, Allocate(sizeof(StepBlock)));
  RETURN_IF_ERROR(device_.Copy(block_, &of_.block, sizeof(StepBlock)));
  // What is loaded when it first runs cannot be in a capture.
  RETURN_IF_ERROR(Await(*stream_, LaunchAll()));
  ASSIGN_OR_RETURN(program_, stream_->Capture([this] { return LaunchAll(); }));
  return absl::OkStatus();
}

absl::Status KernelRun::Once() {
  RETURN_IF_ERROR(program_->Launch(*stream_));
  return stream_->Synchronize();
}

absl::Status KernelRun::Check() {
  StepBlock block;
  RETURN_IF_ERROR(device_.Copy(&block, block_, sizeof(block)));
  return block.fault.found() ? absl::InternalError(FaultText(block.fault)) : absl::OkStatus();
}

absl::Status KernelRun::MakeKernel(const KernelRegistry& kernels) {
  for (const KernelInput& input : of_.inputs) types_.push_back(input.type);
  Attributes attributes = of_.attributes;
  if (of_.in_place.empty()) {
    Graph graph;
    std::vector<Value> values;
    for (const TensorType& type : types_) {
      values.push_back(graph.Input("x" + std::to_string(values.size()), type));
    }
    const Value made = graph.Add(of_.op, "measured", values, of_.attributes);
    RETURN_IF_ERROR(graph.status());
    outputs_ = graph.node(made).outputs;
    attributes = graph.node(made).attributes;  // With their defaults.
  }
  const std::vector<TensorType> variable = {types_[0]};
  const std::vector<TensorType>& inputs = of_.in_place.empty() ? types_ : variable;
  const KernelFactory* const factory = kernels.Find(of_.op, device_.type(), types_[0].dtype);
  if (factory == nullptr) {
    return absl::UnimplementedError("this program has no kernel of " + of_.op);
  }
  ASSIGN_OR_RETURN(kernel_, (*factory)({.attributes = attributes,
                                        .inputs = inputs,
                                        .outputs = of_.in_place.empty() ? outputs_ : variable,
                                        .name = "measured",
                                        .products = of_.products,
                                        .device = &device_}));
  return absl::OkStatus();
}

absl::StatusOr<std::byte*> KernelRun::Allocate(size_t bytes) {
  ASSIGN_OR_RETURN(Buffer buffer, device_.Allocate(bytes));
  buffers_.push_back(std::move(buffer));
  return buffers_.back().data();
}

absl::Status KernelRun::LaunchAll() {
  for (int i = 0; i < launches_; ++i) {
    RETURN_IF_ERROR(stream_->Launch(kernel_, {.inputs = in_,
                                              .outputs = out_,
                                              .scratch = scratch_,
                                              .block = reinterpret_cast<StepBlock*>(block_),
                                              .stream = stream_.get()}));
  }
  return absl::OkStatus();
}

}  // namespace taas::bench
