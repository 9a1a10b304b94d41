// A program as the list of what was launched: for streams whose device records nothing itself.
//
// Ownership: borrows kernels, and what their calls and copies refer to. Threads: one at a time.
// Errors: the first of those of the commands, the rest of which are not launched.
//
//   if (recording_ != nullptr) return recording_->AddLaunch(kernel, call);

#ifndef TRAINER_GRAPH_RECORDED_PROGRAM_H_
#define TRAINER_GRAPH_RECORDED_PROGRAM_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "trainer/graph/device.h"

namespace taas {

class RecordedProgram : public Program {
 public:
  // Of what `work` launches into a stream that adds to *recording while that is not null.
  static absl::StatusOr<std::unique_ptr<Program>> Of(absl::FunctionRef<absl::Status()> work,
                                                     RecordedProgram** recording) {
    auto program = std::make_unique<RecordedProgram>();
    *recording = program.get();
    absl::Status status = work();
    *recording = nullptr;
    if (!status.ok()) return status;
    return program;
  }

  // All return OK. The addresses are those of now, as where a device keeps them.
  absl::Status AddLaunch(const Kernel& kernel, const KernelCall& call) {
    calls_.push_back({{call.inputs.begin(), call.inputs.end()},
                      {call.outputs.begin(), call.outputs.end()},
                      call});
    Call& kept = calls_.back();
    kept.call.inputs = kept.inputs;
    kept.call.outputs = kept.outputs;
    return Add([&kernel, &kept](Stream& stream) {
      kept.call.stream = &stream;
      return stream.Launch(kernel, kept.call);
    });
  }
  absl::Status AddCopy(void* to, const void* from, size_t bytes) {
    return Add([=](Stream& stream) { return stream.Copy(to, from, bytes); });
  }
  absl::Status AddRecord(Event& event) {
    return Add([&event](Stream& stream) { return stream.Record(event); });
  }
  absl::Status AddWait(Event& event) {
    return Add([&event](Stream& stream) { return stream.Wait(event); });
  }

  absl::Status Launch(Stream& stream) override {
    for (const Command& command : commands_) {
      if (absl::Status status = command(stream); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  struct Call {
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    KernelCall call;
  };
  using Command = std::function<absl::Status(Stream&)>;

  absl::Status Add(Command command) {
    commands_.push_back(std::move(command));
    return absl::OkStatus();
  }

  std::deque<Call> calls_;  // They stay where they are.
  std::vector<Command> commands_;
};

}  // namespace taas

#endif  // TRAINER_GRAPH_RECORDED_PROGRAM_H_
