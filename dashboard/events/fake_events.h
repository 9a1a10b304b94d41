// Bytes of event files, for tests and the bench: messages by their field numbers, values, events
// and records.
//
// Ownership: values. Threads: any. Errors: none; whoever passes nonsense gets nonsense.
//
//   std::string file = FramedRecord(FileVersionEvent(1.0));
//   file += FramedRecord(SummaryEvent(2.0, 10, {SimpleValue("loss", 0.5f)}));

#ifndef DASHBOARD_EVENTS_FAKE_EVENTS_H_
#define DASHBOARD_EVENTS_FAKE_EVENTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace taas::dashboard {

class FakeMessage {
 public:
  FakeMessage& Varint(int number, uint64_t value);
  FakeMessage& Bytes(int number, std::string_view bytes);
  FakeMessage& Double(int number, double value);
  FakeMessage& Float(int number, float value);
  FakeMessage& Doubles(int number, const std::vector<double>& values);  // Packed.
  const std::string& str() const { return bytes_; }

 private:
  void Tag(int number, int type);
  void Raw(uint64_t value);
  std::string bytes_;
};

std::string FramedRecord(std::string_view data);

std::string FileVersionEvent(double wall, std::string_view version = "brain.Event:2");
std::string StartEvent(double wall, int64_t step);
std::string SummaryEvent(double wall, int64_t step, const std::vector<std::string>& values);

struct FakeMetadata {
  std::string plugin;
  std::string display_name;
  std::string description;
  std::string content;
  uint64_t data_class = 0;
};
std::string Metadata(const FakeMetadata& metadata);

struct FakeHisto {
  double min = 0;
  double max = 0;
  std::vector<double> limits;
  std::vector<double> counts;
};
std::string HistoMessage(const FakeHisto& histo);

// Of rank 0; of [rows, 3].
std::string FloatTensor(float value);
std::string RowsTensor(const std::vector<double>& rows);

// Values of a summary. `metadata` is a message; "": there is none.
std::string SimpleValue(std::string_view tag, float value);
std::string HistoValue(std::string_view tag, const FakeHisto& histo);
std::string TensorValue(std::string_view tag, std::string_view tensor,
                        std::string_view metadata = "");

}  // namespace taas::dashboard

#endif  // DASHBOARD_EVENTS_FAKE_EVENTS_H_
