#include "connect.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace {

// Both codes come with RetryInfo and with the trailer grpc-retry-pushback-ms, which the library obeys instead of its own
// backoff. Nothing else is worth a retry: it would repeat the answer. Below half of the tokens nothing is retried, since
// a server in trouble is not helped by more calls.
constexpr char kRetries[] = R"(
  "methodConfig": [{
    "name": [{"service": "understudy.v1.BotService"}, {"service": "understudy.apple.v1.BoardService"}],
    "retryPolicy": {
      "maxAttempts": 5,
      "initialBackoff": "0.05s",
      "maxBackoff": "1s",
      "backoffMultiplier": 2,
      "retryableStatusCodes": ["UNAVAILABLE", "RESOURCE_EXHAUSTED"]
    }
  }],
  "retryThrottling": {"maxTokens": 100, "tokenRatio": 0.1})";

// Replicas that start or leave say NOT_SERVING and get no calls.
constexpr char kRoundRobin[] = R"(
  "loadBalancingConfig": [{"round_robin": {}}],
  "healthCheckConfig": {"serviceName": "understudy.v1.BotService"})";

std::shared_ptr<grpc::ChannelCredentials> Credentials(const Options& options) {
  if (options.ca.empty()) {
    if (!options.token.empty()) throw std::runtime_error("a token without TLS can be read by anybody on the way");
    return grpc::InsecureChannelCredentials();
  }
  grpc::SslCredentialsOptions trust;
  trust.pem_root_certs = ReadFile(options.ca);
  auto tls = grpc::SslCredentials(trust);
  if (options.token.empty()) return tls;
  std::string token = ReadFile(options.token);
  token.erase(token.find_last_not_of(" \r\n") + 1);
  // For every call: authorization: Bearer TOKEN.
  return grpc::CompositeChannelCredentials(tls, grpc::AccessTokenCredentials(token));
}

}  // namespace

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::shared_ptr<grpc::Channel> Connect(std::string target, const Options& options) {
  std::string config;
  if (options.retry) config += kRetries;
  if (options.round_robin) config += (config.empty() ? "" : ",") + std::string(kRoundRobin);

  grpc::ChannelArguments arguments;
  arguments.SetServiceConfigJSON("{" + config + "}");
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, options.retry);
  // A server that restarts is back within a second; the default waits longer and longer, up to two minutes.
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  // A table of reasons can be larger than the 4 MiB that a client takes by default.
  arguments.SetMaxReceiveMessageSize(16 << 20);
  if (target.find(',') != std::string::npos) {
    arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, "localhost");  // else the whole list is the authority
    target = "ipv4:" + target;
  }
  return grpc::CreateCustomChannel(target, Credentials(options), arguments);
}
