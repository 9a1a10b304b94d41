#include "trainer/cuda/fake/fake_cudnn_steps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <map>
#include <sstream>

namespace taas::cuda::fake {
namespace {

using Dimensions = std::array<int64_t, 4>;
using Floats = std::vector<float>;

constexpr int kBFloat16Drops = 16;
// Of heads, by the kernels of all GPUs.
constexpr int64_t kHeadMax = 128;

int64_t CountOf(const Dimensions& of) { return of[0] * of[1] * of[2] * of[3]; }

// Calls `each` with the number of each element, by rows, and its indices.
template <typename Each>
void ForAll(const Dimensions& of, Each each) {
  size_t number = 0;
  Dimensions at{};
  for (at[0] = 0; at[0] < of[0]; ++at[0]) {
    for (at[1] = 0; at[1] < of[1]; ++at[1]) {
      for (at[2] = 0; at[2] < of[2]; ++at[2]) {
        for (at[3] = 0; at[3] < of[3]; ++at[3]) each(number++, at);
      }
    }
  }
}

int64_t PlaceOf(const Dimensions& strides, const Dimensions& at) {
  int64_t place = 0;
  for (size_t i = 0; i < 4; ++i) place += strides[i] * at[i];
  return place;
}

// The number, by rows, of the element at `at` of a tensor that has one where another has many.
size_t NumberOf(const Dimensions& of, const Dimensions& at) {
  int64_t number = 0;
  for (size_t i = 0; i < 4; ++i) number = number * of[i] + (of[i] == 1 ? 0 : at[i]);
  return static_cast<size_t>(number);
}

float AsStored(float value, const FakeTensor& in) {
  return Rounded(value, in.type == kCudnnBFloat16 ? kBFloat16Drops : 0);
}

float ReadAt(const FakeTensor& tensor, const void* memory, const Dimensions& at) {
  const auto* const place = static_cast<const std::byte*>(memory) +
                            PlaceOf(tensor.strides, at) * tensor.element_bytes();
  uint32_t bits = 0;
  if (tensor.type == kCudnnBFloat16) {
    uint16_t high = 0;
    std::memcpy(&high, place, sizeof(high));
    bits = uint32_t{high} << kBFloat16Drops;
  } else {
    std::memcpy(&bits, place, sizeof(bits));
  }
  return std::bit_cast<float>(bits);
}

void WriteAt(const FakeTensor& tensor, void* memory, const Dimensions& at, float value) {
  auto* const place =
      static_cast<std::byte*>(memory) + PlaceOf(tensor.strides, at) * tensor.element_bytes();
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto high = static_cast<uint16_t>(bits >> kBFloat16Drops);
  if (tensor.type == kCudnnBFloat16) {
    std::memcpy(place, &high, sizeof(high));
  } else {
    std::memcpy(place, &bits, sizeof(bits));
  }
}

Floats Multiplied(const FakeStep& step, const Floats& a, const Floats& b) {
  const Dimensions &c = step.out[0].dimensions, &of_a = step.in[0].dimensions,
                   &of_b = step.in[1].dimensions;
  Floats result(static_cast<size_t>(CountOf(c)));
  ForAll(c, [&](size_t number, Dimensions at) {
    float sum = 0;
    for (int64_t k = 0; k < of_a[3]; ++k) {
      sum += Rounded(a[NumberOf(of_a, {at[0], at[1], at[2], k})], kBFloat16Drops) *
             Rounded(b[NumberOf(of_b, {at[0], at[1], k, at[3]})], kBFloat16Drops);
    }
    result[number] = sum;
  });
  return result;
}

float FunctionOf(int mode, float x, float b) {
  return mode == kCudnnMul ? x * b : mode == kCudnnSub ? x - b : std::exp(x);
}

// What lies in x's memory, read by y's strides.
Floats Reshaped(const FakeStep& step, const Floats& x) {
  const FakeTensor &from = step.in[0], &to = step.out[0];
  Floats memory(static_cast<size_t>(std::max(from.bytes() / from.element_bytes(),
                                             to.bytes() / to.element_bytes())));
  ForAll(from.dimensions, [&](size_t number, const Dimensions& at) {
    memory[static_cast<size_t>(PlaceOf(from.strides, at))] = x[number];
  });
  Floats result(static_cast<size_t>(CountOf(to.dimensions)));
  ForAll(to.dimensions, [&](size_t number, const Dimensions& at) {
    result[number] = memory[static_cast<size_t>(PlaceOf(to.strides, at))];
  });
  return result;
}

// Of each row; `statistics` are log Σ exp.
Floats SoftmaxOf(const FakeStep& step, const Floats& x, Floats* statistics) {
  const auto columns = static_cast<size_t>(step.in[0].dimensions[3]);
  Floats result(x.size());
  statistics->resize(x.size() / columns);
  for (size_t row = 0; row < statistics->size(); ++row) {
    const std::span<const float> from(x.data() + row * columns, columns);
    const float most = *std::ranges::max_element(from);
    float sum = 0;
    for (const float value : from) sum += std::exp(value - most);
    (*statistics)[row] = most + std::log(sum);
    for (size_t i = 0; i < columns; ++i) {
      result[row * columns + i] = std::exp(from[i] - most) / sum;
    }
  }
  return result;
}

std::vector<Floats> ResultsOf(const FakeStep& step, const std::vector<const Floats*>& in) {
  const FakeTensor& y = step.out[0];
  Floats result(static_cast<size_t>(CountOf(y.dimensions)));
  switch (step.type) {
    case CudnnType::kMatmulOperation: return {Multiplied(step, *in[0], *in[1])};
    case CudnnType::kReshape: return {Reshaped(step, *in[0])};
    case CudnnType::kSoftmax: {
      Floats statistics;
      Floats shares = SoftmaxOf(step, *in[0], &statistics);
      return {std::move(shares), std::move(statistics)};
    }
    case CudnnType::kReductionOperation:
      ForAll(step.in[0].dimensions, [&](size_t number, const Dimensions& at) {
        result[NumberOf(y.dimensions, at)] += (*in[0])[number];
      });
      return {std::move(result)};
    case CudnnType::kBandMask:
      ForAll(y.dimensions, [&](size_t number, const Dimensions& at) {
        result[number] = at[2] >= at[3] ? (*in[0])[number] : (*in[1])[0];
      });
      return {std::move(result)};
    default: break;
  }
  ForAll(y.dimensions, [&](size_t number, const Dimensions& at) {
    const float b = in.size() > 1 ? (*in[1])[NumberOf(step.in[1].dimensions, at)] : 0;
    result[number] = FunctionOf(step.mode, (*in[0])[number], b);
  });
  return {std::move(result)};
}

bool SpreadsTo(const Dimensions& from, const Dimensions& to) {
  return std::ranges::equal(from, to, [](int64_t a, int64_t b) { return a == 1 || a == b; });
}

char LetterOf(const FakeStep& step) {
  switch (step.type) {
    case CudnnType::kMatmulOperation: return 'M';
    case CudnnType::kReshape: return 'T';
    case CudnnType::kSoftmax: return 'S';
    case CudnnType::kReductionOperation: return '+';
    case CudnnType::kBandMask: return '?';
    default: return step.mode == kCudnnMul ? '*' : step.mode == kCudnnSub ? '-' : 'e';
  }
}

}  // namespace

std::string WhatIsWrong(const FakeStep& step) {
  const Dimensions &x = step.in[0].dimensions, &y = step.out[0].dimensions;
  if (step.type == CudnnType::kMatmulOperation) {
    const Dimensions& b = step.in[1].dimensions;
    const bool fits = x[0] == b[0] && x[1] == b[1] && x[3] == b[2] &&
                      y == Dimensions{x[0], x[1], x[2], b[3]};
    return fits ? "" : "sizes of a product";
  }
  if (step.type == CudnnType::kReshape) return CountOf(x) == CountOf(y) ? "" : "a reshape's sizes";
  if (step.type == CudnnType::kReductionOperation) {
    return SpreadsTo(y, x) && x != y ? "" : "sizes of a sum";
  }
  if (x != y) return "sizes of x and y";
  if (step.in.size() > 1 && !SpreadsTo(step.in[1].dimensions, x)) return "sizes of x and b";
  if (step.type == CudnnType::kBandMask && !step.in[1].by_value) return "what a mask fills in";
  if (step.type == CudnnType::kSoftmax &&
      step.out[1].dimensions != Dimensions{x[0], x[1], x[2], 1}) {
    return "sizes of statistics";
  }
  return "";
}

std::string WhatIsWrong(std::span<const FakeStep> steps) {
  std::map<int64_t, FakeTensor> known;
  std::map<int64_t, int> written;
  const auto meet = [&](const FakeTensor& tensor) {
    return known.try_emplace(tensor.id, tensor).first->second == tensor;
  };
  for (const FakeStep& step : steps) {
    for (const FakeTensor& in : step.in) {
      if (!meet(in)) return "two tensors of id " + std::to_string(in.id);
      if (in.is_virtual && written[in.id] == 0) {
        return "tensor " + std::to_string(in.id) + " is read before it is made";
      }
    }
    for (const FakeTensor& out : step.out) {
      if (!meet(out)) return "two tensors of id " + std::to_string(out.id);
      if (out.by_value || written[out.id]++ > 0) {
        return "tensor " + std::to_string(out.id) + " is written twice";
      }
    }
  }
  return "";
}

FakeStepsWork::FakeStepsWork(std::vector<FakeStep> steps) : steps_(std::move(steps)) {
  for (const FakeStep& step : steps_) {
    for (const auto& tensors : {step.in, step.out}) {
      for (const FakeTensor& tensor : tensors) {
        if (!tensor.is_virtual && std::ranges::find(tensors_, tensor) == tensors_.end()) {
          tensors_.push_back(tensor);
        }
      }
    }
  }
}

std::string FakeStepsWork::Pattern() const {
  std::string pattern;
  for (const FakeStep& step : steps_) pattern += LetterOf(step);
  return pattern;
}

std::vector<int> FakeStepsWork::EnginesFor(int mode) const {
  const std::string pattern = Pattern();
  // Forwards and backwards, with a mask and without.
  const std::array<std::string, 4> patterns = {"M*?SM", "M*SM", "*+*M*-?eTMM-**TMTM",
                                               "*+*M*-eTMM-**TMTM"};
  if (std::ranges::find(patterns, pattern) == patterns.end()) return {};
  for (const FakeTensor& tensor : tensors_) {
    if (tensor.type != kCudnnBFloat16) continue;
    // Heads of queries and of y, or those that are transposed, lie dense, and rows at multiples of
    // what a load takes.
    const size_t of_head = tensor.strides[3] == 1 ? 3 : 2;
    const int64_t head = tensor.dimensions[of_head];
    if (tensor.strides[of_head] != 1 || head % 8 != 0 || head > kHeadMax) return {};
    for (size_t i = 0; i < 4; ++i) {
      if (i != of_head && tensor.strides[i] % 8 != 0) return {};
    }
  }
  if (mode == kCudnnHeuristicsB) return {kOfModeB};
  return {kRefuses, kNotDeterministic, kWantsMuch, kOfRoundedInputs, kPlain};
}

FakeEngine FakeStepsWork::EngineOf(int engine) const {
  const std::vector<int> tensor_cores = {kCudnnTensorCore};
  // Of gradients: the scores', of bfloat16.
  const bool backward = steps_.size() > 5;
  const Dimensions& scores = steps_[backward ? 3 : 0].out[0].dimensions;
  const int64_t workspace = backward ? 2 * CountOf(scores) : 128;
  switch (engine) {
    case kRefuses: return {.finalized = kCudnnNotSupported};
    case kNotDeterministic: return {.notes = {kCudnnTensorCore, kCudnnNotDeterministic}};
    case kWantsMuch: return {.notes = tensor_cores, .workspace = kMuch};
    case kOfRoundedInputs: return {.notes = {kCudnnTensorCore, kCudnnDownConvertsInputs}};
    case kPlain: return {.notes = tensor_cores, .workspace = workspace};
    case kOfModeB: return {.notes = tensor_cores};
    default: return {.finalized = kCudnnBadParam};
  }
}

void FakeStepsWork::Compute(int engine, std::span<void* const> memory) const {
  std::map<int64_t, Floats> values;
  const auto memory_of = [&](const FakeTensor& tensor) {
    return memory[static_cast<size_t>(std::ranges::find(tensors_, tensor) - tensors_.begin())];
  };
  for (const FakeStep& step : steps_) {
    std::vector<const Floats*> in;
    for (const FakeTensor& tensor : step.in) {
      const auto [place, is_new] = values.try_emplace(tensor.id);
      in.push_back(&place->second);
      if (!is_new) continue;
      place->second.resize(static_cast<size_t>(CountOf(tensor.dimensions)));
      ForAll(tensor.dimensions, [&](size_t number, const Dimensions& at) {
        place->second[number] = ReadAt(tensor, memory_of(tensor), at);
      });
    }
    std::vector<Floats> results = ResultsOf(step, in);
    for (size_t i = 0; i < results.size(); ++i) {
      const FakeTensor& tensor = step.out[i];
      ForAll(tensor.dimensions, [&](size_t number, const Dimensions& at) {
        float& value = results[i][number];
        value = AsStored(tensor.is_virtual ? value : Spoilt(value, engine), tensor);
        if (!tensor.is_virtual) WriteAt(tensor, memory_of(tensor), at, value);
      });
      values[tensor.id] = std::move(results[i]);
    }
  }
}

std::string FakeStepsWork::Text(int engine, int version) const {
  std::ostringstream text;
  text << kPlanHead << version << " " << engine << " " << static_cast<int>(CudnnType::kGraph)
       << " " << steps_.size();
  for (const FakeStep& step : steps_) {
    text << " " << static_cast<int>(step.type) << " " << step.mode;
    for (const auto& tensors : {step.in, step.out}) {
      text << " " << tensors.size();
      for (const FakeTensor& tensor : tensors) {
        text << " " << tensor.id << " " << tensor.alignment << " " << tensor.type << " "
             << tensor.is_virtual << " " << tensor.by_value;
        for (const int64_t number : tensor.dimensions) text << " " << number;
        for (const int64_t number : tensor.strides) text << " " << number;
      }
    }
  }
  text << "]}";
  return text.str();
}

std::shared_ptr<const FakeWork> FakeStepsWork::Parse(std::istream& words) {
  constexpr size_t kStepsMax = 64, kTensorsMax = 2;
  size_t count = 0;
  words >> count;
  if (words.fail() || count == 0 || count > kStepsMax) return nullptr;
  std::vector<FakeStep> steps(count);
  for (FakeStep& step : steps) {
    int type = 0;
    words >> type >> step.mode;
    step.type = static_cast<CudnnType>(type);
    for (auto* const tensors : {&step.in, &step.out}) {
      size_t size = 0;
      words >> size;
      if (words.fail() || size == 0 || size > kTensorsMax) return nullptr;
      tensors->resize(size);
      for (FakeTensor& tensor : *tensors) {
        words >> tensor.id >> tensor.alignment >> tensor.type >> tensor.is_virtual >>
            tensor.by_value;
        for (int64_t& number : tensor.dimensions) words >> number;
        for (int64_t& number : tensor.strides) words >> number;
      }
    }
  }
  if (words.fail() || !WhatIsWrong(steps).empty()) return nullptr;
  return std::make_shared<FakeStepsWork>(std::move(steps));
}

}  // namespace taas::cuda::fake
