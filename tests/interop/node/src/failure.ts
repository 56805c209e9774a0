import { status, type ServiceError } from '@grpc/grpc-js';
import { proto } from './connect.js';

/** An error of understudy, decoded from the google.rpc details of a status. */
export class Failure {
  reason = '';
  metadata: Record<string, string> = {};
  violations: { field: string; description: string }[] = [];
  /** Milliseconds; undefined: a retry repeats the answer. */
  retryAfter?: number;

  constructor(readonly code: string, readonly message: string) {}

  /** What the error of a call says. */
  static of(error: ServiceError): Failure {
    const failure = new Failure(status[error.code], error.details);
    const rpc = proto.google.rpc;
    const [bytes] = error.metadata.get('grpc-status-details-bin');
    if (!(bytes instanceof Buffer)) return failure;
    for (const { type_url, value } of rpc.Status.deserialize(bytes).details) {
      switch (type_url) {
        case 'type.googleapis.com/google.rpc.ErrorInfo': {
          const info = rpc.ErrorInfo.deserialize(value);
          failure.reason = info.reason;
          failure.metadata = info.metadata;
          break;
        }
        case 'type.googleapis.com/google.rpc.BadRequest':
          failure.violations = rpc.BadRequest.deserialize(value).fieldViolations;
          break;
        case 'type.googleapis.com/google.rpc.RetryInfo': {
          const delay = rpc.RetryInfo.deserialize(value).retryDelay;
          if (delay) failure.retryAfter = Number(delay.seconds) * 1000 + delay.nanos / 1e6;
          break;
        }
      }
    }
    return failure;
  }

  toString(): string {
    const lines = [`error ${this.code} ${this.reason || '-'}: ${this.message}`];
    for (const { field, description } of this.violations) lines.push(`  ${field}: ${description}`);
    for (const key of Object.keys(this.metadata).sort()) lines.push(`  ${key} = ${this.metadata[key]}`);
    if (this.retryAfter !== undefined) lines.push(`  retry after ${Math.floor(this.retryAfter)} ms`);
    return lines.join('\n');
  }
}
