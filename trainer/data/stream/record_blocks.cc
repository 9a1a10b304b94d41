#include "trainer/data/stream/record_blocks.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/data/record_file.h"
#include "trainer/formats/record_frame.h"

namespace taas {
namespace {

constexpr char kChanged[] = "it is not as it was when the training began";

}  // namespace

// One block, which may begin in one file and end in another.
class RecordBlocks::Reader {
 public:
  Reader(const RecordBlocks& blocks, int64_t block)
      : blocks_(blocks),
        place_(blocks.index_.blocks[static_cast<size_t>(block)]),
        left_(blocks.ExamplesOf(block)) {
    if (block + 1 < blocks.blocks()) end_ = blocks.index_.blocks[static_cast<size_t>(block) + 1];
  }

  absl::StatusOr<std::optional<std::string_view>> Next() {
    while (left_ > 0) {
      while (rest_.empty()) RETURN_IF_ERROR(ReadPart());
      ASSIGN_OR_RETURN(const std::optional<std::string_view> record, Take());
      if (!record) continue;
      --left_;
      return record;
    }
    return std::optional<std::string_view>();
  }

  std::string Where() const { return at().Where(); }

 private:
  const std::string& path() const { return blocks_.paths_[place_.file]; }

  // What the block has of one file, or of the next one.
  absl::Status ReadPart() {
    if (begun_) {
      if (place_.file + 1 == blocks_.paths_.size()) return at().Bad(kChanged);
      place_ = {.file = place_.file + 1};
    }
    begun_ = true;
    record_ = place_.record - 1;
    const uint64_t end = end_ && end_->file == place_.file ? end_->offset
                                                           : blocks_.index_.ends[place_.file];
    part_bytes_ = end - place_.offset;
    part_ = std::make_unique_for_overwrite<char[]>(part_bytes_);
    ASSIGN_OR_RETURN(const auto file, blocks_.files_.OpenRead(path()));
    ASSIGN_OR_RETURN(const size_t got, file->ReadAt(place_.offset, part_bytes_, part_.get()));
    if (got < part_bytes_) {
      return absl::DataLossError("read " + path() + ": " + kChanged + ": it is shorter");
    }
    rest_ = {part_.get(), part_bytes_};
    return absl::OkStatus();
  }

  // Nothing if the record is damaged and such are passed over.
  absl::StatusOr<std::optional<std::string_view>> Take() {
    ++record_;
    offset_ = place_.offset + (part_bytes_ - rest_.size());
    if (rest_.size() < kRecordHeadBytes + kRecordFootBytes) return at().Bad(kChanged);
    const std::optional<uint64_t> length = RecordLength(rest_.data());
    if (!length) return at().Bad("the checksum of its length is wrong");
    if (*length > rest_.size() - kRecordHeadBytes - kRecordFootBytes) return at().Bad(kChanged);
    const std::string_view data = rest_.substr(kRecordHeadBytes, *length);
    rest_.remove_prefix(kRecordHeadBytes + *length + kRecordFootBytes);
    if (RecordDataIsWhole(data, data.data() + *length)) return std::optional(data);
    if (blocks_.options_.data.reader.skip_bad) return std::optional<std::string_view>();
    return at().Bad("the checksum of its data is wrong");
  }

  RecordPlace at() const { return {path(), record_, offset_}; }

  const RecordBlocks& blocks_;
  RecordIndex::Place place_;  // Where the part begins that is being read.
  std::optional<RecordIndex::Place> end_;
  int64_t left_;
  bool begun_ = false;
  std::unique_ptr<char[]> part_;
  size_t part_bytes_ = 0;
  std::string_view rest_;  // Of the part.
  int64_t record_ = 0;
  uint64_t offset_ = 0;
};

RecordBlocks::RecordBlocks(FileSystem& files, std::vector<std::string> paths, Options options,
                           RecordIndex index)
    : files_(files),
      paths_(std::move(paths)),
      options_(std::move(options)),
      index_(std::move(index)) {}

absl::StatusOr<std::unique_ptr<RecordBlocks>> RecordBlocks::Open(FileSystem& files,
                                                                 std::vector<std::string> paths,
                                                                 Options options) {
  ASSIGN_OR_RETURN(RecordIndex index,
                   IndexRecords(files, paths,
                                {.block_examples = options.block_examples,
                                 .skip_bad = options.data.reader.skip_bad,
                                 .threads = options.threads}));
  return std::unique_ptr<RecordBlocks>(
      new RecordBlocks(files, std::move(paths), std::move(options), std::move(index)));
}

absl::StatusOr<Dataset> RecordBlocks::Load(int64_t block) const {
  CHECK(block >= 0 && block < blocks()) << "block " << block << " of " << blocks();
  Reader reader(*this, block);
  return CollectRecords(
      "read " + paths_[index_.blocks[static_cast<size_t>(block)].file],
      {.count = ExamplesOf(block),
       .next = [&] { return reader.Next(); },
       .where = [&] { return reader.Where(); }},
      options_.data);
}

}  // namespace taas
