/** understudy from Node: one channel, deadlines, retries by service config. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { ProtoGrpcType as BotTypes } from '../gen/bot_service.js';
import type { ProtoGrpcType as DetailTypes } from '../gen/error_details.js';
import type { ProtoGrpcType as HealthTypes } from '../gen/health.js';

// The same settings as in the stubs script of package.json, so that the generated types are true.
const files = ['understudy/v1/bot_service.proto', 'grpc/health/v1/health.proto', 'google/rpc/error_details.proto'];
const includeDirs = [fileURLToPath(new URL('../../../../../proto', import.meta.url))];
const loaded = loadSync(files, { includeDirs, longs: String, enums: String, defaults: true, oneofs: true });

/** The services and messages of understudy and of what it stands on. */
export const proto = grpc.loadPackageDefinition(loaded) as unknown as BotTypes & {
  grpc: HealthTypes['grpc'];
  google: BotTypes['google'] & DetailTypes['google'];
};

const retries = {
  methodConfig: [
    {
      name: [{ service: 'understudy.v1.BotService' }, { service: 'understudy.apple.v1.BoardService' }],
      retryPolicy: {
        maxAttempts: 5,
        initialBackoff: '0.05s',
        maxBackoff: '1s',
        backoffMultiplier: 2,
        // Both come with RetryInfo and with the trailer grpc-retry-pushback-ms, which the library obeys instead of its
        // own backoff. Nothing else is worth a retry: it would repeat the answer.
        retryableStatusCodes: ['UNAVAILABLE', 'RESOURCE_EXHAUSTED'],
      },
    },
  ],
  // A server in trouble is not helped by more calls: below half of the tokens nothing is retried.
  retryThrottling: { maxTokens: 100, tokenRatio: 0.1 },
};

/** How to connect; nothing set: plain text, no retries, the first address. */
export interface Options {
  retry?: boolean;
  roundRobin?: boolean;
  /** A PEM file of certificates to trust; turns TLS on. */
  ca?: string;
  /** A file with the bearer token; needs TLS. */
  token?: string;
}

/**
 * A client of the bots. Make one and keep it: its channel reconnects by itself and carries many calls at once.
 *
 * @param target `host:port`, `dns:///name:port`, or `host:port,host:port` for replicas known by address.
 */
export function connect(target: string, options: Options) {
  const config = {
    ...(options.retry ? retries : {}),
    loadBalancingConfig: options.roundRobin ? [{ round_robin: {} }] : [],
  };
  const channel: grpc.ChannelOptions = {
    'grpc.service_config': JSON.stringify(config),
    'grpc.enable_retries': options.retry ? 1 : 0,
    // A server that restarts is back within a second; the default waits longer and longer, up to two minutes.
    'grpc.max_reconnect_backoff_ms': 1000,
    // A table of reasons can be larger than the 4 MiB that a client takes by default.
    'grpc.max_receive_message_length': 16 << 20,
  };
  const address = target.includes(',') ? `ipv4:${target}` : target;
  const how = credentials(options);
  const bots = new proto.understudy.v1.BotService(address, how, channel);
  return { bots, health: new proto.grpc.health.v1.Health(address, how, { ...channel, channelOverride: bots.getChannel() }) };
}

function credentials({ ca, token }: Options): grpc.ChannelCredentials {
  if (ca === undefined) {
    if (token !== undefined) throw new Error('a token without TLS can be read by anybody on the way');
    return grpc.credentials.createInsecure();
  }
  const tls = grpc.credentials.createSsl(readFileSync(ca));
  if (token === undefined) return tls;
  const bearer = new grpc.Metadata();
  bearer.set('authorization', `Bearer ${readFileSync(token, 'utf8').trim()}`);
  return grpc.credentials.combineChannelCredentials(
    tls,
    grpc.credentials.createFromMetadataGenerator((_, done) => done(null, bearer)),
  );
}
