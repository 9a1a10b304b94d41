// The data sets that `data fetch NAME DIR` lays out, a function each.
//
//   name     files in the folder                          read as
//   mnist    {train,test}-{images,labels}.gz              idx
//   cifar10  data_batch_1.bin … data_batch_5.bin,         cifar10
//            test_batch.bin
//   text     train.txt, test.txt                          text
//   clicks   train.csv, test.csv                          csv, with columns
//
// Sources: MNIST: LeCun, Cortes, Burges. CIFAR-10: Krizhevsky 2009,
// https://www.cs.toronto.edu/~kriz/cifar.html. The text is Karpathy's "tiny Shakespeare" of
// char-rnn. Clicks are always made: a model's loss can be compared with the least that is possible.
//
// Ownership: borrows the FileSystem. Threads: one per target folder. Errors: the FileSystem's, and
// see fetch_mnist.h; without a network a set is made, and its source says so.
//
//   for (const DataSet& set : DataSets()) {
//     if (name == set.name) return set.fetch(files, {.target = dir});
//   }

#ifndef TRAINER_DATA_FETCH_DATA_SETS_H_
#define TRAINER_DATA_FETCH_DATA_SETS_H_

#include <span>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"
#include "trainer/data/fetch/folder.h"

namespace taas {

struct DataSet {
  const char* name;
  const char* what;  // For `--help`.
  absl::StatusOr<Fetched> (*fetch)(FileSystem& files, const FetchOptions& options);
};

std::span<const DataSet> DataSets();

absl::StatusOr<Fetched> FetchText(FileSystem& files, const FetchOptions& options);
absl::StatusOr<Fetched> FetchClicks(FileSystem& files, const FetchOptions& options);

}  // namespace taas

#endif  // TRAINER_DATA_FETCH_DATA_SETS_H_
