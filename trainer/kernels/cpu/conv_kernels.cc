#include "trainer/kernels/cpu/conv_kernels.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include "operator/base/status.h"
#include "trainer/graph/window.h"
#include "trainer/kernels/cpu/bfloat16_conv.h"
#include "trainer/kernels/cpu/onednn.h"
#include "trainer/kernels/cpu/product.h"
#include "trainer/kernels/cpu/scratch.h"

namespace taas {
namespace {

using dnnl::memory;
using Desc = memory::desc;
using Dims = memory::dims;
using Tag = memory::format_tag;

constexpr auto kFloat = memory::data_type::f32;

// A convolution in oneDNN's terms.
struct Convolution {
  Window window;
  Dims images, weights, outputs;  // {n, c, h, w}, {o, i, h, w}, {n, o, h, w}
  Desc plain_images, plain_weights, plain_outputs;

  Dims strides() const { return {window.stride[0], window.stride[1]}; }
  Dims before() const { return {window.before[0], window.before[1]}; }
  Dims after() const { return {window.after[0], window.after[1]}; }
  // Weights as the primitive likes them best.
  Desc any_weights() const { return Desc(weights, kFloat, Tag::any); }
  BFloat16Convolution rounded() const {
    return {.images = images[0], .in = images[1], .out = outputs[1], .window = window};
  }
};

absl::StatusOr<Convolution> ConvolutionOf(const Attributes& attributes, const Shape& x,
                                          const Shape& w) {
  Convolution conv;
  ASSIGN_OR_RETURN(conv.window,
                   WindowOf(attributes, {x.dim(1), x.dim(2)}, {w.dim(0), w.dim(1)}));
  conv.images = {x.dim(0), x.dim(3), x.dim(1), x.dim(2)};
  conv.weights = {w.dim(3), w.dim(2), w.dim(0), w.dim(1)};
  conv.outputs = {x.dim(0), w.dim(3), conv.window.out[0], conv.window.out[1]};
  conv.plain_images = Desc(conv.images, kFloat, Tag::nhwc);
  conv.plain_weights = Desc(conv.weights, kFloat, Tag::hwio);
  conv.plain_outputs = Desc(conv.outputs, kFloat, Tag::nhwc);
  return conv;
}

dnnl::primitive_attr OwnScratch() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

dnnl::convolution_forward::primitive_desc ForwardDesc(const Convolution& conv) {
  const dnnl::convolution_forward::desc desc(
      dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct, conv.plain_images,
      conv.any_weights(), conv.plain_outputs, conv.strides(), conv.before(), conv.after());
  return {desc, OwnScratch(), DnnlEngine()};
}

// One convolution primitive with the reordering of its weights, before it or after it. In the
// kernel's scratch memory lie the weights in blocks, then what the primitive needs itself.
class ConvolutionRun {
 public:
  // `into`: the weights are the result.
  ConvolutionRun(const Desc& plain, const Desc& blocked, const Desc& scratchpad, bool into)
      : plain_(Unbound(plain)), blocked_(plain == blocked ? plain_ : Unbound(blocked)),
        scratchpad_(Unbound(scratchpad)), into_(into) {
    if (plain != blocked) blocked_bytes_ = Aligned(blocked.get_size());
    bytes_ = blocked_bytes_ + Aligned(scratchpad.get_size());
  }

  const memory& weights() const { return blocked_; }
  size_t bytes() const { return bytes_; }

  void Add(dnnl::primitive primitive, DnnlCall::Arguments arguments) {
    arguments.emplace_back(DNNL_ARG_SCRATCHPAD, scratchpad_);
    const bool reorder = blocked_bytes_ > 0;
    if (reorder && !into_) AddReorder(plain_, blocked_);
    call_.Add(std::move(primitive), arguments);
    if (reorder && into_) AddReorder(blocked_, plain_);
  }

  absl::Status Run(const float* weights, const KernelCall& call) {
    return Run(weights, call, call.threads);
  }
  absl::Status Run(const float* weights, const KernelCall& call, int threads) {
    auto* const scratch = static_cast<std::byte*>(call.scratch);
    plain_.set_data_handle(const_cast<float*>(weights));
    if (blocked_bytes_ > 0) blocked_.set_data_handle(scratch);
    scratchpad_.set_data_handle(scratch + blocked_bytes_);
    return call_.Run(threads);
  }

