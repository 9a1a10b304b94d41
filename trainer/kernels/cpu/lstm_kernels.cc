#include "trainer/kernels/cpu/lstm_kernels.h"

#include <algorithm>
#include <memory>

#include "operator/base/status.h"
#include "trainer/kernels/cpu/gemm.h"
#include "trainer/kernels/cpu/loops.h"
#include "trainer/kernels/cpu/onednn.h"
#include "trainer/kernels/cpu/parallel.h"
#include "trainer/kernels/cpu/sequence_loops.h"

namespace taas {
namespace {

using dnnl::memory;

constexpr int64_t kGates = 4;

struct Layer {
  int64_t steps = 0;
  int64_t examples = 0;
  int64_t inputs = 0;
  int64_t units = 0;
  bool deterministic = false;

  // Of products that wait for each other: they are small.
  int product_threads(int threads) const { return deterministic ? 1 : threads; }
  int64_t rows() const { return steps * examples; }
  int64_t columns() const { return kGates * units; }
};

Layer LayerOf(const KernelSpec& spec, const Shape& x, const Shape& recurrent) {
  return {.steps = x.dim(0),
          .examples = x.dim(1),
          .inputs = x.dim(2),
          .units = recurrent.dim(0),
          .deterministic = spec.deterministic};
}

// out[rows, columns] (+)= in[rows, inner] · weights, whose blocks are made once for many products.
class RepeatedProduct {
 public:
  struct Shape {
    int64_t rows, inner, columns;
    bool transposed;  // weights is stored [columns, inner].
    bool adds;
  };

  explicit RepeatedProduct(const Shape& shape)
      : RepeatedProduct(shape, DescOf(shape)) {}

  size_t bytes() const { return blocked_.get_desc().get_size(); }

  absl::Status Prepare(const float* weights, void* scratch, int threads) {
    plain_.set_data_handle(const_cast<float*>(weights));
    blocked_.set_data_handle(scratch);
    return reorder_.Run(threads);
  }
  absl::Status Run(const float* in, float* out, int threads) {
    in_.set_data_handle(const_cast<float*>(in));
    out_.set_data_handle(out);
    return product_.Run(threads);
  }

 private:
  using Desc = dnnl::inner_product_forward::primitive_desc;

  static Desc DescOf(const Shape& shape) {
    constexpr auto kFloat = memory::data_type::f32;
    const memory::desc in({shape.rows, shape.inner}, kFloat, memory::format_tag::nc);
    const memory::desc out({shape.rows, shape.columns}, kFloat, memory::format_tag::nc);
    const memory::desc weights({shape.columns, shape.inner}, kFloat, memory::format_tag::any);
    dnnl::primitive_attr attributes;
    if (shape.adds) {
      dnnl::post_ops sum;
      sum.append_sum(1.0f);
      attributes.set_post_ops(sum);
    }
    return {{dnnl::prop_kind::forward_inference, in, weights, out}, attributes, DnnlEngine()};
  }

  RepeatedProduct(const Shape& shape, const Desc& desc)
      : plain_(Unbound({{shape.columns, shape.inner},
                        memory::data_type::f32,
                        shape.transposed ? memory::dims{shape.inner, 1}
                                         : memory::dims{1, shape.columns}})),
        blocked_(Unbound(desc.weights_desc())),
        in_(Unbound(desc.src_desc())),
        out_(Unbound(desc.dst_desc())) {
    reorder_.Add(dnnl::reorder(plain_, blocked_),
                 {{DNNL_ARG_FROM, plain_}, {DNNL_ARG_TO, blocked_}});
    product_.Add(dnnl::inner_product_forward(desc), {{DNNL_ARG_SRC, in_},
                                                     {DNNL_ARG_WEIGHTS, blocked_},
                                                     {DNNL_ARG_DST, out_}});
  }

  memory plain_, blocked_, in_, out_;
  DnnlCall reorder_, product_;
};

// Calls `cell(example)` for all examples of a step.
template <typename Cell>
void ForExamples(const Layer& layer, int threads, Cell cell) {
  ForRows(threads, layer.examples, layer.columns(), [&](const Range& share) {
    for (int64_t example = share.begin; example < share.end; ++example) cell(example);
  });
}

absl::Status Forward(const Layer& layer, RepeatedProduct& product, const KernelCall& call) {
  const SequenceLoops& loops = BestSequenceLoops();
  float* const y = call.out(0);
  float* const gates = call.out(1);
  float* const cells = call.out(2);
  const int64_t width = layer.columns();
  const int threads = layer.product_threads(call.threads);
  RETURN_IF_ERROR(product.Prepare(call.in(2), call.scratch, threads));
  RETURN_IF_ERROR(Gemm({.m = layer.rows(), .n = width, .k = layer.inputs, .threads = call.threads,
                        .deterministic = layer.deterministic},
                       call.in(0), call.in(1), gates));
  ForRows(call.threads, layer.rows(), width, [&](const Range& share) {
    float* const rows = gates + share.begin * width;
    BestLoops().bias_add(rows, call.in(3), rows, share.size(), width);
  });
  for (int64_t step = 0; step < layer.steps; ++step) {
    const int64_t row = step * layer.examples;
    if (step > 0) {
      RETURN_IF_ERROR(product.Run(y + (row - layer.examples) * layer.units, gates + row * width,
                                  threads));
    }
    ForExamples(layer, call.threads, [&](int64_t example) {
      const int64_t at = (row + example) * layer.units;
      loops.lstm_cell({.gates = gates + (row + example) * width,
                       .before = step > 0 ? cells + at - layer.examples * layer.units : nullptr,
                       .cells = cells + at,
                       .y = y + at},
                      layer.units);
    });
  }
  return absl::OkStatus();
}

absl::StatusOr<Kernel> Lstm(const KernelSpec& spec) {
  const Layer layer = LayerOf(spec, spec.inputs[0].shape, spec.inputs[2].shape);
  return MakeDnnl("make an LSTM", layer.product_threads(spec.threads), [&]() -> Kernel {
    const auto product = std::make_shared<RepeatedProduct>(
        RepeatedProduct::Shape{.rows = layer.examples,
                               .inner = layer.units,
                               .columns = layer.columns(),
                               .transposed = false,
                               .adds = true});
    return {.run = [layer, product](const KernelCall& call) {
              return Forward(layer, *product, call);
            },
            .scratch_bytes = product->bytes()};
  });
}

struct BackwardScratch {
  float* dgates;   // Of all steps.
  float* dcells;   // Of one step.
  float* dbefore;  // What a step gives to the outputs of the step before.
  std::byte* blocks;

