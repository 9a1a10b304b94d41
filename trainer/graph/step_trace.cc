#include "trainer/graph/step_trace.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "operator/base/check.h"
#include "third_party/json.h"

namespace taas {
namespace {

double Microseconds(Clock::Time::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

nlohmann::json ThreadName(int thread, const std::string& name) {
  return {{"ph", "M"}, {"name", "thread_name"}, {"pid", 1}, {"tid", thread},
          {"args", {{"name", name}}}};
}

}  // namespace

StepTrace::Track::Track(const Clock& clock, const Options& options, std::string name,
                        std::vector<TracedOp> ops, int threads)
    : clock_(clock),
      options_(options),
      name_(std::move(name)),
      ops_(std::move(ops)),
      threads_(static_cast<size_t>(threads)) {
  const int64_t steps = std::min(options.last - options.first + 1, kEventsMax);
  const int64_t events = std::min(steps * std::max<int64_t>(1, std::ssize(ops_)), kEventsMax);
  steps_.list.reserve(static_cast<size_t>(steps));
  // Any thread may happen to run all ops.
  for (Events& thread : threads_) thread.list.reserve(static_cast<size_t>(events));
}

bool StepTrace::Track::Begin() {
  const int64_t run = ++runs_;
  if (run < options_.first || run > options_.last) return false;
  begun_ = Now();
  return true;
}

void StepTrace::Track::End() {
  const int64_t run = runs_;
  if (run >= options_.first && run <= options_.last) {
    Add(steps_, {.step = run, .op = kWholeStep, .begin = begun_, .end = Now()});
  }
  ended_ = run;
}

void StepTrace::Track::Record(int thread, int op, Clock::Time begin, Clock::Time end) {
  Add(threads_[static_cast<size_t>(thread)],
      {.step = runs_, .op = op, .begin = begin, .end = end});
}

void StepTrace::Track::Add(Events& to, const Event& event) {
  if (to.list.size() < to.list.capacity()) to.list.push_back(event);
  else ++to.left_out;
}

StepTrace::StepTrace(const Clock& clock, Options options)
    : clock_(clock), options_(std::move(options)), start_(clock.Now()) {
  CHECK(options_.first >= 1 && options_.last >= options_.first)
      << "a trace of steps " << options_.first << " to " << options_.last;
}

StepTrace::Track* StepTrace::AddTrack(std::string name, std::vector<TracedOp> ops, int threads) {
  CHECK(threads >= 1) << "a track of " << threads << " threads";
  tracks_.push_back(
      std::make_unique<Track>(clock_, options_, std::move(name), std::move(ops), threads));
  return tracks_.back().get();
}

bool StepTrace::complete() const {
  return !tracks_.empty() && std::ranges::all_of(tracks_, [this](const auto& track) {
    return track->ended_ >= options_.last;
  });
}

bool StepTrace::recorded() const {
  return std::ranges::any_of(tracks_, [](const auto& track) {
    return !track->steps_.list.empty();
  });
}

std::string StepTrace::Json() const {
  nlohmann::json events = nlohmann::json::array();
  events.push_back({{"ph", "M"}, {"name", "process_name"}, {"pid", 1}, {"tid", 0},
                    {"args", {{"name", options_.process}}}});
  int64_t left_out = 0;
  int line = 0;
  const auto add = [&](const Track& track, const Track::Events& from) {
    left_out += from.left_out;
    for (const Track::Event& event : from.list) {
      nlohmann::json shown = {{"ph", "X"}, {"pid", 1}, {"tid", line},
                              {"ts", Microseconds(event.begin - start_)},
                              {"dur", Microseconds(event.end - event.begin)}};
      if (event.op == Track::kWholeStep) {
        shown["name"] = "step " + std::to_string(event.step);
        shown["cat"] = "step";
        shown["args"] = {{"step", event.step}};
      } else {
        const TracedOp& op = track.ops_[static_cast<size_t>(event.op)];
        shown["name"] = op.name;
        shown["cat"] = "op";
        shown["args"] = {{"op", op.op},       {"shape", op.shape}, {"device", op.device},
                         {"flops", op.flops}, {"bytes", op.bytes}, {"step", event.step}};
      }
      events.push_back(std::move(shown));
    }
  };
  for (const std::unique_ptr<Track>& track : tracks_) {
    const std::string prefix = track->name_.empty() ? "" : track->name_ + ", ";
    events.push_back(ThreadName(line, prefix + "steps"));
    add(*track, track->steps_);
    ++line;
    for (size_t i = 0; i < track->threads_.size(); ++i) {
      events.push_back(ThreadName(line, prefix + "ops, thread " + std::to_string(i)));
      add(*track, track->threads_[i]);
      ++line;
    }
  }
  const nlohmann::json file = {{"displayTimeUnit", "ms"},
                               {"traceEvents", std::move(events)},
                               {"otherData", {{"events left out", left_out}}}};
  return file.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace taas
