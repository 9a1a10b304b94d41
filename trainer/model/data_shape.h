// What a data set decides about the model that learns from it.
//
// Ownership: values. Threads: any. Errors: none.
//
//   ASSIGN_OR_RETURN(ModelSpec spec, ParseModel(config.model, ShapeOf(data.train)));

#ifndef TRAINER_MODEL_DATA_SHAPE_H_
#define TRAINER_MODEL_DATA_SHAPE_H_

#include <algorithm>
#include <cstdint>

#include "trainer/data/dataset.h"
#include "trainer/model/model.h"

namespace taas {

inline DataShape ShapeOf(const Dataset& train) {
  return {.features = train.features(),
          .classes = train.classes(),
          .targets = std::max<int64_t>(1, train.target_width()),
          .image = train.image(),
          .vocabulary = train.vocabulary(),
          .columns = train.columns()};
}

}  // namespace taas

#endif  // TRAINER_MODEL_DATA_SHAPE_H_
