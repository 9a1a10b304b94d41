// Reading files of records (TFRecord) by one thread, checksums checked: from the page cache, so the
// disk is not part of it.
//
// For each size of record the fastest and the median of several rounds over a file of 512 MiB. Then
// the same for records whose features are put together to a data set in memory.
//
//   bazel run -c opt //bench:record_bench [-- DIR]    (where the file is made; default /tmp)

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "trainer/data/example.h"
#include "trainer/data/record_data.h"
#include "trainer/data/record_file.h"

namespace taas {
namespace {

constexpr size_t kFileBytes = size_t{512} << 20;
constexpr int kRounds = 7;
constexpr size_t kValues = 784;

void Write(FileSystem& files, const std::string& path, size_t record_bytes) {
  auto writer = RecordWriter::Open(files, path);
  CHECK(writer.ok()) << writer.status();
  std::string record(record_bytes, '\0');
  for (size_t i = 0; i < record.size(); ++i) record[i] = static_cast<char>(i * 31);
  for (size_t done = 0; done < kFileBytes; done += record_bytes + 16) {
    CHECK((*writer)->Append(record).ok());
  }
  CHECK((*writer)->Close().ok());
}

// Examples with a label and kValues of `kind`, which are pixels if they are bytes.
void WriteExamples(FileSystem& files, const std::string& path, FeatureKind kind) {
  auto writer = RecordWriter::Open(files, path);
  CHECK(writer.ok()) << writer.status();
  const std::string pixels(kValues, '\7');
  const std::vector<float> floats(kValues, 0.5f);
  ExampleBuilder builder;
  size_t done = 0;
  for (int64_t i = 0; done < kFileBytes; ++i) {
    if (kind == FeatureKind::kBytes) builder.AddBytes("values", pixels);
    if (kind == FeatureKind::kFloat) builder.AddFloats("values", floats);
    const int64_t label = i % 10;
    builder.AddInts("label", {&label, 1});
    const std::string record = builder.Take();
    CHECK((*writer)->Append(record).ok());
    done += record.size() + 16;
  }
  CHECK((*writer)->Close().ok());
}

double SecondsSince(const Clock& clock, Clock::Time start) {
  return std::chrono::duration<double>(clock.Now() - start).count();
}

double SecondsToRead(FileSystem& files, const Clock& clock, const std::string& path) {
  const Clock::Time start = clock.Now();
  auto reader = RecordReader::Open(files, path, {});
  CHECK(reader.ok()) << reader.status();
  for (;;) {
    const auto record = (*reader)->Next();
    CHECK(record.ok()) << record.status();
    if (!*record) break;
  }
  return SecondsSince(clock, start);
}

double SecondsToCollect(FileSystem& files, const Clock& clock, const std::string& path,
                        FeatureKind kind) {
  RecordDataOptions options;
  options.features = {
      {.name = "values",
       .kind = kind,
       .shape = {kValues},
       .raw = kind == FeatureKind::kBytes ? RawType::kUint8 : RawType::kNone},
      {.name = "label", .kind = FeatureKind::kInt64}};
  options.label = "label";
  const Clock::Time start = clock.Now();
  const auto data = ReadRecords(files, {path}, options);
  CHECK(data.ok()) << data.status();
  return SecondsSince(clock, start);
}

int Run(const std::string& dir) {
  PosixFileSystem files;
  const RealClock clock;
  const std::string path = dir + "/record_bench.tfrecord";
  std::printf("bytes in a record | GB/s median | GB/s best | million records/s\n");
  for (const size_t bytes : {100, 856, 3'100, 110'000, 4'000'000}) {
    Write(files, path, bytes);
    std::vector<double> rounds;
    for (int i = 0; i < kRounds; ++i) rounds.push_back(SecondsToRead(files, clock, path));
    std::ranges::sort(rounds);
    const double median = rounds[rounds.size() / 2];
    const double records = static_cast<double>(kFileBytes) / static_cast<double>(bytes + 16);
    std::printf("%17zu | %11.2f | %9.2f | %.2f\n", bytes, kFileBytes / median / 1e9,
                kFileBytes / rounds.front() / 1e9, records / median / 1e6);
  }
  std::printf("values of a record | GB/s median | GB/s best, into memory\n");
  for (const FeatureKind kind : {FeatureKind::kBytes, FeatureKind::kFloat}) {
    WriteExamples(files, path, kind);
    std::vector<double> rounds;
    for (int i = 0; i < kRounds; ++i) rounds.push_back(SecondsToCollect(files, clock, path, kind));
    std::ranges::sort(rounds);
    std::printf("%11zu %-6s | %11.2f | %9.2f\n", kValues, NameOf(kind),
                kFileBytes / rounds[rounds.size() / 2] / 1e9, kFileBytes / rounds.front() / 1e9);
  }
  CHECK(files.Remove(path).ok());
  return 0;
}

}  // namespace
}  // namespace taas

int main(int argc, char** argv) { return taas::Run(argc > 1 ? argv[1] : "/tmp"); }
