#include "trainer/cuda/device_check.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/status.h"
#include "trainer/graph/machine_fault.h"
#include "trainer/graph/tensor_type.h"
#include "trainer/kernels/cuda/launch.h"
#include "trainer/kernels/cuda/product_ops.h"

namespace taas::cuda {
namespace {

using Floats = std::vector<float>;

// Of the short check: some multiples of the tiles that libraries compute, and a rest.
constexpr int64_t kRows = 131, kDepth = 67, kColumns = 97;
constexpr size_t kSmallWorkspaceBytes = 64 << 10;
constexpr int kPatterns = 2;

// Small whole numbers, which each precision has, as it has their products and sums.
Floats WholeNumbers(int64_t count, int64_t step) {
  Floats numbers(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    numbers[static_cast<size_t>(i)] = static_cast<float>(i * step % 7 - 3);
  }
  return numbers;
}

Floats ProductOf(const Floats& a, const Floats& b) {
  Floats c(static_cast<size_t>(kRows * kColumns), 0.0f);
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t k = 0; k < kDepth; ++k) {
      for (int64_t column = 0; column < kColumns; ++column) {
        c[static_cast<size_t>(row * kColumns + column)] +=
            a[static_cast<size_t>(row * kDepth + k)] *
            b[static_cast<size_t>(k * kColumns + column)];
      }
    }
  }
  return c;
}

absl::Status Wrong(const CudaDevice& device, const std::string& what) {
  return MachineFault(absl::DataLossError("GPU " + std::to_string(device.info().index) + " (" +
                                          device.info().name + ", " + device.info().id +
                                          ") is broken: " + what));
}

absl::Status Compare(const CudaDevice& device, const std::string& what, const Floats& got,
                     const Floats& wanted) {
  const auto [bad, good] = std::ranges::mismatch(got, wanted);
  if (bad == got.end()) return absl::OkStatus();
  return Wrong(device, what + " gave " + std::to_string(*bad) + " for " + std::to_string(*good) +
                           " at " + std::to_string(bad - got.begin()));
}

// A device with a stream, and what is done with both.
class Bench {
 public:
  explicit Bench(CudaDevice& device) : device_(device), stream_(device.MakeStream()) {}

  CudaDevice& device() { return device_; }
  GpuStream& stream() { return static_cast<GpuStream&>(*stream_); }

  absl::StatusOr<Buffer> Hold(const Floats& values) {
    ASSIGN_OR_RETURN(Buffer buffer,
                     device_.Allocate(values.size() * sizeof(float), MemoryKind::kDevice));
    RETURN_IF_ERROR(
        device_.Copy(buffer.data(), values.data(), values.size() * sizeof(float)));
    return buffer;
  }
  absl::StatusOr<Floats> Read(const Buffer& buffer, size_t count) {
    Floats values(count);
    RETURN_IF_ERROR(device_.Copy(values.data(), buffer.data(), count * sizeof(float)));
    return values;
  }
  template <typename Params>
  absl::Status Run(KernelRef<Params> kernel, const Grid& grid, const Params& params) {
    const Kernel run{.run = [&](const KernelCall& call) {
      return cuda::Launch(call, kernel, grid, params);
    }};
    return Await(stream(), stream().Launch(run, {.stream = &stream()}));
  }
  absl::Status Multiply(const Product& product) {
    const Kernel run{.run = [&](const KernelCall& call) {
      return StreamOf(call).Multiply(product);
    }};
    return stream().Launch(run, {.stream = &stream()});
  }
  // Of one round of `work`, after one that is not counted.
  absl::StatusOr<double> SecondsOf(int rounds, absl::FunctionRef<absl::Status()> work) {
    RETURN_IF_ERROR(Await(stream(), work()));
    const auto began = std::chrono::steady_clock::now();
    for (int round = 0; round < rounds; ++round) RETURN_IF_ERROR(work());
    RETURN_IF_ERROR(stream().Synchronize());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    return std::max(took.count() / rounds, 1e-9);
  }

 private:
  CudaDevice& device_;
  const std::unique_ptr<Stream> stream_;
};

