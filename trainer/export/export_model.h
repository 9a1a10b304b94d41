// A trained model as files for other programs: safetensors or a SavedModel.
//
// Ownership: borrows all. Threads: any. Errors: those of the writers, naming path and node or
// tensor; InvalidArgument for a format that is not known.
//
//   ASSIGN_OR_RETURN(const ExportFormat format, ParseExportFormat("savedModel"));
//   RETURN_IF_ERROR(ExportModel(files, "/out/export", {.model = &model, .values = values,
//                                                      .step = 1000, .format = format}));

#ifndef TRAINER_EXPORT_EXPORT_MODEL_H_
#define TRAINER_EXPORT_EXPORT_MODEL_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/file_system.h"
#include "trainer/checkpoint/bundle_reader.h"
#include "trainer/data/columns/feature_columns.h"

namespace taas {

struct Model;

enum class ExportFormat : uint8_t { kSafetensors, kSavedModel };

// "safetensors", "savedModel"; small letters will do.
absl::StatusOr<ExportFormat> ParseExportFormat(std::string_view text);

struct ExportOptions {
  const Model* model = nullptr;
  std::vector<std::span<const float>> values;  // In the order of the graph's variables.
  int64_t step = 0;
  ExportFormat format = ExportFormat::kSavedModel;
  bool bfloat16 = false;  // Of safetensors.
  // Of data with feature columns, else null: a SavedModel takes the numbers as the data has them
  // and normalises them first.
  const FeatureColumns* columns = nullptr;
};

// The file that safetensors are written to: `path` itself if it ends with .safetensors, else
// path/model.safetensors.
std::string SafetensorsPath(const std::string& path);

// Whether a model can be exported so, before it is trained for it. Unimplemented naming the op.
absl::Status CheckExport(const Model& model, ExportFormat format);

// Whether there is room for the export at `path`, before hours are spent on a model: makes the
// directory, and a file in it that is removed again. FailedPrecondition if a directory has the
// file's name, those of the FileSystem: NotFound if a file is in the way.
absl::Status TryExportPath(FileSystem& files, const std::string& path, ExportFormat format);

// A SavedModel is the directory `path`. Replaces what stands there of the same format. Variables of
// a GPT-2 have the names that others publish it with in safetensors, and where `path` is a
// directory a config.json says what it is like (trainer/model/gpt2_published.h).
absl::Status ExportModel(FileSystem& files, const std::string& path, const ExportOptions& options);

// All tensors of a checkpoint, whatever its model is, as safetensors: what an optimizer keeps too.
// Its texts and global_step become metadata.
absl::Status ConvertCheckpoint(FileSystem& files, const BundleReader& checkpoint,
                               const std::string& path, bool bfloat16);

}  // namespace taas

#endif  // TRAINER_EXPORT_EXPORT_MODEL_H_
