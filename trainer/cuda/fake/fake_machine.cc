#include "trainer/cuda/fake/fake_machine.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace taas::cuda::fake {

namespace {

std::vector<FakeDevice> Visible(const std::vector<FakeDevice>& all) {
  const char* const variable = std::getenv("CUDA_VISIBLE_DEVICES");
  if (variable == nullptr) return all;
  std::vector<FakeDevice> visible;
  std::istringstream words(variable);
  for (std::string word; std::getline(words, word, ',');) {
    char* end = nullptr;
    const unsigned long number = std::strtoul(word.c_str(), &end, 10);
    if (end == word.c_str() || *end != '\0' || number >= all.size()) break;
    visible.push_back(all[number]);
  }
  return visible;
}

}  // namespace

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
    if (what == "cudnn") text >> machine.cudnn;
    if (what == "epilogues") text >> machine.epilogues;
    if (what == "init") text >> machine.init;
    if (what == "fail") {
      FakeFailure failure;
      if (text >> failure.function >> failure.nth >> failure.result) {
        machine.failures.push_back(failure);
      }
    }
    if (what != "device") continue;
    FakeDevice device{.number = static_cast<int>(machine.devices.size())};
    device.lost = !(text >> device.major >> device.minor >> device.bytes >>
                    device.multiprocessors >> device.ecc >> std::ws);
    std::getline(text, device.name);
    machine.devices.push_back(device);
  }
  machine.devices = Visible(machine.devices);
  return machine;
}

}  // namespace taas::cuda::fake
