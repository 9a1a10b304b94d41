// What the update rules share: options, slots, and the moving average, which is the last slot.
// Part of optimizer.h's implementation.
//
// Ownership, threads: as Optimizer. Errors: none; spans of unequal size are a programmer error.
//
//   class Sgd : public Rule {
//     explicit Sgd(const OptimizerOptions& options) : Rule(options, "ApplySgd", {}) {}
//     void SetNumbers(int64_t step, UpdateScalars* scalars) const override { ... }
//     void Update(const UpdateScalars& scalars, const ApplyArgs& args) const override {
//       ForEachBlock(scalars, args, [](const Arrays& arrays) { ... });
//     }
//   };

#ifndef TRAINER_OPTIMIZER_RULE_H_
#define TRAINER_OPTIMIZER_RULE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/loops/loops.h"
#include "trainer/loops/parallel.h"
#include "trainer/optimizer/optimizer.h"

namespace taas {

// Of the variable and the slots of a rule, the average among them.
inline constexpr size_t kArraysMax = 5;

// The part of each array that begins at `at`.
struct Arrays {
  const float* gradient;
  const float* in;
  float* out;
  const ApplyArgs& args;
  size_t at;
  int64_t count;
  float* const* slots = nullptr;  // Where slots are written instead of their places.

  const float* slot_in(size_t slot) const { return args.slots_in[slot].data() + at; }
  float* slot_out(size_t slot) const {
    return slots != nullptr ? slots[slot] : args.slots_out[slot].data() + at;
  }
};

// Where a block's outputs are before they are written past the caches.
class Stage {
 public:
  // Elements: few, so that the processor reads the next block while this one is written.
  static constexpr int64_t kBlock = 512;

  Arrays Of(Arrays arrays) {
    arrays.out = memory_[0];
    arrays.slots = slots_;
    return arrays;
  }
  // Of the first block of those that end at `out + count`: the others begin where a line of the
  // caches does, which is what is written past them.
  static int64_t FirstBlock(const float* out, int64_t count) {
    const uintptr_t beyond = reinterpret_cast<uintptr_t>(out) % kLineBytes;
    const uintptr_t bytes = beyond == 0 ? kBlock * sizeof(float) : kLineBytes - beyond;
    return std::min(count, static_cast<int64_t>(bytes / sizeof(float)));
  }
  void Write(const Arrays& staged) const {
    copy_(staged.out, staged.args.out.data() + staged.at, staged.count);
    for (size_t slot = 0; slot < staged.args.slots_out.size(); ++slot) {
      copy_(staged.slots[slot], staged.args.slots_out[slot].data() + staged.at, staged.count);
    }
  }

 private:
  decltype(Loops::copy_past_caches) copy_ = BestLoops().copy_past_caches;
  static constexpr uintptr_t kLineBytes = 64;
  alignas(kLineBytes) float memory_[kArraysMax][kBlock];
  float* const slots_[kArraysMax - 1] = {memory_[1], memory_[2], memory_[3], memory_[4]};
};

class Rule : public Optimizer {
 public:
  // A slot and what its elements are before the first update.
  struct Slot {
    std::string name;
    double start = 0;
  };

  Rule(const OptimizerOptions& options, std::string_view update_op,
       const std::vector<Slot>& slots);

  std::string_view name() const override { return options_.name; }
  const std::vector<std::string>& slots() const override { return slots_; }
  float slot_start(size_t slot) const override { return starts_[slot]; }
  double learning_rate(int64_t step) const override { return options_.learning_rate.At(step); }
  std::vector<Number> numbers(int64_t) const override { return {}; }
  UpdateScalars scalars(int64_t step) const final;
  std::string_view update_op() const final { return update_op_; }
  Attributes update_attributes() const final;
  bool KeepsZeros(int64_t step) const final {
    return !options_.average_decay && RuleKeepsZeros(step);
  }
  std::optional<size_t> average_slot() const override {
    if (!options_.average_decay) return std::nullopt;
    return slots_.size() - 1;
  }

 protected:
  const OptimizerOptions& options() const { return options_; }
  // The rule's own, and whether it stays.
  virtual void SetNumbers(int64_t step, UpdateScalars* scalars) const = 0;
  // KeepsZeros, apart from the average.
  virtual bool RuleKeepsZeros(int64_t) const { return false; }

  // Calls `update` for the blocks of `args`, each followed by its part of the average, on its
  // threads; or for the rows alone, if that is the same.
  template <typename Update>
  void ForEachBlock(const UpdateScalars& scalars, const ApplyArgs& args,
                    const Update& update) const {
    CheckSizes(scalars, args);
    if (args.rows && scalars.keeps_zeros) return ForEachRun(args, update);
    const std::optional<size_t> average = average_slot();
    const int64_t block = args.past_caches ? Stage::kBlock : average ? kBlock : kPartElements;
    ForParts(args.threads, std::ssize(args.in), [&](int64_t begin, int64_t count) {
      Stage stage;
      const int64_t end = begin + count;
      int64_t next = args.past_caches ? Stage::FirstBlock(args.out.data() + begin, count) : block;
      for (int64_t at = begin; at < end; at += next, next = block) {
        const Arrays arrays{.gradient = args.gradient.data() + at,
                            .in = args.in.data() + at,
                            .out = args.out.data() + at,
                            .args = args,
                            .at = static_cast<size_t>(at),
                            .count = std::min(next, end - at)};
        if (!args.past_caches) {
          UpdateBlock(scalars, arrays, average, update);
          continue;
        }
        const Arrays staged = stage.Of(arrays);
        UpdateBlock(scalars, staged, average, update);
        stage.Write(staged);
      }
      if (args.past_caches && args.threads > 1) FinishPastCaches();  // Each thread its own.
    });
    if (args.past_caches) FinishPastCaches();
  }

 private:
  template <typename Update>
  void UpdateBlock(const UpdateScalars& scalars, const Arrays& arrays,
                   std::optional<size_t> average, const Update& update) const {
    if (average && scalars.starts_average) StartAverage(arrays, *average);
    update(arrays);
    if (average) Average(scalars, arrays, *average);
  }
  template <typename Update>
  void ForEachRun(const ApplyArgs& args, const Update& update) const {
    const bool packed = args.gradient.size() != args.in.size();
    ForRowRuns(*args.rows, [&](const RowRun& run) {
      update(Arrays{.gradient = args.gradient.data() + (packed ? run.packed : run.at),
                    .in = args.in.data() + run.at,
                    .out = args.out.data() + run.at,
                    .args = args,
                    .at = run.at,
                    .count = static_cast<int64_t>(run.count)});
    });
  }

  // Elements that are updated and averaged before the next ones: seven arrays of them stay in the
  // first-level cache, so that the average costs no further pass over memory.
  static constexpr int64_t kBlock = 1024;

  void CheckSizes(const UpdateScalars& scalars, const ApplyArgs& args) const;
  void StartAverage(const Arrays& arrays, size_t slot) const;
  void Average(const UpdateScalars& scalars, const Arrays& arrays, size_t slot) const;

  const OptimizerOptions options_;
  const std::string_view update_op_;
  std::vector<std::string> slots_;
  std::vector<float> starts_;  // By slot.
};

// The rule that `options`, which are checked, name; null if there is none.
std::unique_ptr<Optimizer> MakeRule(const OptimizerOptions& options);

}  // namespace taas

#endif  // TRAINER_OPTIMIZER_RULE_H_
