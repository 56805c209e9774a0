// The example client. Without arguments it tells how to call it.
#include <google/protobuf/util/json_util.h>
#include <grpc/health/v1/health.grpc.pb.h>
#include <grpcpp/client_context.h>
#include <understudy/v1/bot_service.grpc.pb.h>

#include <chrono>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "connect.h"
#include "failure.h"
#include "table.h"

namespace {

using understudy::v1::BotService;
using understudy::v1::DecideRequest;
using understudy::v1::DecideResponse;
using std::chrono::milliseconds;

constexpr char kUsage[] = R"(usage: client [options] HOST:PORT[,HOST:PORT] VERB [FILE...]
  verbs      decide FILE... | steady FILE | health
  --deadline MS   --no-retry   --round-robin   --ca PEM   --token FILE)";
constexpr char kService[] = "understudy.v1.BotService";

// A DecideRequest from protobuf JSON, as `understudy example` prints it.
DecideRequest Read(const std::string& path) {
  DecideRequest request;
  const auto status = google::protobuf::util::JsonStringToMessage(ReadFile(path), &request);
  if (!status.ok()) throw std::runtime_error(path + ": " + std::string(status.message()));
  return request;
}

class Client {
 public:
  Client(std::shared_ptr<grpc::Channel> channel, milliseconds deadline)
      : channel_(channel), bots_(BotService::NewStub(channel)), deadline_(deadline) {}

  // One decision a file.
  void Decide(const std::vector<std::string>& paths) {
    for (const auto& path : paths) {
      grpc::ClientContext context;
      DecideResponse reply;
      const grpc::Status status = bots_->Decide(Within(context), Read(path), &reply);
      std::cout << (status.ok() ? Table(reply) : Failure::Of(status).ToString()) << std::endl;
    }
  }

  // Calls at a steady pace over one channel until it is ended from outside; a line for each.
  [[noreturn]] void Steady(const std::string& path) {
    for (const DecideRequest request = Read(path);; std::this_thread::sleep_for(milliseconds(10))) {
      grpc::ClientContext context;
      DecideResponse reply;
      const grpc::Status status = bots_->Decide(Within(context), request, &reply);
      std::cout << (status.ok() ? reply.move_key() : Failure::Of(status).ToString()) << std::endl;
    }
  }

  // The state now, then every change until the server leaves.
  void Health() {
    namespace health = grpc::health::v1;
    const auto stub = health::Health::NewStub(channel_);
    health::HealthCheckRequest bots, nobody;
    bots.set_service(kService);
    nobody.set_service("nobody");
    health::HealthCheckResponse now;
    const auto name = [&] { return health::HealthCheckResponse::ServingStatus_Name(now.status()); };

    grpc::ClientContext check, check_nobody, watch;
    const grpc::Status known = stub->Check(Within(check), bots, &now);
    std::cout << "check " << (known.ok() ? name() : CodeName(known.error_code())) << std::endl;
    const grpc::Status unknown = stub->Check(Within(check_nobody), nobody, &now);
    std::cout << "check nobody " << CodeName(unknown.error_code()) << std::endl;

    const auto changes = stub->Watch(&watch, bots);
    while (changes->Read(&now)) {
      std::cout << "watch " << name() << std::endl;
      if (now.status() != health::HealthCheckResponse::SERVING) break;
    }
    watch.TryCancel();
  }

 private:
  // Every call has a deadline: the server answers before it, or says why not.
  grpc::ClientContext* Within(grpc::ClientContext& context) const {
    context.set_deadline(std::chrono::system_clock::now() + deadline_);
    return &context;
  }

  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<BotService::Stub> bots_;
  milliseconds deadline_;
};

int Run(std::vector<std::string> arguments) {
  Options options;
  options.retry = true;
  milliseconds deadline(5000);
  auto next = arguments.begin();
  const auto value = [&] { return ++next == arguments.end() ? throw std::invalid_argument(kUsage) : *next; };
  for (; next != arguments.end() && next->rfind("--", 0) == 0; ++next) {
    if (*next == "--deadline") {
      deadline = milliseconds(std::stoi(value()));
    } else if (*next == "--no-retry") {
      options.retry = false;
    } else if (*next == "--round-robin") {
      options.round_robin = true;
    } else if (*next == "--ca") {
      options.ca = value();
    } else if (*next == "--token") {
      options.token = value();
    } else {
      throw std::invalid_argument(kUsage);
    }
  }
  const std::vector<std::string> rest(next, arguments.end());
  if (rest.size() < 2) throw std::invalid_argument(kUsage);
  Client client(Connect(rest[0], options), deadline);
  const std::vector<std::string> files(rest.begin() + 2, rest.end());
  if (rest[1] == "decide") {
    client.Decide(files);
  } else if (rest[1] == "steady" && files.size() == 1) {
    client.Steady(files[0]);
  } else if (rest[1] == "health") {
    client.Health();
  } else {
    throw std::invalid_argument(kUsage);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 2;
  }
}
