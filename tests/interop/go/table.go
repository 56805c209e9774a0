package main

import (
	"fmt"
	"strings"

	pb "understudy.example/client/gen/understudy/v1"
)

// Table is a decision and its reasons as text, the same in every language of these examples.
func Table(reply *pb.DecideResponse) string {
	var text strings.Builder
	line := func(format string, values ...any) { fmt.Fprintf(&text, format+"\n", values...) }

	effective := reply.GetEffective()
	weights, clock := effective.GetWeightsHash(), "shaped by the clock"
	if weights == "" {
		weights = "-"
	}
	if effective.GetDeterministic() {
		clock = "repeatable"
	}
	line("move %s", reply.GetMoveKey())
	line("policy %s, weights %s, seed %d, %s", effective.GetPolicy(), weights, effective.GetSeed(), clock)
	line("completion %s, view %s", short(reply.GetCompletion(), "COMPLETION_"), reply.GetViewHash())
	line("%d of %d candidates", len(reply.GetCandidates()), reply.GetCandidatesTotal())
	for _, row := range reply.GetCandidates() {
		verdict, bound := short(row.GetStanding().GetVerdict(), "VERDICT_"), short(row.GetBound(), "BOUND_")
		line("%d %s %s %s %s", row.GetRank(), row.GetKey(), verdict, bound, number(row.GetTotal()))
		for _, term := range row.GetTerms() {
			value, weight, product := number(term.GetValue()), number(term.GetWeight()), number(term.GetContribution())
			line("  %s %s x %s = %s", term.GetId(), value, weight, product)
		}
		if payoff := row.GetPayoff(); payoff != nil {
			mean, margin := number(payoff.GetMean()), number(payoff.GetStandardError())
			line("  payoff %s +- %s %s, %d samples", mean, margin, payoff.GetUnit(), payoff.GetSamples())
		}
		if row.GetBarred() != "" {
			line("  barred %s", row.GetBarred())
		}
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// short is COMPLETION_FULL as FULL.
func short(value fmt.Stringer, prefix string) string {
	return strings.TrimPrefix(value.String(), prefix)
}

func number(value float64) string {
	text := fmt.Sprintf("%.9f", value)
	if text == "-0.000000000" {
		return text[1:]
	}
	return text
}
