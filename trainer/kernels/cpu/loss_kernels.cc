#include "trainer/kernels/cpu/loss_kernels.h"

#include <algorithm>
#include <cmath>

#include "trainer/graph/rows.h"
#include "trainer/kernels/cpu/report.h"
#include "trainer/loops/loops.h"
#include "trainer/loops/parallel.h"

namespace taas {
namespace {

Fault BadLabel(int64_t row, int32_t label, int64_t classes) {
  return {.kind = Fault::Kind::kLabel, .at = row, .bound = classes, .value = label};
}

// The logarithm of a product of sums, each from 1 to the number of classes: one logarithm for many
// rows.
class LogOfProduct {
 public:
  void Multiply(float sum) {
    product_ *= static_cast<double>(sum);
    if (product_ > kFull) Fold();
  }
  double Take() {
    Fold();
    return log_;
  }

 private:
  // Far below the largest double, so that another factor fits.
  static constexpr double kFull = 1e200;

  void Fold() {
    log_ += std::log(product_);
    product_ = 1;
  }

  double product_ = 1;
  double log_ = 0;
};

// -log softmax(x)[label] = log(sum exp(x - max)) - (x[label] - max): no exponential overflows,
// and a confident answer keeps its digits.
absl::StatusOr<Kernel> CrossEntropy(const KernelSpec& spec) {
  const auto [rows, classes] = RowsOf(spec.inputs[0].shape);
  const auto run = [rows = rows, classes = classes,
                    &loops = BestLoops()](const KernelCall& call) -> absl::Status {
    const float* logits = call.in(0);
    const int32_t* labels = call.in_int32(1);
    float* largest = static_cast<float*>(call.scratch);
    float* sums = largest + rows;
    for (int64_t row = 0; row < rows; ++row) {
      if (labels[row] < 0 || labels[row] >= classes) {
        Report(call, BadLabel(row, labels[row], classes));
        return absl::OkStatus();
      }
    }
    ForRows(call.threads, rows, classes, [&, classes = classes](const Range& share) {
      const int64_t at = share.begin * classes;
      loops.softmax(logits + at, call.out(1) + at, largest + share.begin, sums + share.begin,
                    share.size(), classes);
    });
    LogOfProduct log;
    double loss = 0;
    for (int64_t row = 0; row < rows; ++row) {
      log.Multiply(sums[row]);
      loss -= static_cast<double>(logits[row * classes + labels[row]] - largest[row]);
    }
    loss += log.Take();
    *call.out(0) = rows == 0 ? 0.0f : static_cast<float>(loss / static_cast<double>(rows));
    return absl::OkStatus();
  };
  return Kernel{.run = run, .scratch_bytes = 2 * sizeof(float) * static_cast<size_t>(rows)};
}

// d loss / d logits = (probabilities - onehot(label)) / rows.
absl::StatusOr<Kernel> CrossEntropyGrad(const KernelSpec& spec) {
  const auto [rows, classes] = RowsOf(spec.inputs[0].shape);
  return Kernel{.run = [rows = rows, classes = classes,
                        &loops = BestLoops()](const KernelCall& call) -> absl::Status {
    const int32_t* labels = call.in_int32(1);
    const float factor = rows == 0 ? 0.0f : *call.in(2) / static_cast<float>(rows);
    ForParts(call.threads, rows * classes, [&](int64_t at, int64_t count) {
      loops.scale(call.in(0) + at, factor, call.out() + at, count);
    });
    for (int64_t row = 0; row < rows; ++row) {
      if (labels[row] < 0 || labels[row] >= classes) {
        Report(call, BadLabel(row, labels[row], classes));
        return absl::OkStatus();
      }
      call.out()[row * classes + labels[row]] -= factor;
    }
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> SquaredError(const KernelSpec& spec) {
  const int64_t n = spec.inputs[0].shape.count();
  return Kernel{.run = [n, &loops = BestLoops()](const KernelCall& call) {
    const float sum = loops.squared_distance(call.in(0), call.in(1), n);
    *call.out() = n == 0 ? 0.0f : sum / static_cast<float>(n);
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> SquaredErrorGrad(const KernelSpec& spec) {
  const int64_t n = spec.inputs[0].shape.count();
  return Kernel{.run = [n, &loops = BestLoops()](const KernelCall& call) {
    const float factor = n == 0 ? 0.0f : 2.0f * *call.in(2) / static_cast<float>(n);
    loops.sub(call.in(0), call.in(1), call.out(), n);
    loops.scale(call.out(), factor, call.out(), n);
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> L2Loss(const KernelSpec& spec) {
  const int64_t n = spec.inputs[0].shape.count();
  return Kernel{.run = [n, &loops = BestLoops()](const KernelCall& call) {
    *call.out() = 0.5f * loops.sum_squares(call.in(0), n);
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> L2LossGrad(const KernelSpec& spec) {
  const int64_t n = spec.inputs[0].shape.count();
  return Kernel{.run = [n, &loops = BestLoops()](const KernelCall& call) {
    loops.scale(call.in(0), *call.in(1), call.out(), n);
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> L2LossGradAdd(const KernelSpec& spec) {
  const int64_t n = spec.inputs[0].shape.count();
  return Kernel{.run = [n, &loops = BestLoops()](const KernelCall& call) {
    loops.add_scaled(call.in(0), *call.in(2), call.in(1), call.out(), n);
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> L1Loss(const KernelSpec& spec) {
  const int64_t n = spec.inputs[0].shape.count();
  return Kernel{.run = [n, &loops = BestLoops()](const KernelCall& call) {
    *call.out() = loops.sum_absolute(call.in(0), n);
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> L1LossGrad(const KernelSpec& spec) {
  const int64_t n = spec.inputs[0].shape.count();
  return Kernel{.run = [n, &loops = BestLoops()](const KernelCall& call) {
    loops.scaled_sign(call.in(0), *call.in(1), call.out(), n);
    return absl::OkStatus();
  }};
}

// The first of the largest.
int64_t ArgMaxOf(const float* x, int64_t n) { return std::max_element(x, x + n) - x; }

absl::StatusOr<Kernel> ArgMax(const KernelSpec& spec) {
  const auto [rows, columns] = RowsOf(spec.inputs[0].shape);
  return Kernel{.run = [rows = rows, columns = columns](const KernelCall& call) {
    for (int64_t row = 0; row < rows; ++row) {
      call.out_int32()[row] =
          static_cast<int32_t>(ArgMaxOf(call.in(0) + row * columns, columns));
    }
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> Accuracy(const KernelSpec& spec) {
  const auto [rows, classes] = RowsOf(spec.inputs[0].shape);
  return Kernel{.run = [rows = rows, classes = classes](const KernelCall& call) {
    int64_t right = 0;
    for (int64_t row = 0; row < rows; ++row) {
      right += ArgMaxOf(call.in(0) + row * classes, classes) == call.in_int32(1)[row] ? 1 : 0;
    }
    *call.out() = rows == 0 ? 0.0f : static_cast<float>(right) / static_cast<float>(rows);
    return absl::OkStatus();
  }};
}

}  // namespace

void AddLossKernels(KernelRegistry* kernels) {
  kernels->Add("SparseSoftmaxCrossEntropy", "CPU", DType::kFloat32, CrossEntropy);
  kernels->Add("SparseSoftmaxCrossEntropyGrad", "CPU", DType::kFloat32, CrossEntropyGrad);
  kernels->Add("MeanSquaredError", "CPU", DType::kFloat32, SquaredError);
  kernels->Add("MeanSquaredErrorGrad", "CPU", DType::kFloat32, SquaredErrorGrad);
  kernels->Add("L1Loss", "CPU", DType::kFloat32, L1Loss);
  kernels->Add("L1LossGrad", "CPU", DType::kFloat32, L1LossGrad);
  kernels->Add("L2Loss", "CPU", DType::kFloat32, L2Loss);
  kernels->Add("L2LossGrad", "CPU", DType::kFloat32, L2LossGrad);
  kernels->Add("L2LossGradAdd", "CPU", DType::kFloat32, L2LossGradAdd);
  kernels->Add("ArgMax", "CPU", DType::kFloat32, ArgMax);
  kernels->Add("Accuracy", "CPU", DType::kFloat32, Accuracy);
}

}  // namespace taas
