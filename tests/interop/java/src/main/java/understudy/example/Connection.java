package understudy.example;

import io.grpc.CallCredentials;
import io.grpc.ChannelCredentials;
import io.grpc.CompositeChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.NameResolverRegistry;
import io.grpc.TlsChannelCredentials;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;

/** How to reach understudy: one channel, retries by service config. */
final class Connection {
  private static final String BOTS = "understudy.v1.BotService";
  private static final String BOARDS = "understudy.apple.v1.BoardService";

  /**
   * Both codes come with RetryInfo and with the trailer grpc-retry-pushback-ms, which the library obeys instead of its
   * own backoff. Nothing else is worth a retry: it would repeat the answer.
   */
  private static final Map<String, ?> RETRIES = Map.of(
      "name", List.of(Map.of("service", BOTS), Map.of("service", BOARDS)),
      "retryPolicy", Map.of(
          "maxAttempts", 5.0,
          "initialBackoff", "0.05s",
          "maxBackoff", "1s",
          "backoffMultiplier", 2.0,
          "retryableStatusCodes", List.of("UNAVAILABLE", "RESOURCE_EXHAUSTED")));

  /** Nothing set: plain text to the first address, no retries. The files may be null; a token needs TLS. */
  record Options(boolean retry, boolean roundRobin, File ca, Path token) {}

  /**
   * A channel. Make one and keep it: it reconnects by itself and carries as many calls at once as you like.
   *
   * @param target {@code host:port}, {@code dns:///name:port}, or {@code host:port,host:port} for replicas known by
   *     address
   */
  static ManagedChannel open(String target, Options options) throws IOException {
    Map<String, Object> config = new HashMap<>();
    if (options.retry) {
      config.put("methodConfig", List.of(RETRIES));
      // A server in trouble is not helped by more calls: below half of the tokens nothing is retried.
      config.put("retryThrottling", Map.of("maxTokens", 100.0, "tokenRatio", 0.1));
    }
    if (options.roundRobin) {
      config.put("loadBalancingConfig", List.of(Map.of("round_robin", Map.of())));
      // Replicas that start or leave say NOT_SERVING and get no calls.
      config.put("healthCheckConfig", Map.of("serviceName", BOTS));
    }
    if (target.contains(",")) {
      NameResolverRegistry.getDefaultRegistry().register(new FixedAddresses());
      target = FixedAddresses.SCHEME + ":///" + target;
    }
    ManagedChannelBuilder<?> builder = Grpc.newChannelBuilder(target, credentials(options))
        .defaultServiceConfig(config)
        // A table of reasons can be larger than the 4 MiB that a client takes by default.
        .maxInboundMessageSize(16 << 20);
    return (options.retry ? builder.enableRetry() : builder.disableRetry()).build();
  }

  private static ChannelCredentials credentials(Options options) throws IOException {
    if (options.ca == null) {
      if (options.token != null) {
        throw new IllegalArgumentException("a token without TLS can be read by anybody on the way");
      }
      return InsecureChannelCredentials.create();
    }
    ChannelCredentials tls = TlsChannelCredentials.newBuilder().trustManager(options.ca).build();
    if (options.token == null) {
      return tls;
    }
    return CompositeChannelCredentials.create(tls, new Bearer(Files.readString(options.token).strip()));
  }

  /** A token for every call. */
  private static final class Bearer extends CallCredentials {
    private final Metadata headers = new Metadata();

    Bearer(String token) {
      headers.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + token);
    }

    @Override
    public void applyRequestMetadata(RequestInfo call, Executor executor, MetadataApplier applier) {
      applier.apply(headers);
    }
  }

  private Connection() {}
}
