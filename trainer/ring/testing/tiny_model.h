// A model of a few floats whose training is exact: what each batch adds is a whole number that
// follows from its own, so that a model tells which batches are part of it, and in which steps of
// how many ranks.
//
//   trained   the sum of the batches' gradients
//   slots     mixes each step's sum with all before, so that other steps make others
//   moments   moving means of what batches add
//
// Sums are kept below 2^20, which floats hold exactly.
//
// Ownership: owns a ModelState in memory of the host. Threads: one. Errors: none.
//
//   model.ComputeGradients(batch, 0, model.elements());
//   model.ComputeMoments(batch);
//   core.BeginMean(loss) … core.EndMean(status)
//   model.Apply(step, ranks);

#ifndef TRAINER_RING_TESTING_TINY_MODEL_H_
#define TRAINER_RING_TESTING_TINY_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "trainer/graph/model_state.h"

namespace taas::sim {

// All that a rank is given.
struct ModelBits {
  std::vector<float> trained, moments, slot;

  bool operator==(const ModelBits&) const = default;
};

class TinyModel {
 public:
  TinyModel();

  ModelState& state() { return *state_; }
  // That of the seed.
  void Initialize();
  // Of a process that has not been given any yet.
  void Scribble();
  ModelBits Bits() const;
  void Restore(const ModelBits& bits);
  // Elements of what is trained, with those of its arena that are nobody's.
  size_t elements() const { return state_->trained_elements(); }
  // Gradients from one element to before another, as a backward pass finishes them;
  void ComputeGradients(int64_t batch, size_t begin, size_t end);
  // what the batch adds to moments, which are zero.
  void ComputeMoments(int64_t batch);
  // The gradients are the mean of so many ranks.
  void Apply(int64_t step, int ranks);

  // What `bits` are after a step with these batches; the same by simpler means.
  static ModelBits After(ModelBits bits, int64_t step, const std::vector<int64_t>& batches);
  // `trained` of a model that all batches below are part of.
  static std::vector<float> TrainedBelow(int64_t batch);

 private:
  std::unique_ptr<ModelState> state_;
};

}  // namespace taas::sim

#endif  // TRAINER_RING_TESTING_TINY_MODEL_H_
