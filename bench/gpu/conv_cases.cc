#include "bench/gpu/conv_cases.h"

#include <algorithm>

#include "trainer/kernels/cuda/planned_conv.h"

namespace taas::bench {
namespace {

using cuda::ConvPart;
using Ints = std::vector<int64_t>;

constexpr ConvPart kParts[] = {ConvPart::kOutputs, ConvPart::kImagesGrad, ConvPart::kFiltersGrad};

KernelInput Floats(int64_t a, int64_t b, int64_t c, int64_t d) {
  return {.type = {DType::kFloat32, Shape({a, b, c, d})}};
}

int64_t PlacesOf(const ConvCase& of) { return (of.side + of.stride - 1) / of.stride; }

}  // namespace

std::vector<ConvCase> ConvCases(Size size) {
  // Batches with which a layer fills an H100. One by one with stride 1 is a product, and not here.
  std::vector<ConvCase> layers = {
      {.name = "LeNet, 5 x 5 of 32", .images = 256, .side = 14, .in = 32, .out = 64, .filter = 5},
      {.name = "ResNet-20, 3 x 3 of 16", .images = 256, .side = 32, .in = 16, .out = 16,
       .filter = 3},
      {.name = "ResNet-50, 7 x 7 of 3 by 2", .images = 32, .side = 224, .in = 3, .out = 64,
       .filter = 7, .stride = 2},
      {.name = "ResNet-50, 3 x 3 of 64", .images = 32, .side = 56, .in = 64, .out = 64,
       .filter = 3},
      {.name = "ResNet-50, 3 x 3 of 128 by 2", .images = 32, .side = 56, .in = 128, .out = 128,
       .filter = 3, .stride = 2},
      {.name = "ResNet-50, 1 x 1 of 256 by 2", .images = 32, .side = 56, .in = 256, .out = 512,
       .filter = 1, .stride = 2},
      {.name = "ResNet-50, 3 x 3 of 512", .images = 32, .side = 7, .in = 512, .out = 512,
       .filter = 3}};
  std::vector<ConvCase> cases;
  for (ConvCase of : layers) {
    if (size == Size::kSmall) {
      of.images = 2;
      of.side = std::min<int64_t>(of.side, 8);
      of.in = std::min<int64_t>(of.in, 4);
      of.out = std::min<int64_t>(of.out, 4);
    }
    for (const Precision products : {Precision::kFloat32, Precision::kTf32}) {
      for (const ConvPart part : kParts) {
        of.part = part;
        of.products = products;
        cases.push_back(of);
      }
    }
  }
  return cases;
}

KernelCase KernelOf(const ConvCase& of) {
  const int64_t places = PlacesOf(of);
  const KernelInput images = Floats(of.images, of.side, of.side, of.in);
  const KernelInput filters = Floats(of.filter, of.filter, of.in, of.out);
  const KernelInput outputs = Floats(of.images, places, places, of.out);
  KernelCase kernel{.name = of.name,
                    .op = "Conv2D",
                    .inputs = {images, filters},
                    .attributes = {{"strides", Ints{of.stride, of.stride}}},
                    .products = of.products};
  if (of.part == ConvPart::kImagesGrad) {
    kernel.op = "Conv2DInputGrad";
    kernel.inputs = {outputs, filters};
    kernel.attributes.Set("image_size", Ints{of.side, of.side});
  } else if (of.part == ConvPart::kFiltersGrad) {
    kernel.op = "Conv2DWeightsGrad";
    kernel.inputs = {images, outputs};
    kernel.attributes.Set("kernel_size", Ints{of.filter, of.filter});
  }
  return kernel;
}

cuda::ConvShape ShapeOf(const ConvCase& of) {
  const int64_t places = PlacesOf(of);
  const int64_t padding =
      std::max<int64_t>((places - 1) * of.stride + of.filter - of.side, 0);
  const int64_t before = padding / 2, after = padding - before;
  return cuda::WithEvenPadding({.part = of.part,
                                .count = of.images,
                                .in = of.in,
                                .out = of.out,
                                .image = {of.side, of.side},
                                .filter = {of.filter, of.filter},
                                .output = {places, places},
                                .stride = {of.stride, of.stride},
                                .before = {before, before},
                                .after = {after, after},
                                .tf32 = of.products != Precision::kFloat32});
}

int64_t FlopOf(const ConvCase& of) {
  const int64_t places = PlacesOf(of);
  return 2 * of.images * places * places * of.out * of.filter * of.filter * of.in;
}

}  // namespace taas::bench
