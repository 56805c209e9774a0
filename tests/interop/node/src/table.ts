import type { DecideResponse__Output } from '../gen/understudy/v1/DecideResponse.js';

/** A decision and its reasons as text, the same in every language of these examples. */
export function table(reply: DecideResponse__Output): string {
  const { effective } = reply;
  const lines = [
    `move ${reply.moveKey}`,
    `policy ${effective?.policy}, weights ${effective?.weightsHash || '-'}, seed ${effective?.seed}, ` +
      (effective?.deterministic ? 'repeatable' : 'shaped by the clock'),
    `completion ${short(reply.completion, 'COMPLETION_')}, view ${reply.viewHash}`,
    `${reply.candidates.length} of ${reply.candidatesTotal} candidates`,
  ];
  for (const row of reply.candidates) {
    const verdict = short(row.standing?.verdict ?? '', 'VERDICT_');
    lines.push(`${row.rank} ${row.key} ${verdict} ${short(row.bound, 'BOUND_')} ${number(row.total)}`);
    for (const { id, value, weight, contribution } of row.terms) {
      lines.push(`  ${id} ${number(value)} x ${number(weight)} = ${number(contribution)}`);
    }
    if (row.payoff) {
      const { mean, standardError, unit, samples } = row.payoff;
      lines.push(`  payoff ${number(mean)} +- ${number(standardError)} ${unit}, ${samples} samples`);
    }
    if (row.barred) lines.push(`  barred ${row.barred}`);
  }
  return lines.join('\n');
}

/** `COMPLETION_FULL` as `FULL`. */
function short(value: string, prefix: string): string {
  return value.startsWith(prefix) ? value.slice(prefix.length) : value;
}

function number(value: number): string {
  const text = value.toFixed(9);
  return text === '-0.000000000' ? '0.000000000' : text;
}
