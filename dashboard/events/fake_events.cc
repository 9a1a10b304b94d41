#include "dashboard/events/fake_events.h"

#include "operator/base/crc32c.h"

namespace taas::dashboard {
namespace {

template <typename T>
std::string_view BytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

}  // namespace

void FakeMessage::Raw(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
  bytes_ += static_cast<char>(value);
}

void FakeMessage::Tag(int number, int type) { Raw(static_cast<uint64_t>(number * 8 + type)); }

FakeMessage& FakeMessage::Varint(int number, uint64_t value) {
  Tag(number, 0);
  Raw(value);
  return *this;
}

FakeMessage& FakeMessage::Bytes(int number, std::string_view bytes) {
  Tag(number, 2);
  Raw(bytes.size());
  bytes_ += bytes;
  return *this;
}

FakeMessage& FakeMessage::Double(int number, double value) {
  Tag(number, 1);
  bytes_ += BytesOf(value);
  return *this;
}

FakeMessage& FakeMessage::Float(int number, float value) {
  Tag(number, 5);
  bytes_ += BytesOf(value);
  return *this;
}

FakeMessage& FakeMessage::Doubles(int number, const std::vector<double>& values) {
  std::string packed;
  for (const double value : values) packed += BytesOf(value);
  return Bytes(number, packed);
}

std::string FramedRecord(std::string_view data) {
  const uint64_t length = data.size();
  std::string record(BytesOf(length));
  record += BytesOf(MaskedCrc32c(BytesOf(length)));
  record += data;
  record += BytesOf(MaskedCrc32c(data));
  return record;
}

std::string FileVersionEvent(double wall, std::string_view version) {
  return FakeMessage().Double(1, wall).Bytes(3, version).str();
}

std::string StartEvent(double wall, int64_t step) {
  return FakeMessage()
      .Double(1, wall)
      .Varint(2, static_cast<uint64_t>(step))
      .Bytes(7, FakeMessage().Varint(1, 1).str())
      .str();
}

std::string SummaryEvent(double wall, int64_t step, const std::vector<std::string>& values) {
  FakeMessage summary;
  for (const std::string& value : values) summary.Bytes(1, value);
  return FakeMessage()
      .Double(1, wall)
      .Varint(2, static_cast<uint64_t>(step))
      .Bytes(5, summary.str())
      .str();
}

std::string Metadata(const FakeMetadata& metadata) {
  FakeMessage message;
  message.Bytes(1, FakeMessage().Bytes(1, metadata.plugin).Bytes(2, metadata.content).str());
  message.Bytes(2, metadata.display_name).Bytes(3, metadata.description);
  if (metadata.data_class != 0) message.Varint(4, metadata.data_class);
  return message.str();
}

std::string HistoMessage(const FakeHisto& histo) {
  return FakeMessage()
      .Double(1, histo.min)
      .Double(2, histo.max)
      .Doubles(6, histo.limits)
      .Doubles(7, histo.counts)
      .str();
}

std::string FloatTensor(float value) {
  return FakeMessage().Varint(1, 1).Bytes(2, "").Float(5, value).str();
}

std::string RowsTensor(const std::vector<double>& rows) {
  std::string content;
  for (const double value : rows) content += BytesOf(value);
  const std::string count = FakeMessage().Varint(1, rows.size() / 3).str();
  const std::string shape =
      FakeMessage().Bytes(2, count).Bytes(2, FakeMessage().Varint(1, 3).str()).str();
  return FakeMessage().Varint(1, 2).Bytes(2, shape).Bytes(4, content).str();
}

std::string SimpleValue(std::string_view tag, float value) {
  return FakeMessage().Bytes(1, tag).Float(2, value).str();
}

std::string HistoValue(std::string_view tag, const FakeHisto& histo) {
  return FakeMessage().Bytes(1, tag).Bytes(5, HistoMessage(histo)).str();
}

std::string TensorValue(std::string_view tag, std::string_view tensor,
                        std::string_view metadata) {
  FakeMessage value;
  value.Bytes(1, tag).Bytes(8, tensor);
  if (!metadata.empty()) value.Bytes(9, metadata);
  return value.str();
}

}  // namespace taas::dashboard
