#include "trainer/kernels/cpu/repeated_product.h"

#include "trainer/kernels/cpu/bfloat16_gemm.h"
#include "trainer/kernels/cpu/onednn.h"

namespace taas {
namespace {

using dnnl::memory;

class DnnlProduct : public RepeatedProduct {
 public:
  explicit DnnlProduct(const RepeatedShape& shape) : DnnlProduct(shape, DescOf(shape)) {}

  size_t bytes() const override { return blocked_.get_desc().get_size(); }
  absl::Status Prepare(const float* weights, void* scratch, int threads) override {
    plain_.set_data_handle(const_cast<float*>(weights));
    blocked_.set_data_handle(scratch);
    return reorder_.Run(threads);
  }
  absl::Status Run(const float* in, float* out, int threads) override {
    in_.set_data_handle(const_cast<float*>(in));
    out_.set_data_handle(out);
    return product_.Run(threads);
  }

 private:
  using Desc = dnnl::inner_product_forward::primitive_desc;

  static Desc DescOf(const RepeatedShape& shape) {
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

  DnnlProduct(const RepeatedShape& shape, const Desc& desc)
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

class BFloat16Product : public RepeatedProduct {
 public:
  explicit BFloat16Product(const RepeatedShape& shape)
      : shape_{.m = shape.rows,
               .n = shape.columns,
               .k = shape.inner,
               .transpose_b = shape.transposed,
               .beta = shape.adds ? 1.0f : 0.0f} {}

  size_t bytes() const override { return BFloat16GemmScratch(shape_); }
  absl::Status Prepare(const float* weights, void* scratch, int threads) override {
    left_ = scratch;
    right_ = static_cast<std::byte*>(scratch) + PackedLeftBytes(shape_);
    shape_.threads = threads;
    PackRight(shape_, weights, right_);
    return absl::OkStatus();
  }
  absl::Status Run(const float* in, float* out, int threads) override {
    shape_.threads = threads;
    PackLeft(shape_, in, left_);
    MultiplyPacked(shape_, left_, right_, out);
    return absl::OkStatus();
  }

 private:
  GemmShape shape_;
  void* left_ = nullptr;
  void* right_ = nullptr;
};

}  // namespace

std::unique_ptr<RepeatedProduct> MakeRepeatedProduct(const RepeatedShape& shape, bool rounds) {
  if (rounds) return std::make_unique<BFloat16Product>(shape);
  return std::make_unique<DnnlProduct>(shape);
}

}  // namespace taas
