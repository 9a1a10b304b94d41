// What a training looks like over time: takes a sample every so many steps and brings it to event
// files and to /series, on a thread of its own.
//
// The training thread only copies: numbers, and for histograms the weights and gradients. If the
// disk or the counting falls behind, histograms are left out first and then whole samples, so that
// training never waits. A directory that cannot be written costs summaries, not the training.
//
// A process that starts again shows what its event files hold from before; steps that it repeats
// replace what was recorded of them.
//
// Ownership: owns its thread; borrows clock, file system and series. Threads: Due and Record from
// one; the rest is its own. Errors: logged, once per trouble.
//
//   Recorder recorder(clock, files, {.dir = "/out", .every = 100}, series);
//   if (recorder.Due(step)) recorder.Record({.step = step, .loss = loss});

#ifndef TRAINER_SUMMARY_RECORDER_H_
#define TRAINER_SUMMARY_RECORDER_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "trainer/status/series.h"
#include "trainer/summary/event_file.h"

namespace taas {

struct Sample {
  struct Tensor {
    std::string tag;
    std::vector<float> values;
  };
  int64_t step = 0;
  std::optional<double> loss;
  std::optional<double> accuracy;
  std::optional<double> perplexity{};  // Of an evaluation.
  std::optional<double> learning_rate;
  // Behind a step now; nothing: as Recorder::Options has it.
  std::optional<int64_t> examples_per_step;
  std::vector<Tensor> histograms;
};

class Recorder {
 public:
  struct Options {
    std::string dir;  // "": no event files.
    // "default/mnist": files of other jobs in the directory are none of its past; "": all are.
    std::string job{};
    int64_t every = 100;
    bool histograms = true;
    // Behind one step of the job; 0 records no rates.
    int64_t examples_per_step = 0;
    // What heads each event file: the graph, hyperparameters.
    std::vector<summary::Event> head{};
  };
  Recorder(const Clock& clock, FileSystem& files, Options options, Series& series);
  // Writes what waits.
  ~Recorder();

  // Whether a sample of `step` is wanted: at the first step, when a multiple of `every` was reached
  // since the last sample, and after going back.
  bool Due(int64_t step) const;
  // Whether it should hold histograms: there is a directory, and those of the sample before were
  // counted. So there is one copy of weights and gradients at a time.
  bool WantsHistograms() const;
  void Record(Sample sample);
  // The last that was given to Record; -1: none.
  int64_t last_step() const { return last_due_; }
  // After the last sample: what is to be said at `step`. Written to an event file, if there is a
  // directory for one.
  void End(int64_t step, summary::Summary summary);

 private:
  struct Waiting {
    Sample sample;
    std::optional<summary::Summary> end;  // Instead of a sample.
    Clock::Time time;
    Clock::WallTime wall;
  };

  void Run();
  void Restore();
  void WarnOfOtherJobs() const;
  void Take(const Waiting& waiting);
  summary::Summary Numbers(const Waiting& waiting);
  void WriteEnd(const Waiting& waiting);
  void WriteEvents(const Waiting& waiting, summary::Summary numbers, bool went_back);
  absl::Status TryWrite(const Waiting& waiting, summary::Summary numbers, bool went_back);
  absl::Status OpenWriter(Clock::WallTime wall);

  const Clock& clock_;
  FileSystem& files_;
  const Options options_;
  Series& series_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> queue_;
  bool closing_ = false;
  bool has_copy_ = false;  // Of a model, that waits or is counted.
  int64_t left_out_ = 0;

  // Of the training thread.
  int64_t last_due_ = -1;

  // Of the own thread.
  std::unique_ptr<EventWriter> writer_;
  std::optional<Clock::Time> open_again_at_;  // The disk failed.
  int64_t last_step_ = -1;
  Clock::Time last_time_{};
  std::thread thread_;
};

}  // namespace taas

#endif  // TRAINER_SUMMARY_RECORDER_H_
