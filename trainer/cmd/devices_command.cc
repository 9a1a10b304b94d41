#include "trainer/cmd/devices_command.h"

#include <cstdio>
#include <optional>
#include <string>

#include "operator/base/command_line.h"
#include "trainer/cuda/found.h"
#include "trainer/retry/error_policy.h"

namespace taas {

int RunDevicesCommand(int argc, char** argv) {
  CommandLine app({.name = "taas-trainer devices",
                   .about = "Shows which NVIDIA GPUs this machine has, its driver and libraries, "
                            "and why what is missing cannot be used."});
  std::string format = "text";
  app.AddOption("--format", &format, "text or json").OneOf({"text", "json"}).ShowDefault();
  const std::optional<int> ended = app.Parse(argc, argv);
  if (ended) return *ended == 0 ? kExitDone : kExitUsage;
  const cuda::Found found = cuda::Find();
  std::fputs((format == "json" ? JsonOf(found) : TextOf(found)).c_str(), stdout);
  return kExitDone;
}

}  // namespace taas
