// Wide & Deep (Cheng et al. 2016): a linear model of categories and of what they are together, and
// layers over vectors of them, whose outputs are added. The data has feature columns.
//
// Variables: "wide/COLUMN/weights", float32[categories, outputs] (of a quantity [1, outputs]),
// "deep/COLUMN/table", float32[categories, units], and those of the layers.
//
// Ownership: borrows graph and chain. Threads: one at a time. Errors: CheckWideDeep's are
// InvalidArgument that name the field; then those of the graph.
//
//   RETURN_IF_ERROR(CheckWideDeep(spec));
//   AddDeep(spec, &chain);
//   const Value wide = AddWide(spec, outputs, &graph);

#ifndef TRAINER_MODEL_WIDE_DEEP_H_
#define TRAINER_MODEL_WIDE_DEEP_H_

#include <cstdint>

#include "absl/status/status.h"
#include "nlohmann/json_fwd.hpp"
#include "trainer/graph/graph.h"
#include "trainer/model/layer.h"

namespace taas {

struct ModelSpec;

// The units that an embedding has unless it says so: the fourth root of the categories, rounded up,
// which TensorFlow's guide of feature columns proposes.
int64_t DefaultUnits(int64_t categories);

// Fields wide and deep of `spec.trainer.model`, where they are there.
absl::Status ParseWideDeep(const nlohmann::json& json, ModelSpec* spec);
// Of the columns that the data has, each is named at most once in each part.
absl::Status CheckWideDeep(const ModelSpec& spec);

// The graph has the inputs kFeatures, of the columns that are quantities, and kIds, of the others,
// where there are such. `chain` has nothing, and afterwards the values of the last hidden layer.
void AddDeep(const ModelSpec& spec, Chain* chain);
// float32[batch, outputs]; not valid if nothing is wide, or after an error of the graph.
Value AddWide(const ModelSpec& spec, int64_t outputs, Graph* graph);

}  // namespace taas

#endif  // TRAINER_MODEL_WIDE_DEEP_H_
