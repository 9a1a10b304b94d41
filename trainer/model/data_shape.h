// What a data set decides about the model that learns from it, and where its batches go.
//
// Ownership: values; rows are memory of the session. Threads: any. Errors: none.
//
//   ASSIGN_OR_RETURN(ModelSpec spec, ParseModel(config.model, ShapeOf(data.train)));
//   GatherRows(data.train, indices, InputsOf(model, *session));

#ifndef TRAINER_MODEL_DATA_SHAPE_H_
#define TRAINER_MODEL_DATA_SHAPE_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "trainer/data/dataset.h"
#include "trainer/graph/session.h"
#include "trainer/model/model.h"

namespace taas {

inline DataShape ShapeOf(const Dataset& train) {
  return {.features = train.features(),
          .classes = train.classes(),
          .targets = std::max<int64_t>(1, train.target_width()),
          .image = train.image(),
          .pixels = train.pixels() > 0 ? std::optional(train.pixel_scale()) : std::nullopt,
          .vocabulary = train.vocabulary(),
          .columns = train.columns()};
}

// Of a session of the model: the inputs that it has.
inline BatchRows InputsOf(const Model& model, Session& session) {
  BatchRows rows;
  if (!model.features.empty()) rows.features = session.FloatInput(model.features);
  if (!model.pixels.empty()) rows.pixels = session.Uint8Input(model.pixels);
  if (!model.seeds.empty()) rows.seeds = session.Int64Input(model.seeds);
  if (!model.ids.empty()) rows.ids = session.Int64Input(model.ids);
  if (!model.labels.empty()) rows.labels = session.Int32Input(model.labels);
  if (!model.targets.empty()) rows.targets = session.FloatInput(model.targets);
  return rows;
}

// The next run reads them from `rows`, which are as large.
inline void BindInputs(const Model& model, const BatchRows& rows, Session& session) {
  const auto bind = [&session]<typename T>(const std::string& name, std::span<T> values) {
    if (!name.empty()) session.BindInput(name, std::span<const T>(values));
  };
  bind(model.features, rows.features);
  bind(model.pixels, rows.pixels);
  bind(model.seeds, rows.seeds);
  bind(model.ids, rows.ids);
  bind(model.labels, rows.labels);
  bind(model.targets, rows.targets);
}

}  // namespace taas

#endif  // TRAINER_MODEL_DATA_SHAPE_H_