  static size_t Floats(const Layer& layer) {
    return static_cast<size_t>(layer.rows() * layer.columns() +
                               2 * layer.examples * layer.units);
  }
  BackwardScratch(const Layer& layer, void* scratch)
      : dgates(static_cast<float*>(scratch)),
        dcells(dgates + layer.rows() * layer.columns()),
        dbefore(dcells + layer.examples * layer.units),
        blocks(static_cast<std::byte*>(scratch) + Aligned(Floats(layer) * sizeof(float))) {}
};

// inputs: dy, x, w, r, y, gates, cells.
absl::Status BackwardSteps(const Layer& layer, RepeatedProduct& product,
                           const BackwardScratch& scratch, const KernelCall& call) {
  const SequenceLoops& loops = BestSequenceLoops();
  const int64_t width = layer.columns();
  const int threads = layer.product_threads(call.threads);
  std::fill_n(scratch.dcells, layer.examples * layer.units, 0.0f);
  RETURN_IF_ERROR(product.Prepare(call.in(3), scratch.blocks, threads));
  for (int64_t step = layer.steps; step-- > 0;) {
    const int64_t row = step * layer.examples;
    const bool last = step + 1 == layer.steps;
    ForExamples(layer, call.threads, [&](int64_t example) {
      const int64_t at = (row + example) * layer.units;
      const int64_t here = example * layer.units;
      const float* const cells = call.in(6) + at;
      loops.lstm_cell_grad({.gates = call.in(5) + (row + example) * width,
                            .before = step > 0 ? cells - layer.examples * layer.units : nullptr,
                            .cells = cells,
                            .dy = call.in(0) + at,
                            .dy_later = last ? nullptr : scratch.dbefore + here,
                            .dcells = scratch.dcells + here,
                            .dgates = scratch.dgates + (row + example) * width},
                           layer.units);
    });
    if (step > 0) {
      RETURN_IF_ERROR(product.Run(scratch.dgates + row * width, scratch.dbefore, threads));
    }
  }
  return absl::OkStatus();
}

absl::Status Backward(const Layer& layer, bool input_gradient, RepeatedProduct& product,
                      const KernelCall& call) {
  const BackwardScratch scratch(layer, call.scratch);
  RETURN_IF_ERROR(BackwardSteps(layer, product, scratch, call));
  const int64_t width = layer.columns();
  const int64_t rows = layer.rows();
  if (input_gradient) {
    RETURN_IF_ERROR(Gemm({.m = rows, .n = layer.inputs, .k = width, .transpose_b = true,
                          .threads = call.threads,
                        .deterministic = layer.deterministic},
                         scratch.dgates, call.in(2), call.out(0)));
  }
  RETURN_IF_ERROR(Gemm({.m = layer.inputs, .n = width, .k = rows, .transpose_a = true,
                        .threads = call.threads,
                        .deterministic = layer.deterministic},
                       call.in(1), scratch.dgates, call.out(1)));
  // The outputs of each step but the last with the gates of the step after it.
  RETURN_IF_ERROR(Gemm({.m = layer.units, .n = width, .k = rows - layer.examples,
                        .transpose_a = true, .threads = call.threads,
                        .deterministic = layer.deterministic},
                       call.in(4), scratch.dgates + layer.examples * width, call.out(2)));
  BestLoops().sum_rows(scratch.dgates, call.out(3), rows, width);
  return absl::OkStatus();
}

absl::StatusOr<Kernel> LstmGrad(const KernelSpec& spec) {
  const Layer layer = LayerOf(spec, spec.inputs[1].shape, spec.inputs[3].shape);
  const bool input_gradient = spec.attributes.Bool("input_gradient");
  return MakeDnnl("make an LSTM's gradient", layer.product_threads(spec.threads), [&]() -> Kernel {
    const auto product = std::make_shared<RepeatedProduct>(
        RepeatedProduct::Shape{.rows = layer.examples,
                               .inner = layer.columns(),
                               .columns = layer.units,
                               .transposed = true,
                               .adds = false});
    return {.run = [layer, input_gradient, product](const KernelCall& call) {
              return Backward(layer, input_gradient, *product, call);
            },
            .scratch_bytes = Aligned(BackwardScratch::Floats(layer) * sizeof(float)) +
                             product->bytes()};
  });
}

}  // namespace

void AddLstmKernels(KernelRegistry* kernels) {
  kernels->Add("Lstm", "CPU", DType::kFloat32, Lstm);
  kernels->Add("LstmGrad", "CPU", DType::kFloat32, LstmGrad);
}

}  // namespace taas
