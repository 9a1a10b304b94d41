// A model of a few floats whose training is exact: what each batch adds is a whole number that
// follows from its own, so that a model tells which batches are part of it, and in which steps of
// how many ranks.
//
//   trained   the sum of the batches' gradients; behind them two tables, of which each batch looks
//             some rows up
//   slots     mixes each step's sum with all before, so that other steps make others
//   moments   moving means of what batches add
//
// Sums are kept below 2^20, which floats hold exactly.
//
// Ownership: owns a ModelState in memory of the host. Threads: one. Errors: none.
//
//   model.ComputeGradients(batch, 0, model.dense_elements());
//   model.ComputeTables(batch);
//   model.ComputeMoments(batch);
//   core.BeginMean(loss, took, model.rows()) … core.EndMean(status)
//   model.SetRows(core.tables());
//   model.Apply(step, ranks);

#ifndef TRAINER_RING_TESTING_TINY_MODEL_H_
#define TRAINER_RING_TESTING_TINY_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "trainer/graph/model_state.h"
#include "trainer/ring/table_rows.h"

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
  // Elements up to where tables begin, with those of the arena that are nobody's.
  size_t dense_elements() const;
  std::vector<RowTable> tables() const;
  // Gradients from one element to before another, as a backward pass finishes them;
  void ComputeGradients(int64_t batch, size_t begin, size_t end);
  // those of tables, and the rows that they list: what they held before is gone;
  void ComputeTables(int64_t batch);
  std::vector<TableRows::Ids> rows() const;
  // what the batch adds to moments, which are zero.
  void ComputeMoments(int64_t batch);
  // What the gradients of tables hold after a step, made or not.
  void SetRows(const TableRows& tables);
  // The gradients are the mean of so many ranks.
  void Apply(int64_t step, int ranks);

  // What `bits` are after a step with these batches; the same by simpler means.
  static ModelBits After(ModelBits bits, int64_t step, const std::vector<int64_t>& batches);
  // `trained` of a model that all batches below are part of.
  static std::vector<float> TrainedBelow(int64_t batch);

 private:
  std::unique_ptr<ModelState> state_;
  std::vector<std::vector<int32_t>> rows_;  // By table: where its gradient may not be zero.
};

}  // namespace taas::sim

#endif  // TRAINER_RING_TESTING_TINY_MODEL_H_