absl::Status CheckNumbers(Bench& bench) {
  const Floats a = WholeNumbers(kRows * kDepth, 5), b = WholeNumbers(kDepth * kColumns, 3);
  ASSIGN_OR_RETURN(const Buffer at, bench.Hold(a));
  ASSIGN_OR_RETURN(const Buffer by, bench.Hold(b));
  const Floats wanted = ProductOf(a, b);
  ASSIGN_OR_RETURN(const Buffer to, bench.Hold(Floats(wanted.size())));
  ASSIGN_OR_RETURN(const Buffer workspace,
                   bench.device().Allocate(kSmallWorkspaceBytes, MemoryKind::kDevice));
  ASSIGN_OR_RETURN(const Floats back, bench.Read(at, a.size()));
  RETURN_IF_ERROR(Compare(bench.device(), "a copy there and back", back, a));
  for (const Precision precision :
       {Precision::kFloat32, Precision::kTf32, Precision::kBFloat16}) {
    const absl::Status multiplied = Await(
        bench.stream(), bench.Multiply({.m = kRows,
                                        .n = kColumns,
                                        .k = kDepth,
                                        .precision = precision,
                                        .a = reinterpret_cast<const float*>(at.data()),
                                        .b = reinterpret_cast<const float*>(by.data()),
                                        .c = reinterpret_cast<float*>(to.data()),
                                        .workspace = workspace.data(),
                                        .workspace_bytes = kSmallWorkspaceBytes}));
    // A library need not have a way for this shape in fewer bits.
    if (precision != Precision::kFloat32 && absl::IsFailedPrecondition(multiplied)) continue;
    RETURN_IF_ERROR(multiplied);
    ASSIGN_OR_RETURN(const Floats got, bench.Read(to, wanted.size()));
    RETURN_IF_ERROR(Compare(bench.device(),
                            "a product in " + std::string(NameOf(precision)), got, wanted));
  }
  auto* const numbers = reinterpret_cast<float*>(to.data());
  const auto count = static_cast<int64_t>(wanted.size());
  RETURN_IF_ERROR(bench.Run(kScaleKernel, ForElements(count, 4),
                            {numbers, numbers, count, /*factor=*/2}));
  ASSIGN_OR_RETURN(const Floats twice, bench.Read(to, wanted.size()));
  Floats wanted_twice = wanted;
  for (float& number : wanted_twice) number *= 2;
  return Compare(bench.device(), "a kernel that doubles numbers", twice, wanted_twice);
}

absl::Status CheckPatterns(Bench& bench, int64_t bytes) {
  const int64_t words = bytes / static_cast<int64_t>(sizeof(uint64_t));
  if (words == 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Buffer memory,
                   bench.device().Allocate(static_cast<size_t>(bytes), MemoryKind::kDevice));
  ASSIGN_OR_RETURN(const Buffer found,
                   bench.device().Allocate(sizeof(MemoryFaults), MemoryKind::kDevice));
  for (int pattern = 0; pattern < kPatterns; ++pattern) {
    MemoryFaults faults{.count = 0, .first = ~0ull};
    RETURN_IF_ERROR(bench.device().Copy(found.data(), &faults, sizeof(faults)));
    const uint64_t seed = pattern == 0 ? 0 : ~uint64_t{0};
    auto* const at = reinterpret_cast<uint64_t*>(memory.data());
    RETURN_IF_ERROR(bench.Run(kPatternKernel, ForElements(words), {at, words, seed}));
    RETURN_IF_ERROR(bench.Run(kPatternCheckKernel, ForElements(words),
                              {at, words, seed, reinterpret_cast<MemoryFaults*>(found.data())}));
    RETURN_IF_ERROR(bench.device().Copy(&faults, found.data(), sizeof(faults)));
    if (faults.count == 0) continue;
    return Wrong(bench.device(), std::to_string(faults.count) + " of " + std::to_string(words) +
                                     " words of its memory did not keep what was written, the "
                                     "first is " + std::to_string(faults.first));
  }
  return absl::OkStatus();
}

// A part of a GPU may have little.
CheckSizes FitInto(int64_t free, CheckSizes sizes) {
  sizes.copy_bytes = std::min(sizes.copy_bytes, static_cast<size_t>(free / 10));
  // Three matrices, and a workspace of at most sixteen, in a fifth.
  const auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(free) / 380.0));
  sizes.product = std::clamp<int64_t>(side / 16 * 16, 16, sizes.product);
  return sizes;
}

