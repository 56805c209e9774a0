package understudy.example;

import com.google.protobuf.util.JsonFormat;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import understudy.v1.BotServiceGrpc;
import understudy.v1.DecideRequest;

/** The example client. Without arguments it tells how to call it. */
public final class Main {
  private static final String USAGE = """
      usage: client [options] HOST:PORT[,HOST:PORT] VERB [FILE...]
        verbs      decide FILE... | steady FILE | health
        --deadline MS   --no-retry   --round-robin   --ca PEM   --token FILE""";
  private static final String SERVICE = "understudy.v1.BotService";

  private final ManagedChannel channel;
  private final long deadline;

  private Main(ManagedChannel channel, long deadline) {
    this.channel = channel;
    this.deadline = deadline;
  }

  public static void main(String[] arguments) throws Exception {
    boolean retry = true;
    boolean roundRobin = false;
    long deadline = 5000;
    File ca = null;
    Path token = null;
    Deque<String> rest = new ArrayDeque<>(List.of(arguments));
    while (!rest.isEmpty() && rest.peek().startsWith("--")) {
      switch (rest.pop()) {
        case "--deadline" -> deadline = Long.parseLong(rest.pop());
        case "--no-retry" -> retry = false;
        case "--round-robin" -> roundRobin = true;
        case "--ca" -> ca = new File(rest.pop());
        case "--token" -> token = Path.of(rest.pop());
        default -> rest.clear();
      }
    }
    if (rest.size() < 2) {
      System.err.println(USAGE);
      System.exit(2);
    }
    String target = rest.pop();
    ManagedChannel channel = Connection.open(target, new Connection.Options(retry, roundRobin, ca, token));
    try {
      Main client = new Main(channel, deadline);
      String verb = rest.pop();
      List<String> paths = List.copyOf(rest);
      switch (verb) {
        case "decide" -> client.decide(paths);
        case "steady" -> client.steady(paths.get(0));
        case "health" -> client.health();
        default -> throw new IllegalArgumentException(USAGE);
      }
    } finally {
      channel.shutdownNow().awaitTermination(5, TimeUnit.SECONDS);
    }
  }

  /** A DecideRequest from protobuf JSON, as {@code understudy example} prints it. */
  private static DecideRequest read(String path) throws IOException {
    DecideRequest.Builder request = DecideRequest.newBuilder();
    JsonFormat.parser().merge(Files.readString(Path.of(path)), request);
    return request.build();
  }

  /** A stub for one call. A deadline is a moment, not a length: set it anew for every call. */
  private BotServiceGrpc.BotServiceBlockingStub bots() {
    return BotServiceGrpc.newBlockingStub(channel).withDeadlineAfter(deadline, TimeUnit.MILLISECONDS);
  }

  /** One decision a file. */
  private void decide(List<String> paths) throws IOException {
    for (String path : paths) {
      try {
        System.out.println(Table.of(bots().decide(read(path))));
      } catch (StatusRuntimeException exception) {
        System.out.println(Failure.of(exception));
      }
    }
  }

  /** Calls at a steady pace over one channel until it is ended from outside; a line for each. */
  private void steady(String path) throws Exception {
    for (DecideRequest request = read(path); ; Thread.sleep(10)) {
      try {
        System.out.println(bots().decide(request).getMoveKey());
      } catch (StatusRuntimeException exception) {
        System.out.println(Failure.of(exception));
      }
    }
  }

  /** The state now, then every change until the server leaves. */
  private void health() {
    HealthGrpc.HealthBlockingStub health = HealthGrpc.newBlockingStub(channel);
    HealthCheckRequest bots = HealthCheckRequest.newBuilder().setService(SERVICE).build();
    System.out.println("check " + within(health).check(bots).getStatus());
    try {
      within(health).check(HealthCheckRequest.newBuilder().setService("nobody").build());
    } catch (StatusRuntimeException exception) {
      System.out.println("check nobody " + exception.getStatus().getCode());
    }
    Iterator<HealthCheckResponse> changes = health.watch(bots);
    while (changes.hasNext()) {
      ServingStatus status = changes.next().getStatus();
      System.out.println("watch " + status);
      if (status != ServingStatus.SERVING) {
        return;
      }
    }
  }

  private HealthGrpc.HealthBlockingStub within(HealthGrpc.HealthBlockingStub health) {
    return health.withDeadlineAfter(deadline, TimeUnit.MILLISECONDS);
  }
}
