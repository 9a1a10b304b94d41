// A FileSystem that fails or "crashes" at the n-th operation, over a real one.
//
// Every call that could change or read the disk counts as one operation. A failing Append leaves
// half of its data behind, as a full disk or a power cut does.
//
// Ownership: borrows `base`. Threads: any; FailAt before others use it. Errors: Unavailable
// "injected fault at operation N".
//
//   FaultFileSystem files(posix);
//   files.FailAt(7, FaultFileSystem::Kind::kCrash);  // Operation 7 and all after it fail.

#ifndef OPERATOR_BASE_FAULT_FILE_SYSTEM_H_
#define OPERATOR_BASE_FAULT_FILE_SYSTEM_H_

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/file_system.h"
#include "operator/base/status.h"

namespace taas {

class FaultFileSystem : public FileSystem {
 public:
  enum class Kind { kOnce, kCrash };
  explicit FaultFileSystem(FileSystem& base) : base_(base) {}

  // Operations count from 1, anew from this call.
  void FailAt(int operation, Kind kind) {
    fail_at_ = operation;
    kind_ = kind;
    operations_ = 0;
  }
  int operations() const { return operations_; }

  absl::StatusOr<std::unique_ptr<RandomReadFile>> OpenRead(const std::string& path) override {
    RETURN_IF_ERROR(Count());
    return base_.OpenRead(path);
  }
  absl::StatusOr<std::unique_ptr<WritableFile>> OpenWrite(const std::string& path) override {
    RETURN_IF_ERROR(Count());
    ASSIGN_OR_RETURN(auto file, base_.OpenWrite(path));
    return std::unique_ptr<WritableFile>(std::make_unique<File>(*this, std::move(file)));
  }
  absl::StatusOr<std::unique_ptr<WritableFile>> OpenAppend(const std::string& path) override {
    RETURN_IF_ERROR(Count());
    ASSIGN_OR_RETURN(auto file, base_.OpenAppend(path));
    return std::unique_ptr<WritableFile>(std::make_unique<File>(*this, std::move(file)));
  }
  absl::StatusOr<bool> Exists(const std::string& path) override {
    RETURN_IF_ERROR(Count());
    return base_.Exists(path);
  }
  absl::StatusOr<std::vector<std::string>> List(const std::string& dir) override {
    RETURN_IF_ERROR(Count());
    return base_.List(dir);
  }
  absl::Status MakeDirs(const std::string& dir) override {
    RETURN_IF_ERROR(Count());
    return base_.MakeDirs(dir);
  }
  absl::Status Rename(const std::string& source, const std::string& target) override {
    RETURN_IF_ERROR(Count());
    return base_.Rename(source, target);
  }
  absl::Status Remove(const std::string& path) override {
    RETURN_IF_ERROR(Count());
    return base_.Remove(path);
  }
  absl::Status RemoveAll(const std::string& dir) override {
    RETURN_IF_ERROR(Count());
    return base_.RemoveAll(dir);
  }
  absl::Status SyncDir(const std::string& dir) override {
    RETURN_IF_ERROR(Count());
    return base_.SyncDir(dir);
  }

 private:
  class File : public WritableFile {
   public:
    File(FaultFileSystem& owner, std::unique_ptr<WritableFile> base)
        : owner_(owner), base_(std::move(base)) {}
    absl::Status Append(std::string_view data) override {
      const absl::Status fault = owner_.Count();
      if (!fault.ok()) data = data.substr(0, owner_.Crashed() ? 0 : data.size() / 2);
      RETURN_IF_ERROR(base_->Append(data));
      return fault;
    }
    absl::Status Sync() override {
      RETURN_IF_ERROR(owner_.Count());
      return base_->Sync();
    }
    absl::Status Close() override {
      RETURN_IF_ERROR(owner_.Count());
      return base_->Close();
    }

   private:
    FaultFileSystem& owner_;
    const std::unique_ptr<WritableFile> base_;
  };

  // After the operation that crashed nothing reaches the disk any more.
  bool Crashed() const { return kind_ == Kind::kCrash && operations_ > fail_at_; }

  absl::Status Count() {
    const int operation = ++operations_;
    const bool fails = kind_ == Kind::kOnce ? operation == fail_at_ : operation >= fail_at_;
    if (fail_at_ == 0 || !fails) return absl::OkStatus();
    return absl::UnavailableError("injected fault at operation " + std::to_string(operation));
  }

  FileSystem& base_;
  int fail_at_ = 0;  // 0: never.
  Kind kind_ = Kind::kOnce;
  std::atomic<int> operations_ = 0;
};

}  // namespace taas

#endif  // OPERATOR_BASE_FAULT_FILE_SYSTEM_H_