absl::Status MeasureCopies(Bench& bench, const CheckSizes& sizes, DeviceCheck* check) {
  ASSIGN_OR_RETURN(const Buffer one,
                   bench.device().Allocate(sizes.copy_bytes, MemoryKind::kDevice));
  ASSIGN_OR_RETURN(const Buffer other,
                   bench.device().Allocate(sizes.copy_bytes, MemoryKind::kDevice));
  ASSIGN_OR_RETURN(const Buffer host,
                   bench.device().Allocate(sizes.copy_bytes, MemoryKind::kPinned));
  struct Way {
    const Buffer& to;
    const Buffer& from;
    double moved;  // Times the bytes.
    double* gb_s;
  };
  for (const Way& way : {Way{one, other, 2, &check->copied_gb_s},
                         Way{one, host, 1, &check->to_device_gb_s},
                         Way{host, one, 1, &check->from_device_gb_s}}) {
    ASSIGN_OR_RETURN(const double seconds, bench.SecondsOf(sizes.rounds, [&] {
      return bench.stream().Copy(way.to.data(), way.from.data(), sizes.copy_bytes);
    }));
    *way.gb_s = way.moved * static_cast<double>(sizes.copy_bytes) / seconds / 1e9;
  }
  return absl::OkStatus();
}

absl::Status MeasureProducts(Bench& bench, const CheckSizes& sizes, DeviceCheck* check) {
  const int64_t n = sizes.product;
  std::vector<Buffer> matrices;
  for (int i = 0; i < 3; ++i) {
    ASSIGN_OR_RETURN(Buffer matrix,
                     bench.Hold(Floats(static_cast<size_t>(n * n), i < 2 ? 0.5f : 0.0f)));
    matrices.push_back(std::move(matrix));
  }
  const size_t workspace_bytes = WorkspaceBytesFor(n, n);
  ASSIGN_OR_RETURN(const Buffer workspace,
                   bench.device().Allocate(workspace_bytes, MemoryKind::kDevice));
  for (const auto& [precision, tflop_s] :
       {std::pair(Precision::kFloat32, &check->float32_tflop_s),
        std::pair(Precision::kTf32, &check->tf32_tflop_s),
        std::pair(Precision::kBFloat16, &check->bfloat16_tflop_s)}) {
    const Product product{.m = n,
                          .n = n,
                          .k = n,
                          .precision = precision,
                          .a = reinterpret_cast<const float*>(matrices[0].data()),
                          .b = reinterpret_cast<const float*>(matrices[1].data()),
                          .c = reinterpret_cast<float*>(matrices[2].data()),
                          .workspace = workspace.data(),
                          .workspace_bytes = workspace_bytes};
    ASSIGN_OR_RETURN(const double seconds,
                     bench.SecondsOf(sizes.rounds, [&] { return bench.Multiply(product); }));
    *tflop_s = 2.0 * static_cast<double>(n * n) * static_cast<double>(n) / seconds / 1e12;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckShortly(CudaDevice& device) {
  Bench bench(device);
  return CheckNumbers(bench);
}

absl::StatusOr<DeviceCheck> CheckThoroughly(CudaDevice& device, const CheckSizes& sizes) {
  const auto began = std::chrono::steady_clock::now();
  Bench bench(device);
  DeviceCheck check;
  RETURN_IF_ERROR(CheckNumbers(bench));
  ASSIGN_OR_RETURN(const int64_t free, device.FreeBytes());
  RETURN_IF_ERROR(MeasureCopies(bench, FitInto(free, sizes), &check));
  RETURN_IF_ERROR(MeasureProducts(bench, FitInto(free, sizes), &check));
  // What the library loaded is gone from it by now.
  ASSIGN_OR_RETURN(const int64_t left, device.FreeBytes());
  check.memory_bytes = std::min(sizes.memory_bytes, left / 10 * 9) / 256 * 256;
  RETURN_IF_ERROR(CheckPatterns(bench, check.memory_bytes));
  check.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return check;
}

}  // namespace taas::cuda
