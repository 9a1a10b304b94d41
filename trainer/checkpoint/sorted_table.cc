#include "trainer/checkpoint/sorted_table.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include "leveldb/comparator.h"
#include "leveldb/env.h"
#include "leveldb/options.h"
#include "leveldb/table.h"
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

class StringSource : public leveldb::RandomAccessFile {
 public:
  explicit StringSource(std::string_view text) : text_(text) {}
  leveldb::Status Read(uint64_t offset, size_t size, leveldb::Slice* result,
                       char* scratch) const override {
    if (offset > text_.size()) return leveldb::Status::Corruption("read beyond the end");
    const size_t got = std::min(size, text_.size() - offset);
    std::memcpy(scratch, text_.data() + offset, got);
    *result = leveldb::Slice(scratch, got);
    return leveldb::Status::OK();
  }

 private:
  const std::string_view text_;
};

leveldb::Options TableOptions() {
  leveldb::Options options;
  options.comparator = leveldb::BytewiseComparator();
  options.compression = leveldb::kNoCompression;
  options.block_size = kBlockBytes;
  options.block_restart_interval = 16;
  options.filter_policy = nullptr;
  options.paranoid_checks = true;
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

absl::StatusOr<std::map<std::string, std::string>> DecodeSortedTable(std::string_view file) {
  StringSource source(file);
  leveldb::Table* opened = nullptr;
  leveldb::Status status = leveldb::Table::Open(TableOptions(), &source, file.size(), &opened);
  const std::unique_ptr<leveldb::Table> table(opened);
  if (!status.ok()) return absl::DataLossError("no sorted table: " + status.ToString());
  leveldb::ReadOptions read;
  read.verify_checksums = true;
  std::map<std::string, std::string> entries;
  const std::unique_ptr<leveldb::Iterator> row(table->NewIterator(read));
  for (row->SeekToFirst(); row->Valid(); row->Next()) {
    entries.emplace(row->key().ToString(), row->value().ToString());
  }
  status = row->status();
  if (!status.ok()) return absl::DataLossError("damaged sorted table: " + status.ToString());
  return entries;
}

}  // namespace taas
