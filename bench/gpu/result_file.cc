#include "bench/gpu/result_file.h"

#include <fstream>

#include "operator/base/check.h"

namespace taas::bench {

void ResultFile::Write() const {
  std::ofstream file(path_);
  file << json_.dump(1) << "\n";
  file.close();
  CHECK(!file.fail()) << "cannot write " << path_;
}

}  // namespace taas::bench
