// understudy from C++: one channel, retries by service config.
#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <string>

// How to connect. Nothing set: plain text to the first address, no retries.
struct Options {
  bool retry = false;
  bool round_robin = false;
  std::string ca;     // a PEM file of certificates to trust; turns TLS on
  std::string token;  // a file with the bearer token; needs TLS
};

// The whole of a file. Throws where it cannot be read.
std::string ReadFile(const std::string& path);

// A channel. Make one and keep it: it reconnects by itself and carries as many calls at once as you like.
// `target` is host:port, dns:///name:port, or host:port,host:port for replicas known by address.
std::shared_ptr<grpc::Channel> Connect(std::string target, const Options& options);
