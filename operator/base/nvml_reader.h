// NVML, asked from a thread of its own: a driver that does not answer, as one may whose card has
// fallen off the bus, holds up that thread and nobody else.
//
// Ownership: owns its thread; one that is in a call which does not return is left to itself, with
// all that it works on. Threads: any; one question at a time, others are told that it is busy.
// Errors: those of nvml.h; DeadlineExceeded where no answer comes in time; Unavailable while NVML
// still owes the answer to an earlier question; Cancelled after Stop.
//
//   NvmlReader nvml;
//   auto gpus = nvml.Ask<std::vector<GpuReading>>(3s, [](const Nvml& it) { return it.Read(); });

#ifndef OPERATOR_BASE_NVML_READER_H_
#define OPERATOR_BASE_NVML_READER_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/nvml.h"

namespace taas {

class NvmlReader {
 public:
  // NVML is loaded with the first question, and again with each until it can be.
  explicit NvmlReader(std::string library = Nvml::kLibrary);
  ~NvmlReader();
  NvmlReader(const NvmlReader&) = delete;
  NvmlReader& operator=(const NvmlReader&) = delete;

  // `question` runs in the thread, maybe after this has returned: it keeps what it needs.
  template <typename Answer>
  absl::StatusOr<Answer> Ask(std::chrono::milliseconds patience,
                             std::function<absl::StatusOr<Answer>(const Nvml& nvml)> question) {
    auto answer = std::make_shared<std::optional<absl::StatusOr<Answer>>>();
    const absl::Status status =
        Run(patience, [answer, question = std::move(question)](const Loaded& nvml) {
          *answer = nvml.ok() ? question(**nvml) : absl::StatusOr<Answer>(nvml.status());
        });
    if (!status.ok()) return status;
    return **answer;
  }

  // Whoever asks, now or later, gets no answer.
  void Stop();

 private:
  using Loaded = absl::StatusOr<std::unique_ptr<Nvml>>;
  struct Shared;

  absl::Status Run(std::chrono::milliseconds patience,
                   std::function<void(const Loaded& nvml)> question);
  static void Serve(const std::shared_ptr<Shared>& shared, const std::string& library);

  const std::string library_;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace taas

#endif  // OPERATOR_BASE_NVML_READER_H_
