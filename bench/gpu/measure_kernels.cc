#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/gpu/commands.h"
#include "bench/gpu/kernel_cases.h"
#include "bench/gpu/rounds.h"
#include "operator/base/random.h"
#include "operator/base/status.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/kernel_registry.h"

namespace taas::bench {
namespace {

// In one captured program, so that its launch is none of the time.
int LaunchesOf(const Context& context) { return context.size == Size::kSmall ? 2 : 20; }

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

// A kernel with its memory on the device.
class KernelRun {
 public:
  KernelRun(Device& device, const KernelCase& of, int launches)
      : device_(device), of_(of), launches_(launches), stream_(device.MakeStream()) {}

  absl::Status Make(const Runtime& runtime) {
    RETURN_IF_ERROR(MakeKernel(runtime));
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
    ASSIGN_OR_RETURN(program_, stream_->Capture([this] { return LaunchAll(); }));
    return absl::OkStatus();
  }

  absl::Status Once() {
    RETURN_IF_ERROR(program_->Launch(*stream_));
    return stream_->Synchronize();
  }
  int64_t moved_bytes() const { return moved_bytes_; }
  // Found no fault in its data: else it may have done less.
  absl::Status Check() {
    StepBlock block;
    RETURN_IF_ERROR(device_.Copy(&block, block_, sizeof(block)));
    return block.fault.found() ? absl::InternalError(FaultText(block.fault)) : absl::OkStatus();
  }

 private:
  absl::Status MakeKernel(const Runtime& runtime) {
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
    const KernelFactory* const factory =
        runtime.kernels.Find(of_.op, runtime.type(), types_[0].dtype);
    if (factory == nullptr) {
      return absl::UnimplementedError("this program has no kernel of " + of_.op);
    }
    ASSIGN_OR_RETURN(kernel_, (*factory)({.attributes = attributes,
                                          .inputs = inputs,
                                          .outputs = of_.in_place.empty() ? outputs_ : variable,
                                          .name = "measured"}));
    return absl::OkStatus();
  }

  absl::StatusOr<std::byte*> Allocate(size_t bytes) {
    ASSIGN_OR_RETURN(Buffer buffer, device_.Allocate(bytes));
    buffers_.push_back(std::move(buffer));
    return buffers_.back().data();
  }

  absl::Status LaunchAll() {
    for (int i = 0; i < launches_; ++i) {
      RETURN_IF_ERROR(stream_->Launch(kernel_, {.inputs = in_,
                                                .outputs = out_,
                                                .scratch = scratch_,
                                                .block = reinterpret_cast<StepBlock*>(block_),
                                                .stream = stream_.get()}));
    }
    return absl::OkStatus();
  }

  Device& device_;
  const KernelCase& of_;
  const int launches_;
  std::vector<TensorType> types_, outputs_;
  Kernel kernel_;
  std::vector<Buffer> buffers_;
  std::vector<const void*> in_;
  std::vector<void*> out_;
  std::byte* scratch_ = nullptr;
  std::byte* block_ = nullptr;
  int64_t moved_bytes_ = 0;
  const std::unique_ptr<Stream> stream_;
  std::unique_ptr<Program> program_;
};

nlohmann::json RowOf(const std::string& name, int64_t bytes, double ms, double copy) {
  const double rate = static_cast<double>(bytes) / ms / 1e6;
  nlohmann::json row = {
      {"name", name}, {"bytes", bytes}, {"ms", ms}, {"gigabytesPerSecond", rate}};
  row["shareOfCopy"] = copy > 0 ? rate / copy : 1;
  return row;
}

// Of a copy from one array to another on the device, which reads one and writes one.
absl::StatusOr<nlohmann::json> MeasureCopy(const Context& context) {
  Device& device = context.gpus.device(0);
  const auto bytes = static_cast<size_t>(context.bytes);
  ASSIGN_OR_RETURN(const Buffer from, device.Allocate(bytes));
  ASSIGN_OR_RETURN(const Buffer to, device.Allocate(bytes));
  const std::unique_ptr<Stream> stream = device.MakeStream();
  const int launches = LaunchesOf(context);
  ASSIGN_OR_RETURN(const auto program, stream->Capture([&] {
    absl::Status status;
    for (int i = 0; i < launches && status.ok(); ++i) {
      status = stream->Copy(to.data(), from.data(), bytes);
    }
    return status;
  }));
  ASSIGN_OR_RETURN(const Rounds rounds,
                   MeasureRounds(context.clock, context.seconds, [&]() -> absl::Status {
                     RETURN_IF_ERROR(program->Launch(*stream));
                     return stream->Synchronize();
                   }));
  return RowOf("copy", 2 * context.bytes, rounds.median() / launches, 0);
}

absl::StatusOr<nlohmann::json> Measure(const Context& context, const KernelCase& of, double copy) {
  const int launches = LaunchesOf(context);
  KernelRun run(context.gpus.device(0), of, launches);
  RETURN_IF_ERROR(run.Make(context.gpus.runtime()));
  ASSIGN_OR_RETURN(const Rounds rounds, MeasureRounds(context.clock, context.seconds,
                                                      [&] { return run.Once(); }));
  RETURN_IF_ERROR(run.Check());
  return RowOf(of.name, run.moved_bytes(), rounds.median() / launches, copy);
}

}  // namespace

void MeasureKernels(const Context& context) {
  auto copied = MeasureCopy(context);
  if (!copied.ok()) {
    context.file.Add(TroubleOf("copy", copied.status()));
    return;
  }
  const double copy = (*copied)["gigabytesPerSecond"];
  context.file.Add(*std::move(copied));
  for (const KernelCase& of : KernelCases(context.bytes)) {
    if (!context.Wants(of.name)) continue;
    auto measured = Measure(context, of, copy);
    context.file.Add(measured.ok() ? *std::move(measured)
                                   : TroubleOf(of.name, measured.status()));
  }
}

}  // namespace taas::bench
