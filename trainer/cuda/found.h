// What this machine has of what a GPU is computed with, and why not of what it lacks.
//
// Ownership: value types. Threads: any. Errors: none: what is missing is part of the answer.
//
//   std::fputs(TextOf(Find()).c_str(), stdout);

#ifndef TRAINER_CUDA_FOUND_H_
#define TRAINER_CUDA_FOUND_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/nvml.h"
#include "trainer/cuda/device_check.h"
#include "trainer/cuda/driver.h"

namespace taas::cuda {

struct FoundDriver {
  absl::Status status;
  std::string release;  // "13.0": of the CUDA release that it knows.
  std::string path;
};

struct FoundLibrary {
  std::string name;     // "cuDNN"
  std::string version;  // "9.19.0"
  std::string path;
  std::string missing;  // Why it cannot be used; "" where it can.
};

struct Found {
  FoundDriver driver;
  std::vector<DeviceInfo> devices;
  absl::Status devices_status;  // Of the driver's answer.
  std::vector<FoundLibrary> libraries;
  // Of each usable device, in their order, where they were checked.
  std::vector<absl::StatusOr<DeviceCheck>> checks;

  // How many devices this trainer can compute on.
  int usable() const;
  // Whether there are some, and all were checked and found right.
  bool AreRight() const;
};

// Where it is looked for, for tests; a machine's own by default.
struct Names {
  std::string driver = Driver::kLibrary;
  std::string prefix;  // Before the names of the libraries: a directory with its slash.
  std::string nvml = Nvml::kLibrary;
};
Found Find(const Names& names = {});
// Checks each usable device (device_health.h, device_check.h), one after the other.
void Check(Found* found, const Names& names = {});

// A line each, in columns.
std::string TextOf(const Found& found);
// {"driver": {…}, "devices": […], "libraries": […], "usable": 1}, and "checks" if there are any.
std::string JsonOf(const Found& found);

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_FOUND_H_
