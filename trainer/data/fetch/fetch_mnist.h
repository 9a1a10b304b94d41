// Lays out MNIST for the main example: train-images.gz, train-labels.gz, test-images.gz,
// test-labels.gz and source.txt, which says where the data comes from.
//
// Sources in this order: a directory of the user's, a download that is checked by SHA-256, digits
// drawn from a seed. The last needs nothing, so without a network the example still runs, and says
// on what.
//
// Ownership: borrows the FileSystem. Threads: one per target directory. Errors: the FileSystem's;
// InvalidArgument for a data directory without the expected files.
//
//   ASSIGN_OR_RETURN(Fetched mnist, FetchMnist(files, {.target = dir, .data_dir = "/mnist"}));

#ifndef TRAINER_DATA_FETCH_FETCH_MNIST_H_
#define TRAINER_DATA_FETCH_FETCH_MNIST_H_

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"
#include "trainer/data/fetch/folder.h"

namespace taas {

absl::StatusOr<Fetched> FetchMnist(FileSystem& files, const FetchOptions& options);

}  // namespace taas

#endif  // TRAINER_DATA_FETCH_FETCH_MNIST_H_
