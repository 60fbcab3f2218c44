// How a query ends without an answer, and what it gives back.
#include "answers.hpp"
#include "query.hpp"
#include "wording.hpp"

namespace tidewise::router {

void Query::settle(Failure found) {
  lose(found);
  // The caller learns by what name the logs have it.
  if (const std::string* named = find(passed_, kRequestId)) found.trailing.emplace_back(kRequestId, *named);
  end(found);
}

void Query::lose(const Failure& found) {
  ++counts_->lost[int(found.reason)];
  if (!desk_.losses.wants(counts_->label, found.reason)) return;
  const std::string* named = find(passed_, kRequestId);
  const std::string* trace = find(passed_, kTraceParent);
  desk_.losses.tell({counts_->label, head_.application, found.reason,
                     found.encoded ? percent_decoded(found.message) : found.message,
                     named != nullptr && !named->empty() ? *named : head_.id, head_.id, worker_,
                     trace != nullptr ? *trace : ""});
}

void Query::break_off(Failure found) {
  attempt_.reset();
  if (admitted_)
    settle(std::move(found));
  else
    end(found);
}

void Query::end(const Failure& found) {
  over_ = true;
  timer_.cancel();
  release();
  message_.release();
  Headers status = status_headers(found);
  if (answering_) return caller_.finish(std::move(status));
  Headers headers = answer_headers();
  headers.insert(headers.end(), status.begin(), status.end());
  caller_.respond(headers, true);
}

void Query::hold() {
  release();
  held_ = true;
  ++desk_.queries;
  desk_.bytes += message_.size();
}

void Query::release() {
  desk_.unread_bytes -= unread_;
  unread_ = 0;
  if (!held_) return;
  held_ = false;
  --desk_.queries;
  desk_.bytes -= message_.size();
}

}  // namespace tidewise::router
