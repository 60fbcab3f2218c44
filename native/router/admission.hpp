// Before a query is sent: where it may go and the sentence when the answer is no. router/admission.py in C++.
#pragma once
#include <string>

#include "choice.hpp"
#include "head.hpp"
#include "reason.hpp"
#include "table.hpp"

namespace tidewise::router {

Failure unknown_application(const Table& table, const std::string& name);
/// The lanes a query may take; null if its version names no variant.
const View* find_view(const Entry& entry, const std::string& version);
Failure unknown_variant(const Entry& entry, const std::string& version);
Failure too_large(size_t size, size_t limit);
/// A refusal in words; `left` is the budget in seconds it was refused for.
Failure explain(const Decision& decision, const Entry& entry, const Head& head, double left);

}  // namespace tidewise::router
