"""A decision and its reasons as text, the same in every language of these examples."""

from understudy.v1 import bot_service_pb2, decision_pb2


def table(reply: bot_service_pb2.DecideResponse) -> str:
    effective = reply.effective
    lines = [
        f"move {reply.move_key}",
        f"policy {effective.policy}, weights {effective.weights_hash or '-'}, seed {effective.seed}, "
        + ("repeatable" if effective.deterministic else "shaped by the clock"),
        f"completion {name(decision_pb2.Completion, reply.completion)}, view {reply.view_hash}",
        f"{len(reply.candidates)} of {reply.candidates_total} candidates",
    ]
    for row in reply.candidates:
        verdict, bound = name(decision_pb2.Verdict, row.standing.verdict), name(decision_pb2.Bound, row.bound)
        lines.append(f"{row.rank} {row.key} {verdict} {bound} {number(row.total)}")
        for term in row.terms:
            product = f"{number(term.value)} x {number(term.weight)} = {number(term.contribution)}"
            lines.append(f"  {term.id} {product}")
        if row.HasField("payoff"):
            payoff = row.payoff
            mean = f"{number(payoff.mean)} +- {number(payoff.standard_error)} {payoff.unit}"
            lines.append(f"  payoff {mean}, {payoff.samples} samples")
        if row.barred:
            lines.append(f"  barred {row.barred}")
    return "\n".join(lines)


def name(enum, value: int) -> str:
    """`COMPLETION_FULL` as `FULL`."""
    return enum.Name(value).removeprefix(enum.DESCRIPTOR.name.upper() + "_")


def number(value: float) -> str:
    text = f"{value:.9f}"
    return "0.000000000" if text == "-0.000000000" else text
