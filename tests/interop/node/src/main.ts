/** The example client. Without arguments it tells how to call it. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { status, type ServiceError } from '@grpc/grpc-js';
import type { DecideRequest } from '../gen/understudy/v1/DecideRequest.js';
import type { DecideResponse__Output } from '../gen/understudy/v1/DecideResponse.js';
import type { HealthCheckResponse__Output } from '../gen/grpc/health/v1/HealthCheckResponse.js';
import { connect } from './connect.js';
import { Failure } from './failure.js';
import { table } from './table.js';

const USAGE = `usage: client [options] HOST:PORT[,HOST:PORT] VERB [FILE...]
  verbs      decide FILE... | steady FILE | health
  --deadline MS   --no-retry   --round-robin   --ca PEM   --token FILE`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    deadline: { type: 'string', default: '5000' },
    'no-retry': { type: 'boolean', default: false },
    'round-robin': { type: 'boolean', default: false },
    ca: { type: 'string' },
    token: { type: 'string' },
  },
});
const [target = '', verb = '', ...args] = positionals;
const { bots, health } = connect(target, {
  retry: !values['no-retry'],
  roundRobin: values['round-robin'],
  ca: values.ca,
  token: values.token,
});

/** Every call has a deadline: the server answers before it, or says why not. */
const within = () => ({ deadline: Date.now() + Number(values.deadline) });

/** A DecideRequest from protobuf JSON in lowerCamelCase, as `understudy example` prints it. */
const read = (path = '') => JSON.parse(readFileSync(path, 'utf8')) as DecideRequest;

/** One call. */
const decide = (request: DecideRequest) =>
  new Promise<DecideResponse__Output>((resolve, reject) =>
    bots.decide(request, within(), (error, reply) => (error ? reject(error) : resolve(reply!))),
  );

const failure = (error: ServiceError) => Failure.of(error).toString();

const verbs: Record<string, () => Promise<void>> = {
  /** One decision a file. */
  async decide() {
    for (const path of args) console.log(await decide(read(path)).then(table, failure));
  },

  /** Calls at a steady pace over one channel until it is ended from outside; a line for each. */
  async steady() {
    for (const request = read(args[0]); ; await sleep(10)) {
      console.log(await decide(request).then((reply) => reply.moveKey, failure));
    }
  },

  /** The state now, then every change until the server leaves. */
  async health() {
    const service = 'understudy.v1.BotService';
    const check = (service: string) =>
      new Promise<string>((resolve) =>
        health.check({ service }, within(), (error, now) => resolve(error ? status[error.code] : now!.status)),
      );
    console.log('check', await check(service));
    console.log('check nobody', await check('nobody'));
    const watch = health.watch({ service });
    for await (const change of watch as AsyncIterable<HealthCheckResponse__Output>) {
      console.log('watch', change.status);
      if (change.status !== 'SERVING') break;
    }
  },
};

const run = verbs[verb];
if (run === undefined) {
  console.error(USAGE);
  process.exit(2);
}
await run();
bots.close();
