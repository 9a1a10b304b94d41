// From `spec.trainer.data.tfrecord` to what record_data.h reads.
//
//   {"compression": "auto", "badRecords": "fail", "label": "label", "features": [
//     {"name": "image_raw", "dtype": "bytes", "decode": "raw", "rawDtype": "uint8",
//      "shape": [28, 28, 1], "normalise": {"scale": 0.0039, "offset": 0}},
//     {"name": "city", "dtype": "bytes", "decode": "text"},
//     {"name": "words", "dtype": "int64", "kind": "VarLen", "shape": [16], "default": 0},
//     {"name": "label", "dtype": "int64"}]}
//
// Ownership: values. Threads: any. Errors: InvalidArgument naming the field.
//
//   ASSIGN_OR_RETURN(RecordDataOptions options, ParseRecordSpec(spec, "data.tfrecord", classes));

#ifndef TRAINER_DATA_RECORD_SPEC_H_
#define TRAINER_DATA_RECORD_SPEC_H_

#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "trainer/data/record_data.h"

namespace taas {

// `columns` (borrowed) are what the features become, or null.
absl::StatusOr<RecordDataOptions> ParseRecordSpec(const nlohmann::json& spec,
                                                  const std::string& path, ClassCount classes,
                                                  const FeatureColumns* columns = nullptr);

}  // namespace taas

#endif  // TRAINER_DATA_RECORD_SPEC_H_
