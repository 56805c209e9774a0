#include "failure.h"

#include <google/protobuf/util/time_util.h>
#include <google/rpc/status.pb.h>

#include <map>
#include <sstream>

Failure Failure::Of(const grpc::Status& status) {
  Failure failure{CodeName(status.error_code()), status.error_message(), {}, {}, {}};
  google::rpc::Status rpc;
  if (!rpc.ParseFromString(status.error_details())) return failure;
  google::rpc::RetryInfo retry;
  for (const auto& detail : rpc.details()) {
    // Each takes only what is of its type.
    if (detail.UnpackTo(&failure.info) || detail.UnpackTo(&failure.bad_request)) continue;
    if (detail.UnpackTo(&retry)) failure.retry = retry;
  }
  return failure;
}

std::string Failure::ToString() const {
  std::ostringstream text;
  text << "error " << code << ' ' << (info.reason().empty() ? "-" : info.reason()) << ": " << message;
  for (const auto& violation : bad_request.field_violations()) {
    text << "\n  " << violation.field() << ": " << violation.description();
  }
  const std::map<std::string, std::string> metadata(info.metadata().begin(), info.metadata().end());
  for (const auto& [key, value] : metadata) text << "\n  " << key << " = " << value;
  if (retry) {
    text << "\n  retry after " << google::protobuf::util::TimeUtil::DurationToMilliseconds(retry->retry_delay()) << " ms";
  }
  return text.str();
}

const char* CodeName(grpc::StatusCode code) {
  static constexpr const char* kNames[] = {
      "OK",          "CANCELLED",        "UNKNOWN",       "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
      "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
      "UNIMPLEMENTED", "INTERNAL",       "UNAVAILABLE",   "DATA_LOSS",        "UNAUTHENTICATED"};
  return code >= 0 && code < static_cast<int>(std::size(kNames)) ? kNames[code] : "UNKNOWN";
}
