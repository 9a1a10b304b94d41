// The files of a trained model in folders of this machine: what the job exported, else its newest
// checkpoint.
//
// Only names that an export or a checkpoint has are looked for, and no link is followed: a manifest
// may name any directory of its volume. None is opened to say which there are; each is when its
// turn comes, and has to be the one that was seen.
//
// Ownership: ModelBytes owns one descriptor. Threads: any; may wait for the disk. Errors: NotFound:
// there is neither; DataLoss: it was changed while it was read; the system's, naming the path.
//
//   ASSIGN_OR_RETURN(ModelFiles model, FindModelFiles(places));
//   ModelBytes bytes(std::move(model), "mnist");
//   while (true) { ASSIGN_OR_RETURN(const std::string some, bytes.Next(kChunk)); … }

#ifndef DASHBOARD_TRAINING_MODEL_FILES_H_
#define DASHBOARD_TRAINING_MODEL_FILES_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/base/directory.h"

namespace taas::dashboard {

// A folder in a volume of this machine.
struct FolderPlace {
  std::string top;    // The volume.
  std::string below;  // "export"; empty: the volume itself.
};

struct ModelPlaces {
  std::optional<FolderPlace> exported;
  bool saved_model = false;  // What was exported; else safetensors.
  std::optional<FolderPlace> checkpoints;
  // What was written before is another run's, which had the same volume; since 1970.
  std::chrono::nanoseconds since{0};
};

struct ModelFiles {
  enum class Kind { kSafetensors, kSavedModel, kCheckpoint };
  struct Member {
    std::string name;  // "variables/variables.index"
    FolderPlace folder;
    std::string file;  // In the folder: "variables.index"
    FileIdentity seen;
  };
  Kind kind = Kind::kCheckpoint;
  std::vector<Member> members;  // One at least.

  // One file is sent as it is, several as a tar.
  bool tar() const { return members.size() > 1; }
};

absl::StatusOr<ModelFiles> FindModelFiles(const ModelPlaces& places);

// What is sent of it, in order, and no more of it in the memory than is asked for.
class ModelBytes {
 public:
  // `folder`: in the tar.
  ModelBytes(ModelFiles files, std::string folder)
      : files_(std::move(files)), folder_(std::move(folder)) {}

  uint64_t total() const;
  // `most` bytes at most; "": that was all. A file that was replaced or has become shorter is an
  // error: what was sent then has no end that a reader would take for one.
  absl::StatusOr<std::string> Next(size_t most);

 private:
  absl::Status OpenNow(const ModelFiles::Member& member);
  absl::StatusOr<std::string> Part(const ModelFiles::Member& member, size_t most);

  ModelFiles files_;
  const std::string folder_;
  size_t member_ = 0;
  std::optional<OpenFile> file_;  // Of the member, from its first byte on.
  uint64_t at_ = 0;      // In the member.
  bool headed_ = false;  // Its header was sent.
  bool ended_ = false;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_TRAINING_MODEL_FILES_H_
