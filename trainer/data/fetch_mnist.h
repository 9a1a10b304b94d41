// Lays out MNIST for the main example: train-images.gz, train-labels.gz, test-images.gz,
// test-labels.gz and source.txt, which says where the data comes from.
//
// Sources in this order: a directory of the user's, a download that is checked by SHA-256, digits
// drawn from a seed. The last needs nothing, so without a network the example still runs, and says
// on what.
//
// Ownership: borrows the FileSystem. Threads: one per target directory. Errors: the FileSystem's;
// InvalidArgument for a data directory without the expected files. `source.txt` is written last: a
// directory that has it is complete.
//
//   ASSIGN_OR_RETURN(FetchedMnist mnist, FetchMnist(files, {.target = dir, .data_dir = "/mnist"}));

#ifndef TRAINER_DATA_FETCH_MNIST_H_
#define TRAINER_DATA_FETCH_MNIST_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"

namespace taas {

struct FetchOptions {
  using Download = std::function<absl::StatusOr<std::string>(const std::string& url)>;

  std::string target;
  // With the four classic files (train-images-idx3-ubyte.gz, …), or with the two t10k ones, of
  // which the first nine tenths become training data. Empty: not given.
  std::string data_dir = "";
  // Null: no download is tried.
  Download download = nullptr;
  // Told what happens, one sentence each.
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

struct FetchedMnist {
  std::string source;
  bool was_complete = false;
};

absl::StatusOr<FetchedMnist> FetchMnist(FileSystem& files, const FetchOptions& options);

// Lower-case hexadecimal.
std::string Sha256Hex(std::string_view data);

}  // namespace taas

#endif  // TRAINER_DATA_FETCH_MNIST_H_
