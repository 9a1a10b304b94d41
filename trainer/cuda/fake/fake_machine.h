// What the machine of the driver that stands for NVIDIA's is like: the file that TAAS_FAKE_CUDA
// names, read at each call; without the file there is no device.
//
//   version 13000                                    of CUDA, as the driver counts
//   nccl 22809                                       the version of NCCL, as that counts
//   cudnn 92801                                      likewise of cuDNN
//   epilogues 0                                      cuBLASLt has no product with one
//   init 803                                         what cuInit answers
//   device 9 0 85899345920 132 1 NVIDIA H100         capability, bytes, multiprocessors, ECC, name
//   device lost                                      each question about it fails
//   fail kernel 2000 214                             see FakeCudaFailAt; when one computes
//
// Of its devices a process sees those whose numbers CUDA_VISIBLE_DEVICES has, up to the first that
// is none, in that order; all where it is not set. An id is that of the machine.
//
// Ownership: values. Threads: any. Errors: lines that are none of these count for nothing.

#ifndef TRAINER_CUDA_FAKE_FAKE_MACHINE_H_
#define TRAINER_CUDA_FAKE_FAKE_MACHINE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "trainer/cuda/driver_api.h"

namespace taas::cuda::fake {

struct FakeDevice {
  int number = 0;  // Of the machine's.
  bool lost = false;
  int major = 0, minor = 0, multiprocessors = 0, ecc = 0;
  size_t bytes = 0;
  std::string name;
};

struct FakeFailure {
  std::string function;
  int nth = 0, result = 0;
};

struct FakeMachine {
  int version = 13'000;
  int nccl = 22'809;
  int cudnn = 92'801;
  bool epilogues = true;
  int init = kCuNoDevice;
  std::vector<FakeDevice> devices;
  std::vector<FakeFailure> failures;
};

FakeMachine ReadMachine();

}  // namespace taas::cuda::fake

#endif  // TRAINER_CUDA_FAKE_FAKE_MACHINE_H_
