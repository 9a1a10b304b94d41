// CIFAR-10 in a folder, in its own files: see data_sets.h.
//
// Ownership: borrows the FileSystem. Threads: one per folder. Errors: the FileSystem's; DataLoss
// for an archive that lacks a file.
//
//   ASSIGN_OR_RETURN(Fetched set, FetchCifar10(files, {.target = dir}));

#ifndef TRAINER_DATA_FETCH_FETCH_CIFAR_H_
#define TRAINER_DATA_FETCH_FETCH_CIFAR_H_

#include <string>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"
#include "trainer/data/fetch/folder.h"

namespace taas {

absl::StatusOr<Fetched> FetchCifar10(FileSystem& files, const FetchOptions& options);

// The files of the archive as it is published (tar, gzip), by way of a file in `folder`.
absl::StatusOr<FolderContent> UnpackCifar10(FileSystem& files, const std::string& folder,
                                            const std::string& archive);

}  // namespace taas

#endif  // TRAINER_DATA_FETCH_FETCH_CIFAR_H_
