// With libFuzzer: the target's seeds as files of $TAAS_FUZZ_SEEDS, a directory that libFuzzer reads
// afterwards. It calls the function below before all else.

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "operator/base/log.h"
#include "tools/fuzz/target.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  taas::SetLogLevel(taas::LogLevel::kError);
  const char* const dir = std::getenv("TAAS_FUZZ_SEEDS");
  if (dir == nullptr) return 0;
  const std::vector<std::string> seeds = taas::FuzzSeeds();
  for (size_t i = 0; i < seeds.size(); ++i) {
    std::ofstream(std::string(dir) + "/seed-" + std::to_string(i), std::ios::binary) << seeds[i];
  }
  return 0;
}
