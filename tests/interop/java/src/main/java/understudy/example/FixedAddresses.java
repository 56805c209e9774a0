package understudy.example;

import io.grpc.EquivalentAddressGroup;
import io.grpc.NameResolver;
import io.grpc.NameResolverProvider;
import io.grpc.StatusOr;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Arrays;
import java.util.List;

/** Replicas known by address: {@code fixed:///host:port,host:port}. Behind a name, {@code dns:///} needs none of this. */
final class FixedAddresses extends NameResolverProvider {
  static final String SCHEME = "fixed";

  @Override
  public NameResolver newNameResolver(URI target, NameResolver.Args args) {
    if (!SCHEME.equals(target.getScheme())) {
      return null;
    }
    List<EquivalentAddressGroup> replicas = Arrays.stream(target.getPath().substring(1).split(","))
        .map(address -> address.split(":"))
        .map(parts -> new EquivalentAddressGroup(new InetSocketAddress(parts[0], Integer.parseInt(parts[1]))))
        .toList();
    return new NameResolver() {
      @Override
      public String getServiceAuthority() {
        return "localhost";
      }

      @Override
      public void start(Listener2 listener) {
        listener.onResult(ResolutionResult.newBuilder().setAddressesOrError(StatusOr.fromValue(replicas)).build());
      }

      @Override
      public void shutdown() {}
    };
  }

  @Override
  public String getDefaultScheme() {
    return SCHEME;
  }

  @Override
  protected boolean isAvailable() {
    return true;
  }

  /** Below that of dns, which stays the default. */
  @Override
  protected int priority() {
    return 4;
  }
}
