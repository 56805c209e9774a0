package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
)

// Failure is an error of understudy, decoded from the google.rpc details of a status.
type Failure struct {
	Code       code.Code
	Message    string
	Reason     string
	Metadata   map[string]string
	Violations []*errdetails.BadRequest_FieldViolation
	RetryAfter *time.Duration // nil: a retry repeats the answer
}

// FailureOf reads the status of a call, or of an item in a batch (status.FromProto).
func FailureOf(s *status.Status) Failure {
	failure := Failure{Code: code.Code(s.Code()), Message: s.Message()}
	for _, detail := range s.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			failure.Reason, failure.Metadata = detail.Reason, detail.Metadata
		case *errdetails.BadRequest:
			failure.Violations = detail.FieldViolations
		case *errdetails.RetryInfo:
			after := detail.RetryDelay.AsDuration()
			failure.RetryAfter = &after
		}
	}
	return failure
}

func (f Failure) String() string {
	var text strings.Builder
	reason := f.Reason
	if reason == "" {
		reason = "-"
	}
	fmt.Fprintf(&text, "error %s %s: %s", f.Code, reason, f.Message)
	for _, violation := range f.Violations {
		fmt.Fprintf(&text, "\n  %s: %s", violation.Field, violation.Description)
	}
	for _, key := range slices.Sorted(maps.Keys(f.Metadata)) {
		fmt.Fprintf(&text, "\n  %s = %s", key, f.Metadata[key])
	}
	if f.RetryAfter != nil {
		fmt.Fprintf(&text, "\n  retry after %d ms", f.RetryAfter.Milliseconds())
	}
	return text.String()
}
