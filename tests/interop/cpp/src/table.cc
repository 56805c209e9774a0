#include "table.h"

#include <cstdio>
#include <sstream>

namespace {

// COMPLETION_FULL as FULL.
std::string Short(const std::string& name, const std::string& prefix) {
  return name.rfind(prefix, 0) == 0 ? name.substr(prefix.size()) : name;
}

std::string Number(double value) {
  char text[400];  // the largest double has 309 digits before the point
  std::snprintf(text, sizeof text, "%.9f", value);
  return std::string(text) == "-0.000000000" ? text + 1 : text;
}

}  // namespace

std::string Table(const understudy::v1::DecideResponse& reply) {
  namespace v1 = understudy::v1;
  std::ostringstream text;
  const auto& effective = reply.effective();
  text << "move " << reply.move_key() << "\npolicy " << effective.policy() << ", weights "
       << (effective.weights_hash().empty() ? "-" : effective.weights_hash()) << ", seed " << effective.seed() << ", "
       << (effective.deterministic() ? "repeatable" : "shaped by the clock") << "\ncompletion "
       << Short(v1::Completion_Name(reply.completion()), "COMPLETION_") << ", view " << reply.view_hash() << '\n'
       << reply.candidates_size() << " of " << reply.candidates_total() << " candidates";
  for (const auto& row : reply.candidates()) {
    text << '\n'
         << row.rank() << ' ' << row.key() << ' ' << Short(v1::Verdict_Name(row.standing().verdict()), "VERDICT_") << ' '
         << Short(v1::Bound_Name(row.bound()), "BOUND_") << ' ' << Number(row.total());
    for (const auto& term : row.terms()) {
      text << "\n  " << term.id() << ' ' << Number(term.value()) << " x " << Number(term.weight()) << " = "
           << Number(term.contribution());
    }
    if (row.has_payoff()) {
      const auto& payoff = row.payoff();
      text << "\n  payoff " << Number(payoff.mean()) << " +- " << Number(payoff.standard_error()) << ' '
           << payoff.unit() << ", " << payoff.samples() << " samples";
    }
    if (!row.barred().empty()) text << "\n  barred " << row.barred();
  }
  return text.str();
}
