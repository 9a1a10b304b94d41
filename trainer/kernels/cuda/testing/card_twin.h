// The functions of twin.h on a card: the GPU that the driver shows, or one that stands for it.
//
// Each case runs twice, and must come to the same bits again. Orders of threads are the card's.
//
// Ownership: borrows the device. Threads: one at a time. Errors: fail the test, with the op's name.
//
//   CardTwins twins(gpus->device(0));
//   const int failed = RUN_ALL_TESTS();
//   for (const auto& [kernel, seen] : twins.seen()) …

#ifndef TRAINER_KERNELS_CUDA_TESTING_CARD_TWIN_H_
#define TRAINER_KERNELS_CUDA_TESTING_CARD_TWIN_H_

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "trainer/cuda/cuda_device.h"
#include "trainer/graph/tensor_type.h"

namespace taas::cuda {

// While there is one, the cases of this program are its. There is one at a time.
class CardTwins {
 public:
  explicit CardTwins(CudaDevice& device);
  ~CardTwins();
  CardTwins(const CardTwins&) = delete;
  CardTwins& operator=(const CardTwins&) = delete;

  // Of all cases of a kernel, of which those with wrong data tell no difference.
  struct Seen {
    int cases = 0;
    double difference = 0, tolerance = 0;  // The largest: OpCase::tolerance.
  };
  // By op and the type of its first input.
  using Kernels = std::map<std::pair<std::string, DType>, Seen>;
  const Kernels& seen() const { return seen_; }

  CudaDevice& device() const { return device_; }
  void Add(const std::pair<std::string, DType>& kernel, const Seen& of) {
    Seen& all = seen_[kernel];
    all.cases += of.cases;
    all.difference = std::max(all.difference, of.difference);
    all.tolerance = std::max(all.tolerance, of.tolerance);
  }

 private:
  CudaDevice& device_;
  Kernels seen_;
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_TESTING_CARD_TWIN_H_
