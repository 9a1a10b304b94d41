#include "trainer/kernels/cpu/cpu_kernels.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "trainer/graph/rows.h"
#include "trainer/kernels/cpu/attention_kernels.h"
#include "trainer/kernels/cpu/batch_norm_kernels.h"
#include "trainer/kernels/cpu/conv_kernels.h"
#include "trainer/kernels/cpu/fused_kernels.h"
#include "trainer/kernels/cpu/image_kernels.h"
#include "trainer/kernels/cpu/loss_kernels.h"
#include "trainer/kernels/cpu/lstm_kernels.h"
#include "trainer/kernels/cpu/product.h"
#include "trainer/kernels/cpu/sequence_kernels.h"
#include "trainer/kernels/cpu/update_kernels.h"
#include "trainer/loops/loops.h"
#include "trainer/loops/parallel.h"

namespace taas {
namespace {

using Unary = void (*)(const float*, float*, int64_t);
using Binary = void (*)(const float*, const float*, float*, int64_t);

void AddFloat(KernelRegistry* kernels, std::string_view op, KernelFactory factory) {
  kernels->Add(op, "CPU", DType::kFloat32, std::move(factory));
}

KernelFactory UnaryFactory(Unary loop) {
  return [loop](const KernelSpec& spec) -> absl::StatusOr<Kernel> {
    const int64_t n = spec.outputs[0].shape.count();
    return Kernel{.run = [loop, n](const KernelCall& call) {
      ForParts(call.threads, n, [&](int64_t at, int64_t count) {
        loop(call.in(0) + at, call.out() + at, count);
      });
      return absl::OkStatus();
    }};
  };
}

KernelFactory BinaryFactory(Binary loop) {
  return [loop](const KernelSpec& spec) -> absl::StatusOr<Kernel> {
    const int64_t n = spec.outputs[0].shape.count();
    return Kernel{.run = [loop, n](const KernelCall& call) {
      ForParts(call.threads, n, [&](int64_t at, int64_t count) {
        loop(call.in(0) + at, call.in(1) + at, call.out() + at, count);
      });
      return absl::OkStatus();
    }};
  };
}

absl::StatusOr<Kernel> MatMul(const KernelSpec& spec) {
  GemmShape shape;
  shape.transpose_a = spec.attributes.Bool("transpose_a");
  shape.transpose_b = spec.attributes.Bool("transpose_b");
  const Rows a = RowsOf(spec.inputs[0].shape);
  shape.m = shape.transpose_a ? a.columns : a.rows;
  shape.n = RowsOf(spec.outputs[0].shape).columns;
  shape.k = shape.transpose_a ? a.rows : a.columns;
  const ProductMaker products(spec);
  return Kernel{.run =
                    [shape, products](const KernelCall& call) mutable {
                      shape.threads = call.threads;
                      return products.Run(shape, call.in(0), call.in(1), call.out(),
                                          call.scratch);
                    },
                .scratch_bytes = products.ScratchBytes(shape),
                .products = products.precision()};
}

using BiasLoop = void (*)(const float*, const float*, float*, int64_t, int64_t);

KernelFactory BiasFactory(BiasLoop loop) {
  return [loop](const KernelSpec& spec) -> absl::StatusOr<Kernel> {
    const int64_t columns = spec.inputs[1].shape.count();
    const int64_t rows = columns == 0 ? 0 : spec.inputs[0].shape.count() / columns;
    return Kernel{.run = [loop, rows, columns](const KernelCall& call) {
      ForRows(call.threads, rows, columns, [&](const Range& share) {
        const int64_t at = share.begin * columns;
        loop(call.in(0) + at, call.in(1), call.out() + at, share.size(), columns);
      });
      return absl::OkStatus();
    }};
  };
}

absl::StatusOr<Kernel> AddN(const KernelSpec& spec) {
  const int64_t n = spec.outputs[0].shape.count();
  return Kernel{.run = [n, &loops = BestLoops()](const KernelCall& call) {
    ForParts(call.threads, n, [&](int64_t at, int64_t count) {
      if (call.inputs.size() == 1) std::copy_n(call.in(0) + at, count, call.out() + at);
      for (size_t i = 1; i < call.inputs.size(); ++i) {
        loops.add((i == 1 ? call.in(0) : call.out()) + at, call.in(i) + at, call.out() + at,
                  count);
      }
    });
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> Scale(const KernelSpec& spec) {
  const int64_t n = spec.outputs[0].shape.count();
  const float factor = static_cast<float>(spec.attributes.Number("factor"));
  return Kernel{.run = [n, factor, &loops = BestLoops()](const KernelCall& call) {
    ForParts(call.threads, n, [&](int64_t at, int64_t count) {
      loops.scale(call.in(0) + at, factor, call.out() + at, count);
    });
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> Square(const KernelSpec& spec) {
  const int64_t n = spec.outputs[0].shape.count();
  return Kernel{.run = [n, &loops = BestLoops()](const KernelCall& call) {
    ForParts(call.threads, n, [&](int64_t at, int64_t count) {
      loops.mul(call.in(0) + at, call.in(0) + at, call.out() + at, count);
    });
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> Identity(const KernelSpec& spec) {
  const int64_t n = spec.outputs[0].shape.count();
  return Kernel{.run = [n](const KernelCall& call) {
    if (call.out() != call.in(0)) std::copy_n(call.in(0), n, call.out());
    return absl::OkStatus();
  }};
}

// A tensor around one axis: [outer, axis, inner].
struct Around {
  int64_t outer = 1;
  int64_t inner = 1;
};

Around AroundAxis(const Shape& shape, int64_t axis) {
  Around around;
  for (int i = 0; i < shape.rank(); ++i) {
    if (i < axis) around.outer *= shape.dim(i);
    if (i > axis) around.inner *= shape.dim(i);
  }
  return around;
}

absl::StatusOr<Kernel> Concat(const KernelSpec& spec) {
  const int64_t axis = spec.attributes.Int("axis");
  const Around around = AroundAxis(spec.outputs[0].shape, axis);
  std::vector<int64_t> widths;  // Elements of each input per outer index.
  int64_t width = 0;
  for (const TensorType& type : spec.inputs) {
    widths.push_back(type.shape.dim(static_cast<int>(axis)) * around.inner);
    width += widths.back();
  }
  return Kernel{.run = [widths = std::move(widths), width,
                        outer = around.outer](const KernelCall& call) {
    for (int64_t row = 0; row < outer; ++row) {
      float* to = call.out() + row * width;
      for (size_t i = 0; i < widths.size(); ++i) {
        to = std::copy_n(call.in(i) + row * widths[i], widths[i], to);
      }
    }
    return absl::OkStatus();
  }};
}

template <typename T>
absl::StatusOr<Kernel> Slice(const KernelSpec& spec) {
  const int64_t axis = spec.attributes.Int("axis");
  const Around around = AroundAxis(spec.outputs[0].shape, axis);
  const int64_t from_width = spec.inputs[0].shape.dim(static_cast<int>(axis)) * around.inner;
  const int64_t width = spec.attributes.Int("size") * around.inner;
  const int64_t begin = spec.attributes.Int("begin") * around.inner;
  return Kernel{.run = [=, outer = around.outer](const KernelCall& call) {
    for (int64_t row = 0; row < outer; ++row) {
      std::copy_n(static_cast<const T*>(call.inputs[0]) + row * from_width + begin, width,
                  static_cast<T*>(call.outputs[0]) + row * width);
    }
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> Pad(const KernelSpec& spec) {
  const int64_t axis = spec.attributes.Int("axis");
  const Around around = AroundAxis(spec.outputs[0].shape, axis);
  const int64_t width = spec.inputs[0].shape.dim(static_cast<int>(axis)) * around.inner;
  const int64_t before = spec.attributes.Int("before") * around.inner;
  const int64_t after = spec.attributes.Int("after") * around.inner;
  return Kernel{.run = [=, outer = around.outer](const KernelCall& call) {
    float* to = call.out();
    for (int64_t row = 0; row < outer; ++row) {
      to = std::fill_n(to, before, 0.0f);
      to = std::copy_n(call.in(0) + row * width, width, to);
      to = std::fill_n(to, after, 0.0f);
    }
    return absl::OkStatus();
  }};
}

// A tensor around the neighbouring axes of a reduction: [outer, middle, inner].
struct Reduction {
  int64_t outer = 1;
  int64_t middle = 1;
  int64_t inner = 1;
};

Reduction ReductionOf(const Shape& whole, const std::vector<int64_t>& axes) {
  const int64_t first = axes.empty() ? 0 : axes.front();
  const int64_t last = axes.empty() ? whole.rank() - 1 : axes.back();
  Reduction reduction;
  for (int axis = 0; axis < whole.rank(); ++axis) {
    if (axis < first) reduction.outer *= whole.dim(axis);
    if (axis >= first && axis <= last) reduction.middle *= whole.dim(axis);
    if (axis > last) reduction.inner *= whole.dim(axis);
  }
  return reduction;
}

KernelFactory ReduceFactory(bool mean) {
  return [mean](const KernelSpec& spec) -> absl::StatusOr<Kernel> {
    const Reduction r = ReductionOf(spec.inputs[0].shape, spec.attributes.Ints("axes"));
    const float factor = mean && r.middle > 0 ? 1.0f / static_cast<float>(r.middle) : 1.0f;
    // One large sum is made of sums of shares; many small ones are shared out as they are.
    const bool parts = r.outer == 1 && r.inner > 1 && SharesOf(r.middle * r.inner) > 1;
    const auto sum = [r, &loops = BestLoops()](const float* from, int64_t rows, float* to) {
      if (r.inner == 1) {
        *to = loops.sum(from, rows);
      } else {
        loops.sum_rows(from, to, rows, r.inner);
      }
    };
    const auto run = [r, factor, parts, sum, &loops = BestLoops()](const KernelCall& call) {
      if (parts) {
        auto* const sums = static_cast<float*>(call.scratch);
        const int64_t shares = SharesOf(r.middle * r.inner);
        ParallelFor(call.threads, shares, [&](int64_t i) {
          const Range share = ShareOf(r.middle, shares, i);
          sum(call.in(0) + share.begin * r.inner, share.size(), sums + i * r.inner);
        });
        sum(sums, shares, call.out());
      } else {
        ForRows(call.threads, r.outer, r.middle * r.inner, [&](const Range& share) {
          for (int64_t i = share.begin; i < share.end; ++i) {
            sum(call.in(0) + i * r.middle * r.inner, r.middle, call.out() + i * r.inner);
          }
        });
      }
      if (factor != 1.0f) loops.scale(call.out(), factor, call.out(), r.outer * r.inner);
      return absl::OkStatus();
    };
    return Kernel{.run = run,
                  .scratch_bytes = parts ? sizeof(float) * static_cast<size_t>(kSharesMax * r.inner)
                                         : 0};
  };
}

absl::StatusOr<Kernel> Expand(const KernelSpec& spec) {
  const Reduction r = ReductionOf(spec.outputs[0].shape, spec.attributes.Ints("axes"));
  const bool mean = spec.attributes.Bool("mean") && r.middle > 0;
  const float factor = mean ? 1.0f / static_cast<float>(r.middle) : 1.0f;
  return Kernel{.run = [r, factor, &loops = BestLoops()](const KernelCall& call) {
    ForRows(call.threads, r.outer, r.middle * r.inner, [&](const Range& share) {
      for (int64_t i = share.begin; i < share.end; ++i) {
        const float* from = call.in(0) + i * r.inner;
        float* to = call.out() + i * r.middle * r.inner;
        if (r.inner == 1) {
          std::fill_n(to, r.middle, factor * *from);
          continue;
        }
        for (int64_t row = 0; row < r.middle; ++row) {
          loops.scale(from, factor, to + row * r.inner, r.inner);
        }
      }
    });
    return absl::OkStatus();
  }};
}

}  // namespace

void AddCpuKernels(KernelRegistry* kernels) {
  const Loops& loops = BestLoops();
  AddFloat(kernels, "MatMul", MatMul);
  AddFloat(kernels, "BiasAdd", BiasFactory(loops.bias_add));
  AddFloat(kernels, "BiasAddRelu", BiasFactory(loops.bias_add_relu));
  AddFloat(kernels, "Add", BinaryFactory(loops.add));
  AddFloat(kernels, "Sub", BinaryFactory(loops.sub));
  AddFloat(kernels, "Mul", BinaryFactory(loops.mul));
  AddFloat(kernels, "ReluGrad", BinaryFactory(loops.relu_grad));
  AddFloat(kernels, "SigmoidGrad", BinaryFactory(loops.sigmoid_grad));
  AddFloat(kernels, "TanhGrad", BinaryFactory(loops.tanh_grad));
  AddFloat(kernels, "Relu", UnaryFactory(loops.relu));
  AddFloat(kernels, "Sigmoid", UnaryFactory(loops.sigmoid));
  AddFloat(kernels, "Tanh", UnaryFactory(loops.tanh));
  AddFloat(kernels, "AddN", AddN);
  AddFloat(kernels, "Scale", Scale);
  AddFloat(kernels, "Square", Square);
  AddFloat(kernels, "Identity", Identity);
  AddFloat(kernels, "Concat", Concat);
  AddFloat(kernels, "Slice", Slice<float>);
  kernels->Add("Slice", "CPU", DType::kInt64, Slice<int64_t>);
  AddFloat(kernels, "Pad", Pad);
  AddFloat(kernels, "ReduceSum", ReduceFactory(/*mean=*/false));
  AddFloat(kernels, "ReduceMean", ReduceFactory(/*mean=*/true));
  AddFloat(kernels, "Expand", Expand);
  AddLossKernels(kernels);
  AddConvKernels(kernels);
  AddImageKernels(kernels);
  AddBatchNormKernels(kernels);
  AddSequenceKernels(kernels);
  AddAttentionKernels(kernels);
  AddLstmKernels(kernels);
  AddFusedKernels(kernels);
  AddUpdateKernels(kernels);
}

const KernelRegistry& StandardKernels() {
  static const KernelRegistry* const kKernels = [] {
    auto kernels = std::make_unique<KernelRegistry>();
    AddCpuKernels(kernels.get());
    return kernels.release();
  }();
  return *kKernels;
}

}  // namespace taas
