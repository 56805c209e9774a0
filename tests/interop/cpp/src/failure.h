#pragma once

#include <google/rpc/error_details.pb.h>
#include <grpcpp/support/status.h>

#include <optional>
#include <string>

// An error of understudy, decoded from the google.rpc details of a status.
struct Failure {
  std::string code;
  std::string message;
  google::rpc::ErrorInfo info;
  google::rpc::BadRequest bad_request;
  std::optional<google::rpc::RetryInfo> retry;  // nothing: a retry repeats the answer

  // What the status of a call says.
  static Failure Of(const grpc::Status& status);

  std::string ToString() const;
};

// A status code by its name in the protocol.
const char* CodeName(grpc::StatusCode code);
