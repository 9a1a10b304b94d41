// How long it takes from an event file of 100 MB, none of it in memory, to the JSON of all that a
// page of it shows: of curves (wanted: 1 s) and of histograms (wanted: 2 s), in the forms of
// TensorFlow 1 and 2.
//
// Beside it what reading the same bytes alone takes, which is the bound. Times are the median of
// the rounds and, in brackets, the fastest and the slowest.
//
//   bazel run -c opt //dashboard/events:read_bench

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "dashboard/events/fake_events.h"
#include "dashboard/events/histogram_routes.h"
#include "dashboard/events/run_set.h"
#include "dashboard/events/tensorboard_routes.h"
#include "operator/base/clock.h"
#include "operator/base/fake_directory.h"
#include "operator/base/random.h"

namespace taas::dashboard {
namespace {

constexpr size_t kFileBytes = 100'000'000;
constexpr int kRounds = 5;
constexpr int kScalarTags = 20;
constexpr int kHistogramTags = 40;  // Weights and gradients of twenty layers.
constexpr int kTensorFlowBins = 30;
constexpr char kName[] = "events.out.tfevents.1";

std::string Tag(int tag) { return "layers/layer" + std::to_string(tag) + "/value"; }

// A bell around 0 in TensorFlow 1's bins.
FakeHisto Bell(SeededRandom* random) {
  FakeHisto histo{.min = -0.8, .max = 0.9};
  for (double edge = -1; edge < -1e-5; edge /= 1.1) histo.limits.push_back(edge);
  for (size_t i = histo.limits.size(); i > 0; --i) histo.limits.push_back(-histo.limits[i - 1]);
  for (const double limit : histo.limits) {
    histo.counts.push_back(
        std::floor(1 + 1000 * std::abs(limit) * std::exp(-limit * limit) * random->Unit()));
  }
  return histo;
}

std::vector<double> BellRows(SeededRandom* random) {
  std::vector<double> rows;
  for (int i = 0; i < kTensorFlowBins; ++i) {
    rows.insert(rows.end(), {i * 0.1 - 1.5, i * 0.1 - 1.4, std::floor(random->Unit() * 1000)});
  }
  return rows;
}

enum class Form { kSimple, kScalarTensor, kHisto, kRows };

std::string Value(Form form, int tag, bool is_first, SeededRandom* random) {
  switch (form) {
    case Form::kSimple:
      return SimpleValue(Tag(tag), static_cast<float>(random->Unit()));
    case Form::kScalarTensor:
      return TensorValue(Tag(tag), FloatTensor(static_cast<float>(random->Unit())),
                         is_first ? Metadata({.plugin = "scalars"}) : "");
    case Form::kHisto:
      return HistoValue(Tag(tag), Bell(random));
    case Form::kRows:
      return TensorValue(Tag(tag), RowsTensor(BellRows(random)),
                         is_first ? Metadata({.plugin = "histograms"}) : "");
  }
  return "";
}

std::string MakeFile(Form form) {
  SeededRandom random(1);
  const bool is_curves = form == Form::kSimple || form == Form::kScalarTensor;
  const int tags = is_curves ? kScalarTags : kHistogramTags;
  std::string bytes = FramedRecord(FileVersionEvent(1));
  for (int64_t step = 0; bytes.size() < kFileBytes; ++step) {
    for (int tag = 0; tag < tags; ++tag) {
      const double wall = 1.7e9 + static_cast<double>(step) * 0.37;
      bytes += FramedRecord(SummaryEvent(wall, step, {Value(form, tag, step == 0, &random)}));
    }
  }
  return bytes;
}

// Takes the file out of the kernel's memory.
void Forget(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY);
  ::fdatasync(fd);
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
}

struct Spent {
  std::vector<double> ms;
  std::string Text() {
    std::ranges::sort(ms);
    char text[64];
    std::snprintf(text, sizeof(text), "%5.0f [%.0f, %.0f]", ms[ms.size() / 2], ms.front(),
                  ms.back());
    return text;
  }
};

class Stopwatch {
 public:
  // Since the last lap.
  double Lap() {
    const Clock::Time now = clock_.Now();
    const std::chrono::duration<double, std::milli> spent = now - last_;
    last_ = now;
    return spent.count();
  }

 private:
  RealClock clock_;
  Clock::Time last_ = clock_.Now();
};

// Everything that a page shows of the run.
size_t AskAll(const RunSet& runs, Form form) {
  size_t bytes = AnswerTensorBoard(runs, "/data/plugin/scalars/tags", {}).body.size();
  const bool is_curves = form == Form::kSimple || form == Form::kScalarTensor;
  for (int tag = 0; tag < (is_curves ? kScalarTags : kHistogramTags); ++tag) {
    const std::pair<std::string, std::string> query[] = {{"run", "."}, {"tag", Tag(tag)}};
    if (is_curves) {
      bytes += AnswerTensorBoard(runs, "/data/plugin/scalars/scalars", query).body.size();
    } else {
      bytes += AnswerHistogramRoutes(runs, "/data/histograms/series", query).body.size();
      bytes += AnswerTensorBoard(runs, "/data/plugin/distributions/distributions", query)
                   .body.size();
    }
  }
  return bytes;
}

void Measure(const char* name, Form form) {
  const FakeDirectory fake;
  const std::string path = fake.path() + "/" + kName;
  {
    const std::string bytes = MakeFile(form);
    fake.Write(kName, bytes);
  }
  Spent bound, read, warm, answer;
  size_t json_bytes = 0;
  for (int round = 0; round < kRounds; ++round) {
    Forget(path);
    Stopwatch watch;
    {
      ReadBuffer buffer;
      const Directory directory = *Directory::Open(fake.path(), Links::kRefused);
      const OpenFile file = *directory.OpenFileIn(kName);
      FileWindow window(file, &buffer);
      for (uint64_t at = 0; window.At(at, kWindowBytes)->size() > 0; at += kWindowBytes) {
      }
    }
    bound.ms.push_back(watch.Lap());
    Forget(path);
    watch.Lap();
    RunSet runs(fake.path());
    runs.Refresh();
    read.ms.push_back(watch.Lap());
    json_bytes = AskAll(runs, form);
    answer.ms.push_back(watch.Lap());
    RunSet again(fake.path());
    again.Refresh();
    warm.ms.push_back(watch.Lap());
  }
  std::printf("%-22s %-18s %-18s %-18s %-18s %6.1f\n", name, bound.Text().c_str(),
              read.Text().c_str(), warm.Text().c_str(), answer.Text().c_str(),
              static_cast<double>(json_bytes) / 1e6);
}

}  // namespace
}  // namespace taas::dashboard

int main() {
  using taas::dashboard::Form;
  using taas::dashboard::Measure;
  std::printf("%-22s %-18s %-18s %-18s %-18s %6s\n", "100 MB of", "bytes alone, ms",
              "read cold, ms", "read warm, ms", "JSON of all, ms", "MB");
  Measure("curves", Form::kSimple);
  Measure("curves, TF 2", Form::kScalarTensor);
  Measure("histograms, 242 bins", Form::kHisto);
  Measure("histograms, TF 2", Form::kRows);
  return 0;
}