 private:
  void AddReorder(const memory& from, const memory& to) {
    call_.Add(dnnl::reorder(from, to), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  }

  memory plain_, blocked_, scratchpad_;
  const bool into_;
  size_t blocked_bytes_ = 0;
  size_t bytes_ = 0;
  DnnlCall call_;
};

void Point(memory& to, const float* at) { to.set_data_handle(const_cast<float*>(at)); }

using ConvolveFunction = void (*)(const BFloat16Convolution& conv, const float* a, const float* b,
                                  float* out, void* scratch, int threads);

// All three have two inputs.
Kernel RoundedKernel(const BFloat16Convolution& conv, ConvolveFunction convolve,
                     size_t scratch_bytes) {
  return {.run =
              [conv, convolve](const KernelCall& call) {
                convolve(conv, call.in(0), call.in(1), call.out(), call.scratch, call.threads);
                return absl::OkStatus();
              },
          .scratch_bytes = scratch_bytes,
          .products = Precision::kBFloat16};
}

absl::StatusOr<Kernel> Conv2D(const KernelSpec& spec) {
  ASSIGN_OR_RETURN(const Convolution conv, ConvolutionOf(spec.attributes, spec.inputs[0].shape,
                                                         spec.inputs[1].shape));
  if (RoundsProducts(spec)) {
    return RoundedKernel(conv.rounded(), Convolve, ConvolveScratch(conv.rounded(), spec.threads));
  }
  return MakeDnnl("make a convolution", spec.threads, [&]() -> Kernel {
    const auto desc = ForwardDesc(conv);
    auto run = std::make_shared<ConvolutionRun>(conv.plain_weights, desc.weights_desc(),
                                                desc.scratchpad_desc(), /*into=*/false);
    memory x = Unbound(conv.plain_images), y = Unbound(conv.plain_outputs);
    run->Add(dnnl::convolution_forward(desc), {{DNNL_ARG_SRC, x},
                                               {DNNL_ARG_WEIGHTS, run->weights()},
                                               {DNNL_ARG_DST, y}});
    return {.run =
                [run, x, y](const KernelCall& call) mutable {
                  Point(x, call.in(0));
                  Point(y, call.out());
                  return run->Run(call.in(1), call);
                },
            .scratch_bytes = run->bytes()};
  });
}

absl::StatusOr<Kernel> Conv2DInputGrad(const KernelSpec& spec) {
  ASSIGN_OR_RETURN(const Convolution conv, ConvolutionOf(spec.attributes, spec.outputs[0].shape,
                                                         spec.inputs[1].shape));
  if (RoundsProducts(spec) && HasInputGrad(conv.rounded())) {
    return RoundedKernel(conv.rounded(), ConvolveInputGrad,
                         InputGradScratch(conv.rounded(), spec.threads));
  }
  return MakeDnnl("make a convolution's gradient", spec.threads, [&]() -> Kernel {
    const dnnl::convolution_backward_data::desc backward(
        dnnl::algorithm::convolution_direct, conv.plain_images, conv.any_weights(),
        conv.plain_outputs, conv.strides(), conv.before(), conv.after());
    const dnnl::convolution_backward_data::primitive_desc desc(backward, OwnScratch(),
                                                               DnnlEngine(), ForwardDesc(conv));
    // By products of matrices it is where no kernel fits (of three channels and strides, with
    // AVX2), and threads divide these.
    const bool divides = std::string_view(desc.impl_info_str()).find("gemm") != std::string::npos;
    const int threads = spec.deterministic && divides ? 1 : spec.threads;
    auto run = std::make_shared<ConvolutionRun>(conv.plain_weights, desc.weights_desc(),
                                                desc.scratchpad_desc(), /*into=*/false);
    memory dx = Unbound(conv.plain_images), dy = Unbound(conv.plain_outputs);
    run->Add(dnnl::convolution_backward_data(desc), {{DNNL_ARG_DIFF_DST, dy},
                                                     {DNNL_ARG_WEIGHTS, run->weights()},
                                                     {DNNL_ARG_DIFF_SRC, dx}});
    return {.run =
                [run, dx, dy, threads](const KernelCall& call) mutable {
                  Point(dy, call.in(0));
                  Point(dx, call.out());
                  return run->Run(call.in(1), call, threads);
                },
            .scratch_bytes = run->bytes()};
  });
}

// With several threads oneDNN sums over parts of the batch, as many as there are threads: where the
// bits must not depend on them, one thread does it.
absl::StatusOr<Kernel> Conv2DWeightsGrad(const KernelSpec& spec) {
  ASSIGN_OR_RETURN(const Convolution conv, ConvolutionOf(spec.attributes, spec.inputs[0].shape,
                                                         spec.outputs[0].shape));
  if (RoundsProducts(spec) && HasWeightsGrad(conv.rounded())) {
    return RoundedKernel(conv.rounded(), ConvolveWeightsGrad,
                         WeightsGradScratch(conv.rounded(), spec.threads));
  }
  const int threads = spec.deterministic ? 1 : spec.threads;
  return MakeDnnl("make a convolution's gradient", threads, [&]() -> Kernel {
    const dnnl::convolution_backward_weights::desc backward(
        dnnl::algorithm::convolution_direct, conv.plain_images, conv.any_weights(),
        conv.plain_outputs, conv.strides(), conv.before(), conv.after());
    const dnnl::convolution_backward_weights::primitive_desc desc(
        backward, OwnScratch(), DnnlEngine(), ForwardDesc(conv));
    auto run = std::make_shared<ConvolutionRun>(conv.plain_weights, desc.diff_weights_desc(),
                                                desc.scratchpad_desc(), /*into=*/true);
    memory x = Unbound(conv.plain_images), dy = Unbound(conv.plain_outputs);
    run->Add(dnnl::convolution_backward_weights(desc), {{DNNL_ARG_SRC, x},
                                                        {DNNL_ARG_DIFF_DST, dy},
                                                        {DNNL_ARG_DIFF_WEIGHTS, run->weights()}});
    return {.run =
                [run, x, dy, threads](const KernelCall& call) mutable {
                  Point(x, call.in(0));
                  Point(dy, call.in(1));
                  return run->Run(call.out(), call, threads);
                },
            .scratch_bytes = run->bytes()};
  });
}

}  // namespace

void AddConvKernels(KernelRegistry* kernels) {
  const auto add = [kernels](std::string_view op, KernelFactory factory) {
    kernels->Add(op, "CPU", DType::kFloat32, std::move(factory));
  };
  add("Conv2D", Conv2D);
  add("Conv2DInputGrad", Conv2DInputGrad);
  add("Conv2DWeightsGrad", Conv2DWeightsGrad);
}

}  // namespace taas
