// What a run of the program has found so far, as JSON in a file: it is written anew after each row,
// so that a row that hangs takes no other with it.
//
// Ownership: a value. Threads: one. Errors: a file that cannot be written ends the program.
//
//   ResultFile file(path, {{"device", "NVIDIA H100"}});
//   file.Add({{"name", "LeNet"}, {"ms", 1.5}});
//   file.Finish();      // "complete": true

#ifndef BENCH_GPU_RESULT_FILE_H_
#define BENCH_GPU_RESULT_FILE_H_

#include <string>
#include <utility>

#include "third_party/json.h"

namespace taas::bench {

class ResultFile {
 public:
  ResultFile(std::string path, nlohmann::json about)
      : path_(std::move(path)), json_(std::move(about)) {
    json_["rows"] = nlohmann::json::array();
    json_["complete"] = false;
    Write();
  }
  void Add(nlohmann::json row) {
    json_["rows"].push_back(std::move(row));
    Write();
  }
  void Finish() {
    json_["complete"] = true;
    Write();
  }

 private:
  void Write() const;

  const std::string path_;
  nlohmann::json json_;
};

}  // namespace taas::bench

#endif  // BENCH_GPU_RESULT_FILE_H_
