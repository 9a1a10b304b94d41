// What a session does in a run: what it sends to the device, launches there, and reads back.

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/graph/machine_fault.h"
#include "trainer/graph/session_state.h"

namespace taas {

absl::Status Session::Run(RunKind kind) {
  CHECK(state_->under_way.empty()) << "a step is under way";
  State::Turn& turn = state_->turns[state_->filled];
  RETURN_IF_ERROR(state_->Launch(kind, turn));
  RETURN_IF_ERROR(state_->runner->Synchronize()).With("run the graph");
  RETURN_IF_ERROR(state_->TakeResults(turn));
  // Of a whole step nobody looks at them.
  return kind == RunKind::kTrain ? state_->ReadRows() : absl::OkStatus();
}

size_t Session::steps_ahead() const { return state_->turns.size() - 1; }

absl::Status Session::LaunchStep() {
  State& state = *state_;
  CHECK(state.under_way.size() <= steps_ahead()) << state.under_way.size() << " are under way";
  if (absl::Status launched = state.Launch(RunKind::kStep, state.turns[state.filled]);
      !launched.ok()) {
    return state.Drop(std::move(launched));
  }
  state.under_way.push_back(state.filled);
  state.filled = (state.filled + 1) % state.turns.size();
  return absl::OkStatus();
}

absl::Status Session::AwaitStep() {
  State& state = *state_;
  CHECK(!state.under_way.empty()) << "no step is under way";
  const size_t oldest = state.under_way.front();
  state.under_way.erase(state.under_way.begin());
  const State::Turn& turn = state.turns[oldest];
  if (absl::Status ended = turn.ended->Synchronize(); !ended.ok()) {
    return Annotate(state.Drop(std::move(ended)), "run the graph");
  }
  absl::Status result = state.TakeResults(turn);
  if (!result.ok() || !std::isfinite(state.loss_value)) {
    RETURN_IF_ERROR(state.GoBackTo(oldest)).With("go back to a step");
    return result;
  }
  if (state.under_way.empty()) state.filled = oldest;
  return result;
}

size_t Session::steps_under_way() const { return state_->under_way.size(); }

absl::Status Session::DropSteps() {
  return state_->under_way.empty() ? absl::OkStatus() : state_->Drop(absl::OkStatus());
}

absl::Status Session::State::MakeTurns() {
  // An evaluation is looked at after each run.
  const bool ahead = device.prefers_programs() && options.inter_op_threads == 1 &&
                     options.trainable && loss.has_value();
  turns.resize(ahead ? 2 : 1);
  if (ahead) copies = device.MakeStream();
  under_way.reserve(turns.size());
  for (Turn& turn : turns) {
    const auto pin = [this](size_t bytes) {
      sizes.pinned_bytes += bytes;
      return AllocateFor(device, MemoryUse::kPinned, bytes, MemoryKind::kPinned);
    };
    ASSIGN_OR_RETURN(turn.memory, pin(sizeof(Turn::Memory)));
    turn.its() = {};
    turn.ended = device.MakeEvent();
    if (ahead) turn.arrived = device.MakeEvent();
    for (size_t i = 0; i < schedule.buffers.size(); ++i) {
      const ScheduledBuffer& buffer = schedule.buffers[i];
      if (buffer.kind != ScheduledBuffer::Kind::kInput) continue;
      void*& host = turn.inputs[static_cast<int>(i)] = data[i];
      if (device.host_sees_memory()) continue;
      host = nullptr;
      if (!options.binds_inputs) {
        ASSIGN_OR_RETURN(Buffer pinned, pin(buffer.bytes));
        owned.push_back(std::move(pinned));
        host = owned.back().data();
      }
      if (!ahead) continue;
      ASSIGN_OR_RETURN(Buffer staged, AllocateFor(device, MemoryUse::kInputs, buffer.bytes));
      sizes.input_bytes += buffer.bytes;
      owned.push_back(std::move(staged));
      turn.staged[static_cast<int>(i)] = owned.back().data();
    }
  }
  return absl::OkStatus();
}

absl::Status Session::State::Launch(RunKind kind, Turn& turn) {
  const bool forward = kind == RunKind::kForward;
  if (!forward) {
    RETURN_IF_ERROR(ClearRows());
  }
  RETURN_IF_ERROR(SendInputs(kind, turn)).With("copy the inputs");
  StepArguments arguments{.threads = options.threads,
                          .block = device_block(),
                          .program = static_cast<int>(kind)};
  if (kind == RunKind::kTrain) arguments.rest = after_gradients;
  const bool ends_in_order = device.host_sees_memory() && !device.prefers_programs();
  if (kind == RunKind::kTrain && watch != nullptr && ends_in_order && after_gradients.empty()) {
    watch->Begin();
    arguments.watch = watch.get();
  }
  if (kind == RunKind::kStep) arguments.rest = after_all;
  const bool counted = trace != nullptr && !forward;
  if (counted && trace->Begin()) arguments.trace = trace;
  const StepFailure failure = runner->Launch(forward, arguments);
  if (counted) trace->End();
  if (!failure.status.ok()) {
    if (failure.step < 0) return Annotate(failure.status, "run the graph");
    const ScheduledStep& failed = schedule.steps[static_cast<size_t>(failure.step)];
    return Annotate(failure.status, "run " + StepText(failed.node));
  }
  Turn::Memory& its = turn.its();
  RETURN_IF_ERROR(runner->Copy(&its.fault, &device_block()->fault, sizeof(Fault)));
  if (loss) {
    RETURN_IF_ERROR(runner->Copy(&its.loss, Tensor(*loss).data(), sizeof(float)));
  }
  return runner->Record(*turn.ended);
}

absl::Status Session::State::SendInputs(RunKind kind, Turn& turn) {
  StepBlock& sent = turn.its().block;
  sent = block;
  sent.fault = {};
  // A fault of a step that nobody has awaited stays, so that no update behind it does anything.
  static_assert(offsetof(StepBlock, fault) + sizeof(Fault) <= sizeof(StepBlock));
  const size_t bytes = under_way.empty() ? sizeof(StepBlock) : offsetof(StepBlock, fault);
  RETURN_IF_ERROR(runner->Copy(device_block(), &sent, bytes));
  for (const auto& [buffer, host] : turn.inputs) {
    const Value input = schedule.buffers[static_cast<size_t>(buffer)].value;
    CHECK(host != nullptr) << "input " << NodeAt(input.node).name << " is not bound";
  }
  if (kind == RunKind::kStep && copies != nullptr) return StageInputs(turn);
  for (const auto& [buffer, host] : turn.inputs) {
    void* const to = data[static_cast<size_t>(buffer)];
    if (host == to) continue;
    RETURN_IF_ERROR(
        runner->Copy(to, host, schedule.buffers[static_cast<size_t>(buffer)].bytes));
  }
  return absl::OkStatus();
}

// A program reads inputs where they were when it was recorded, and the step before may still read
// them there. So they are staged in memory of their turn, which nobody reads any more: the step
// that did was awaited before the turn was filled again. What the device copies to their place then
// is little beside what crosses the bus; a second program, of the other place, would be as large as
// the first, and be recorded too.
absl::Status Session::State::StageInputs(const Turn& turn) {
  const auto bytes_of = [this](int buffer) {
    return schedule.buffers[static_cast<size_t>(buffer)].bytes;
  };
  for (const auto& [buffer, staged] : turn.staged) {
    RETURN_IF_ERROR(copies->Copy(staged, turn.inputs.at(buffer), bytes_of(buffer)));
  }
  RETURN_IF_ERROR(copies->Record(*turn.arrived));
  RETURN_IF_ERROR(runner->Wait(*turn.arrived));
  for (const auto& [buffer, staged] : turn.staged) {
    RETURN_IF_ERROR(runner->Copy(data[static_cast<size_t>(buffer)], staged, bytes_of(buffer)));
  }
  return absl::OkStatus();
}

absl::Status Session::State::TakeResults(const Turn& turn) {
  const Turn::Memory& its = turn.its();
  // What a loss that is no number means is whoever trains with it to say.
  if (its.fault.found() && its.fault.kind != Fault::Kind::kLoss) {
    const auto step = static_cast<size_t>(its.fault.kernel);
    return Annotate(absl::InvalidArgumentError(FaultText(its.fault)),
                    "run " + (step < schedule.steps.size() ? StepText(schedule.steps[step].node)
                                                           : "what follows the gradients"));
  }
  // Of several devices that is the mean of theirs.
  loss_value = its.fault.found() ? its.fault.loss : its.loss;
  return absl::OkStatus();
}

absl::Status Session::State::Drop(absl::Status failed) {
  under_way.clear();
  absl::Status ended = runner->Synchronize();
  return failed.ok() || IsMachineFault(ended) ? ended : failed;
}

absl::Status Session::State::GoBackTo(size_t turn) {
  filled = turn;
  if (under_way.empty()) return absl::OkStatus();
  under_way.clear();
  RETURN_IF_ERROR(runner->Synchronize());
  block = turns[turn].its().block;
  RETURN_IF_ERROR(SendInputs(RunKind::kForward, turns[turn]));
  return runner->Synchronize();
}

absl::Status Session::State::ClearRows() {
  for (size_t i = 0; i < row_lists.size(); ++i) {
    row_lists[i].ids = {};
    if (!row_lists[i].set) continue;
    const TensorRef gradient = Tensor(gradients[i]);
    const GradientRows rows{static_cast<size_t>(variables[i].shape.dim(1)), *row_lists[i].set};
    absl::Status cleared;
    if (gradient.host_sees()) {
      ForRowRuns(rows, [&](const RowRun& run) {
        if (cleared.ok()) cleared = gradient.Part(run.at, run.count).Fill(0);
      });
    } else {
      // A launch for each run of rows costs more than the memory of the others.
      cleared = gradient.Fill(0);
    }
    RETURN_IF_ERROR(cleared);
    row_lists[i].set.reset();
  }
  return absl::OkStatus();
}

absl::Status Session::State::ReadRows() {
  for (size_t i = 0; i < row_lists.size(); ++i) {
    RowList& list = row_lists[i];
    if (!list.listed) continue;
    int32_t count = 0;
    RETURN_IF_ERROR(Tensor({gradients[i].node, 2}).Read(std::span(&count, 1)));
    const TensorRef ids = Tensor({gradients[i].node, 1}).Part(0, static_cast<size_t>(count));
    ASSIGN_OR_RETURN(list.ids, OnHost(ids, &list.room));
  }
  return absl::OkStatus();
}

}  // namespace taas
