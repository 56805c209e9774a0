// An example client of understudy: one connection, deadlines, retries by service config, errors that a program can read.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/health" // lets round robin leave out replicas that are not SERVING
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
)

// Both codes come with RetryInfo and with the trailer grpc-retry-pushback-ms, which the library obeys instead of its own
// backoff. Nothing else is worth a retry: it would repeat the answer. Below half of the tokens nothing is retried, since
// a server in trouble is not helped by more calls.
const retryPolicy = `
	"methodConfig": [{
		"name": [{"service": "understudy.v1.BotService"}, {"service": "understudy.apple.v1.BoardService"}],
		"retryPolicy": {
			"maxAttempts": 5,
			"initialBackoff": "0.05s",
			"maxBackoff": "1s",
			"backoffMultiplier": 2,
			"retryableStatusCodes": ["UNAVAILABLE", "RESOURCE_EXHAUSTED"]
		}
	}],
	"retryThrottling": {"maxTokens": 100, "tokenRatio": 0.1}`

// Replicas that start or leave say NOT_SERVING and get no calls.
const roundRobin = `
	"loadBalancingConfig": [{"round_robin": {}}],
	"healthCheckConfig": {"serviceName": "understudy.v1.BotService"}`

// Options says how to connect. Nothing set: plain text to one server, no retries.
type Options struct {
	Retry      bool
	RoundRobin bool
	CA         string // a PEM file; turns TLS on
	Token      string // a file with the bearer token; needs TLS
}

// Connect makes a connection. Make one and keep it: it reconnects by itself and carries as many calls at once as you
// like. target is host:port, dns:///name:port, or host:port,host:port for replicas known by address.
func Connect(target string, options Options) (*grpc.ClientConn, error) {
	var config []string
	if options.Retry {
		config = append(config, retryPolicy)
	}
	if options.RoundRobin {
		config = append(config, roundRobin)
	}
	dial := []grpc.DialOption{
		grpc.WithDefaultServiceConfig("{" + strings.Join(config, ",") + "}"),
		// A table of reasons can be larger than the 4 MiB that a client takes by default.
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(16 << 20)),
	}
	if addresses := strings.Split(target, ","); len(addresses) > 1 {
		fixed := manual.NewBuilderWithScheme("fixed")
		var state resolver.State
		for _, address := range addresses {
			state.Addresses = append(state.Addresses, resolver.Address{Addr: address})
		}
		fixed.InitialState(state)
		dial = append(dial, grpc.WithResolvers(fixed), grpc.WithAuthority("localhost"))
		target = "fixed:///replicas"
	}
	secure := credentials.TransportCredentials(insecure.NewCredentials())
	if options.CA != "" {
		pem, err := os.ReadFile(options.CA)
		if err != nil {
			return nil, err
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(pem) {
			return nil, errors.New(options.CA + " holds no certificate")
		}
		secure = credentials.NewTLS(&tls.Config{RootCAs: roots})
	}
	if options.Token != "" {
		token, err := os.ReadFile(options.Token)
		if err != nil {
			return nil, err
		}
		dial = append(dial, grpc.WithPerRPCCredentials(bearer(strings.TrimSpace(string(token)))))
	}
	return grpc.NewClient(target, append(dial, grpc.WithTransportCredentials(secure))...)
}

// bearer is a token for every call.
type bearer string

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

// A token without TLS can be read by anybody on the way, so the library refuses that.
func (bearer) RequireTransportSecurity() bool { return true }
