// What changes from step to step, in memory of the device: copied there once, before a step, and
// what kernels found wrong is read back with the loss. Kernels get its address, so that a step that
// was recorded once stays right.
//
// Ownership: values. Threads: none of their own. Errors: FaultText says what a Fault means.
//
//   const StepBlock block{.step = 7};
//   RETURN_IF_ERROR(stream.Copy(memory.data(), &block, sizeof(block)));

#ifndef TRAINER_GRAPH_STEP_BLOCK_H_
#define TRAINER_GRAPH_STEP_BLOCK_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

namespace taas {

// The numbers of one update, as kernels take them: of the step, and of the rule.
struct UpdateScalars {
  // The rule's own struct of loops.h (AdamUpdate), or its rate alone.
  std::array<float, 7> rule{};
  float average_share = 0;      // 1 - the decay of the moving average.
  bool starts_average = false;  // From the variable as it was before.
  bool keeps_zeros = false;     // What has a gradient of 0 is left alone.
  bool stays = false;           // Nothing is changed.

  template <typename Numbers>
  void Set(const Numbers& numbers) {
    static_assert(std::is_trivially_copyable_v<Numbers> && sizeof(Numbers) <= sizeof(rule));
    std::memcpy(rule.data(), &numbers, sizeof(Numbers));
  }
  template <typename Numbers>
  Numbers As() const {
    Numbers numbers;
    std::memcpy(static_cast<void*>(&numbers), rule.data(), sizeof(Numbers));
    return numbers;
  }
};

// The first thing, by the order of a step's kernels, that is wrong with its data. What the kernel
// that finds it leaves in its outputs may be anything, and those that come after compute with that:
// each that finds memory by data checks them again. Updates by an optimizer do nothing then; moving
// moments, which a forward pass moves, have followed the batch.
struct Fault {
  enum class Kind : int32_t { kNone, kLabel, kId, kLoss };
  static constexpr int32_t kNobody = std::numeric_limits<int32_t>::max();
  static constexpr int32_t kAfterGraph = kNobody - 1;  // Of what follows its kernels.

  int32_t kernel = kNobody;  // Who found it: KernelCall::index.
  Kind kind = Kind::kNone;
  int64_t at = 0;     // The row, or the element.
  int64_t bound = 0;  // Classes, or rows of the table.
  int64_t value = 0;  // The label, or the id.
  float loss = 0;

  bool found() const { return kind != Kind::kNone; }
};

struct StepBlock {
  int64_t step = 0;  // Of random numbers: another step, others.
  UpdateScalars update{};
  Fault fault{};
};
static_assert(std::is_trivially_copyable_v<StepBlock>);

// "the label of row 3 is 12, the model has 10 classes from 0".
std::string FaultText(const Fault& fault);

}  // namespace taas

#endif  // TRAINER_GRAPH_STEP_BLOCK_H_
