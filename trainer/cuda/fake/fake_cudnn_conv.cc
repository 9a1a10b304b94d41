#include "trainer/cuda/fake/fake_cudnn_conv.h"

#include <algorithm>
#include <sstream>

namespace taas::cuda::fake {
namespace {

int DroppedBy(int engine) {
  return engine == kOfTensorCores ? 13 : engine == kOfRoundedInputs ? 16 : 0;
}

bool IsDense(const FakeTensor& tensor) {
  const auto& [n, c, h, w] = tensor.dimensions;
  return tensor.strides == std::array<int64_t, 4>{h * w * c, 1, w * c, c};
}

int64_t PlacesOf(const FakeConv& conv, size_t axis) {
  const int64_t padded = conv.tensors[0].dimensions[axis + 2] + conv.before[axis] +
                         conv.after[axis];
  const int64_t filter = conv.tensors[1].dimensions[axis + 2];
  return padded < filter ? 0 : (padded - filter) / conv.stride[axis] + 1;
}

// One place of a filter, for all channels, which lie next to each other.
void AddTap(const FakeConv& conv, float* pixel, float* tap, float* place) {
  const auto& [x, w, y] = conv.tensors;
  const int64_t channels = x.dimensions[1];
  for (int64_t k = 0; k < y.dimensions[1]; ++k, tap += w.strides[0]) {
    switch (conv.computed()) {
      case 0:
        for (int64_t c = 0; c < channels; ++c) pixel[c] += tap[c] * place[k];
        break;
      case 1:
        for (int64_t c = 0; c < channels; ++c) tap[c] += pixel[c] * place[k];
        break;
      default:
        for (int64_t c = 0; c < channels; ++c) place[k] += pixel[c] * tap[c];
    }
  }
}

}  // namespace

size_t FakeConv::computed() const {
  return operation == CudnnType::kForward ? 2 : operation == CudnnType::kBackwardFilter ? 1 : 0;
}

std::string WhatIsWrong(const FakeConv& conv) {
  const auto& [x, w, y] = conv.tensors;
  if (x.dimensions[0] != y.dimensions[0]) return "counts of images";
  if (x.dimensions[1] != w.dimensions[1]) return "channels of images and filters";
  if (y.dimensions[1] != w.dimensions[0]) return "channels of outputs and filters";
  for (size_t axis = 0; axis < 2; ++axis) {
    if (y.dimensions[axis + 2] != PlacesOf(conv, axis)) return "places of the filters";
  }
  for (size_t i = 0; i < 3; ++i) {
    const size_t next = (i + 1) % 3;
    if (conv.tensors[i].id == conv.tensors[next].id) return "tensors of one id";
  }
  return "";
}

std::vector<int> FakeConvWork::EnginesFor(int mode) const {
  for (const FakeTensor& tensor : conv_.tensors) {
    if (!IsDense(tensor)) return {};
  }
  if (conv_.stride[0] != conv_.stride[1]) return {};
  if (mode == kCudnnHeuristicsB) return {kOfModeB};
  if (conv_.before != conv_.after) return {};
  return {kRefuses,      kNotDeterministic, kWantsMuch, kOfRoundedInputs,
          kOfLargeTiles, kOfTensorCores,    kPlain};
}

FakeEngine FakeConvWork::EngineOf(int engine) const {
  const int64_t little = conv_.tensors[2].dimensions[1] * 4 + 60;
  switch (engine) {
    case kRefuses: return {.finalized = kCudnnNotSupported};
    case kNotDeterministic: return {.notes = {kCudnnNotDeterministic}};
    case kWantsMuch: return {.workspace = kMuch};
    case kOfTensorCores: return {.notes = {kCudnnTensorCore}, .workspace = little};
    case kOfRoundedInputs: return {.notes = {kCudnnTensorCore, kCudnnDownConvertsInputs}};
    case kOfLargeTiles: return {.notes = {kCudnnWinograd, kCudnnWinograd6x6}};
    case kPlain: return {.workspace = 2 * little};
    case kOfModeB: return {};
    default: return {.finalized = kCudnnBadParam};
  }
}

void FakeConvWork::Compute(int engine, std::span<void* const> memory) const {
  const FakeConv& conv = conv_;
  const size_t computed = conv.computed();
  // What is read as the engine reads it, and what is computed from nothing.
  std::array<std::vector<float>, 3> values;
  for (size_t i = 0; i < 3; ++i) {
    values[i].resize(static_cast<size_t>(conv.tensors[i].bytes()) / sizeof(float));
    if (i == computed) continue;
    const auto* const from = static_cast<const float*>(memory[i]);
    std::transform(from, from + values[i].size(), values[i].begin(),
                   [&](float value) { return Rounded(value, DroppedBy(engine)); });
  }
  const auto& [x, w, y] = conv.tensors;
  for (int64_t n = 0; n < y.dimensions[0]; ++n) {
    for (int64_t p = 0; p < y.dimensions[2]; ++p) {
      for (int64_t q = 0; q < y.dimensions[3]; ++q) {
        float* const place =
            values[2].data() + n * y.strides[0] + p * y.strides[2] + q * y.strides[3];
        for (int64_t r = 0; r < w.dimensions[2]; ++r) {
          const int64_t row = p * conv.stride[0] - conv.before[0] + r;
          if (row < 0 || row >= x.dimensions[2]) continue;
          for (int64_t s = 0; s < w.dimensions[3]; ++s) {
            const int64_t column = q * conv.stride[1] - conv.before[1] + s;
            if (column < 0 || column >= x.dimensions[3]) continue;
            float* const pixel =
                values[0].data() + n * x.strides[0] + row * x.strides[2] + column * x.strides[3];
            float* const tap = values[1].data() + r * w.strides[2] + s * w.strides[3];
            AddTap(conv, pixel, tap, place);
          }
        }
      }
    }
  }
  auto* const result = static_cast<float*>(memory[computed]);
  std::ranges::transform(values[computed], result,
                         [&](float sum) { return Spoilt(sum, engine); });
}

std::string FakeConvWork::Text(int engine, int version) const {
  const FakeConv& conv = conv_;
  std::ostringstream text;
  text << kPlanHead << version << " " << engine << " " << static_cast<int>(conv.operation);
  const auto add = [&](const auto& numbers) {
    for (const int64_t number : numbers) text << " " << number;
  };
  for (const FakeTensor& tensor : conv.tensors) {
    text << " " << tensor.id << " " << tensor.alignment;
    add(tensor.dimensions);
    add(tensor.strides);
  }
  add(conv.stride);
  add(conv.before);
  add(conv.after);
  text << "]}";
  return text.str();
}

std::shared_ptr<const FakeWork> FakeConvWork::Parse(CudnnType operation, std::istream& words) {
  FakeConv conv{.operation = operation};
  const auto take = [&](auto& numbers) {
    for (int64_t& number : numbers) words >> number;
  };
  for (FakeTensor& tensor : conv.tensors) {
    words >> tensor.id >> tensor.alignment;
    take(tensor.dimensions);
    take(tensor.strides);
  }
  take(conv.stride);
  take(conv.before);
  take(conv.after);
  if (words.fail() || !WhatIsWrong(conv).empty()) return nullptr;
  return std::make_shared<FakeConvWork>(conv);
}

}  // namespace taas::cuda::fake
