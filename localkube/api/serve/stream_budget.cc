#include "localkube/api/serve/stream_budget.h"

#include <algorithm>
#include <utility>

namespace taas::localkube {

std::unique_ptr<StreamBudget::Account> StreamBudget::Open(std::function<void()> close) {
  std::unique_ptr<Account> account(new Account(this, std::move(close)));
  std::lock_guard lock(mutex_);
  account->taken_at_ = ++now_;
  accounts_.insert(account.get());
  return account;
}

size_t StreamBudget::held_bytes() const {
  std::lock_guard lock(mutex_);
  return held_;
}

StreamBudget::Account* StreamBudget::Stalest() const {
  Account* stalest = nullptr;
  for (Account* account : accounts_) {
    if (account->held_ == 0 || account->close_ == nullptr) continue;
    if (stalest == nullptr || account->taken_at_ < stalest->taken_at_) stalest = account;
  }
  return stalest;
}

StreamBudget::Account::~Account() {
  std::lock_guard lock(budget_->mutex_);
  budget_->held_ -= held_;
  budget_->accounts_.erase(this);
}

// What it holds counts no more: it goes with the connection.
void StreamBudget::Account::CloseNow() {
  budget_->held_ -= std::exchange(held_, 0);
  std::exchange(close_, nullptr)();
}

bool StreamBudget::Account::IsReady() {
  std::lock_guard lock(budget_->mutex_);
  asked_ = held_ > budget_->limits_.wait_above;
  return !asked_;
}

bool StreamBudget::Account::Add(size_t bytes) {
  std::lock_guard lock(budget_->mutex_);
  if (close_ == nullptr) return false;
  if (held_ == 0) taken_at_ = ++budget_->now_;
  held_ += bytes;
  budget_->held_ += bytes;
  if (held_ > budget_->limits_.stream_max) CloseNow();
  while (budget_->held_ > budget_->limits_.all_max) {
    Account* const stalest = budget_->Stalest();
    if (stalest == nullptr) break;
    stalest->CloseNow();
  }
  return close_ != nullptr;
}

bool StreamBudget::Account::Take(size_t bytes) {
  std::lock_guard lock(budget_->mutex_);
  const size_t taken = std::min(bytes, held_);  // Nothing is left of one that was closed.
  held_ -= taken;
  budget_->held_ -= taken;
  taken_at_ = ++budget_->now_;
  if (!asked_ || held_ > budget_->limits_.wait_above) return false;
  asked_ = false;
  return true;
}

}  // namespace taas::localkube
