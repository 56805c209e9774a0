package understudy.example;

import java.math.BigDecimal;
import java.math.RoundingMode;
import understudy.v1.Candidate;
import understudy.v1.DecideResponse;
import understudy.v1.Effective;
import understudy.v1.Payoff;
import understudy.v1.Term;

/** A decision and its reasons as text, the same in every language of these examples. */
final class Table {
  static String of(DecideResponse reply) {
    Effective effective = reply.getEffective();
    String weights = effective.getWeightsHash().isEmpty() ? "-" : effective.getWeightsHash();
    StringBuilder text = new StringBuilder();
    text.append("move %s%n".formatted(reply.getMoveKey()));
    text.append("policy %s, weights %s, seed %s, %s%n".formatted(
        effective.getPolicy(),
        weights,
        Long.toUnsignedString(effective.getSeed()),
        effective.getDeterministic() ? "repeatable" : "shaped by the clock"));
    text.append("completion %s, view %s%n".formatted(
        shorten(reply.getCompletion(), "COMPLETION_"), reply.getViewHash()));
    text.append("%d of %d candidates".formatted(reply.getCandidatesCount(), reply.getCandidatesTotal()));
    for (Candidate row : reply.getCandidatesList()) {
      String verdict = shorten(row.getStanding().getVerdict(), "VERDICT_");
      String bound = shorten(row.getBound(), "BOUND_");
      text.append("%n%d %s %s %s %s".formatted(
          row.getRank(), row.getKey(), verdict, bound, number(row.getTotal())));
      for (Term term : row.getTermsList()) {
        text.append("%n  %s %s x %s = %s".formatted(
            term.getId(), number(term.getValue()), number(term.getWeight()), number(term.getContribution())));
      }
      if (row.hasPayoff()) {
        Payoff payoff = row.getPayoff();
        text.append("%n  payoff %s +- %s %s, %d samples".formatted(
            number(payoff.getMean()), number(payoff.getStandardError()), payoff.getUnit(), payoff.getSamples()));
      }
      if (!row.getBarred().isEmpty()) {
        text.append("%n  barred %s".formatted(row.getBarred()));
      }
    }
    return text.toString();
  }

  /** COMPLETION_FULL as FULL. */
  private static String shorten(Enum<?> value, String prefix) {
    return value.name().startsWith(prefix) ? value.name().substring(prefix.length()) : value.name();
  }

  private static String number(double value) {
    return new BigDecimal(value).setScale(9, RoundingMode.HALF_EVEN).toPlainString();
  }

  private Table() {}
}
