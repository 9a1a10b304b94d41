#include "trainer/cuda/fake/fake_machine.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace taas::cuda::fake {

FakeMachine ReadMachine() {
  FakeMachine machine;
  const char* const path = std::getenv("TAAS_FAKE_CUDA");
  std::ifstream file(path == nullptr ? "" : path);
  if (file.is_open()) machine.init = kCuSuccess;
  for (std::string line; std::getline(file, line);) {
    std::istringstream text(line);
    std::string what;
    text >> what;
    if (what == "version") text >> machine.version;
    if (what == "nccl") text >> machine.nccl;
    if (what == "init") text >> machine.init;
    if (what == "fail") {
      FakeFailure failure;
      if (text >> failure.function >> failure.nth >> failure.result) {
        machine.failures.push_back(failure);
      }
    }
    if (what != "device") continue;
    FakeDevice device;
    device.lost = !(text >> device.major >> device.minor >> device.bytes >>
                    device.multiprocessors >> device.ecc >> std::ws);
    std::getline(text, device.name);
    machine.devices.push_back(device);
  }
  return machine;
}

}  // namespace taas::cuda::fake
