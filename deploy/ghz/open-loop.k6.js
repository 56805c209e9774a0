// One story for k6: calls arrive at a steady rate, whatever became of the others, over several connections, each with a
// deadline. A reply counts when its gRPC status is OK and it names a move; HTTP says 200 to everything. The thresholds are
// the exit code. k6 costs far more CPU than the server: past some thousand calls a second it measures itself.
//
//   k6 run --env TARGET=127.0.0.1:50051 --env RATE=200 --env DURATION=10s deploy/ghz/open-loop.k6.js
import { check } from "k6";
import { SharedArray } from "k6/data";
import exec from "k6/execution";
import grpc from "k6/net/grpc";

const target = __ENV.TARGET || "127.0.0.1:50051";
const requests = new SharedArray("requests", () =>
  ["lexio-hard", "wallgo-easy", "apple-normal", "hoola-hard"].flatMap((name) => JSON.parse(open(`data/${name}.json`))),
);
const client = new grpc.Client();

export const options = {
  scenarios: {
    players: {
      executor: "constant-arrival-rate",
      rate: Number(__ENV.RATE || 200),
      timeUnit: "1s",
      duration: __ENV.DURATION || "10s",
      preAllocatedVUs: 32,
      maxVUs: 64,
    },
  },
  thresholds: {
    checks: ["rate==1"],
    grpc_req_duration: [`p(99)<${__ENV.P99_MS || 1000}`],
    // What arrives and finds no caller is never sent: more than a few, and the loop is not open any more.
    dropped_iterations: ["rate<1"],
  },
};

export default function () {
  if (exec.vu.iterationInInstance === 0) {
    client.connect(target, { plaintext: true, reflect: true });
  }
  const request = requests[exec.scenario.iterationInTest % requests.length];
  const reply = client.invoke("understudy.v1.BotService/Decide", request, { timeout: "1s" });
  check(reply, {
    "status is OK": (r) => r.status === grpc.StatusOK,
    "a move is named": (r) => r.message !== null && r.message.moveKey !== "",
  });
}
