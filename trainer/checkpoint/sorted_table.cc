#include "trainer/checkpoint/sorted_table.h"

#include <cstddef>
#include <utility>

#include "leveldb/comparator.h"
#include "leveldb/env.h"
#include "leveldb/options.h"
#include "leveldb/table_builder.h"
#include "operator/base/check.h"

namespace taas {
namespace {

constexpr size_t kBlockBytes = 262'144;  // TensorFlow's; another size would give other bytes.

class StringSink : public leveldb::WritableFile {
 public:
  leveldb::Status Append(const leveldb::Slice& data) override {
    text_.append(data.data(), data.size());
    return leveldb::Status::OK();
  }
  leveldb::Status Close() override { return leveldb::Status::OK(); }
  leveldb::Status Flush() override { return leveldb::Status::OK(); }
  leveldb::Status Sync() override { return leveldb::Status::OK(); }
  std::string& text() { return text_; }

 private:
  std::string text_;
};

leveldb::Options TableOptions() {
  leveldb::Options options;
  options.comparator = leveldb::BytewiseComparator();
  options.compression = leveldb::kNoCompression;
  options.block_size = kBlockBytes;
  options.block_restart_interval = 16;
  options.filter_policy = nullptr;
  return options;
}

}  // namespace

std::string EncodeSortedTable(const std::map<std::string, std::string>& entries,
                              TableCompression compression) {
  StringSink sink;
  leveldb::Options options = TableOptions();
  if (compression == TableCompression::kSnappy) options.compression = leveldb::kSnappyCompression;
  leveldb::TableBuilder builder(options, &sink);
  for (const auto& [key, value] : entries) builder.Add(key, value);
  const leveldb::Status status = builder.Finish();
  CHECK(status.ok()) << "a table in memory cannot fail: " << status.ToString();
  return std::move(sink.text());
}

}  // namespace taas
