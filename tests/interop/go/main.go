package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	health "google.golang.org/grpc/health/grpc_health_v1"
	reflection "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	pb "understudy.example/client/gen/understudy/v1"
)

const service = "understudy.v1.BotService"

// client is what every verb needs.
type client struct {
	conn     *grpc.ClientConn
	bots     pb.BotServiceClient
	deadline time.Duration
}

func main() {
	log.SetFlags(0)
	deadline := flag.Int("deadline", 5000, "`ms` that a call may take")
	noRetry := flag.Bool("no-retry", false, "show refusals instead of trying again")
	roundRobin := flag.Bool("round-robin", false, "spread calls over all addresses")
	ca := flag.String("ca", "", "PEM `file` of certificates to trust; turns TLS on")
	token := flag.String("token", "", "`file` with the bearer token; needs TLS")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: client [flags] HOST:PORT[,HOST:PORT] VERB [FILE...]")
		flag.PrintDefaults()
	}
	flag.Parse()
	verbs := map[string]func(*client, []string) error{
		"decide": (*client).decide, "batch": (*client).batch, "cancel": (*client).cancel,
		"steady": (*client).steady, "health": (*client).health, "services": (*client).services,
	}
	verb, known := verbs[flag.Arg(1)]
	if !known {
		flag.Usage()
		os.Exit(2)
	}
	conn, err := Connect(flag.Arg(0), Options{Retry: !*noRetry, RoundRobin: *roundRobin, CA: *ca, Token: *token})
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	c := &client{conn, pb.NewBotServiceClient(conn), time.Duration(*deadline) * time.Millisecond}
	if err := verb(c, flag.Args()[2:]); err != nil {
		log.Fatal(err)
	}
}

// read takes a DecideRequest as protobuf JSON, as `understudy example` prints it.
func read(path string) (*pb.DecideRequest, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	request := &pb.DecideRequest{}
	return request, protojson.Unmarshal(data, request)
}

// ask makes one call with the client's deadline.
func (c *client) ask(request *pb.DecideRequest) (*pb.DecideResponse, error) {
	ctx, cancel := context.WithTimeout(context.Background(), c.deadline)
	defer cancel()
	return c.bots.Decide(ctx, request)
}

// show prints the table of a reply, or the failure.
func show(reply *pb.DecideResponse, err error) {
	if err != nil {
		fmt.Println(FailureOf(status.Convert(err)))
		return
	}
	fmt.Println(Table(reply))
}

func yes(holds bool) string {
	if holds {
		return "yes"
	}
	return "no"
}

// decide takes one decision a file.
func (c *client) decide(paths []string) error {
	for _, path := range paths {
		request, err := read(path)
		if err != nil {
			return err
		}
		show(c.ask(request))
	}
	return nil
}

// batch takes all files in one call; each item succeeds or fails on its own.
func (c *client) batch(paths []string) error {
	batch := &pb.BatchDecideRequest{}
	for _, path := range paths {
		item, err := read(path)
		if err != nil {
			return err
		}
		batch.Items = append(batch.Items, item)
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.deadline)
	defer cancel()
	reply, err := c.bots.BatchDecide(ctx, batch)
	if err != nil {
		return err
	}
	for i, result := range reply.GetResults() {
		switch outcome := result.GetOutcome().(type) {
		case *pb.BatchDecideResult_Decision:
			fmt.Println("item", i, outcome.Decision.GetMoveKey())
		case *pb.BatchDecideResult_Error:
			fmt.Println("item", i, FailureOf(status.FromProto(outcome.Error)))
		}
	}
	return nil
}

// cancel starts a decision and changes its mind.
func (c *client) cancel(paths []string) error {
	request, err := read(paths[0])
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.deadline)
	time.AfterFunc(200*time.Millisecond, cancel)
	_, err = c.bots.Decide(ctx, request)
	fmt.Println("cancelled", yes(status.Code(err) == codes.Canceled))
	return nil
}

// steady calls at a steady pace over one connection until it is ended from outside, and prints a line for each call.
func (c *client) steady(paths []string) error {
	request, err := read(paths[0])
	if err != nil {
		return err
	}
	for ; ; time.Sleep(10 * time.Millisecond) {
		reply, err := c.ask(request)
		if err != nil {
			fmt.Println(FailureOf(status.Convert(err)))
			continue
		}
		fmt.Println(reply.GetMoveKey())
	}
}

// health prints the state now, then every change until the server leaves.
func (c *client) health([]string) error {
	checks := health.NewHealthClient(c.conn)
	ctx, cancel := context.WithTimeout(context.Background(), c.deadline)
	defer cancel()
	now, err := checks.Check(ctx, &health.HealthCheckRequest{Service: service})
	if err != nil {
		return err
	}
	fmt.Println("check", now.GetStatus())
	_, err = checks.Check(ctx, &health.HealthCheckRequest{Service: "nobody"})
	fmt.Println("check nobody", FailureOf(status.Convert(err)).Code)
	watch, err := checks.Watch(context.Background(), &health.HealthCheckRequest{Service: service})
	if err != nil {
		return err
	}
	for {
		change, err := watch.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		fmt.Println("watch", change.GetStatus())
		if change.GetStatus() != health.HealthCheckResponse_SERVING {
			return nil
		}
	}
}

// services prints what reflection (v1) lists, and the file that a message of a game stands in.
func (c *client) services([]string) error {
	ctx, cancel := context.WithTimeout(context.Background(), c.deadline)
	defer cancel()
	stream, err := reflection.NewServerReflectionClient(c.conn).ServerReflectionInfo(ctx)
	if err != nil {
		return err
	}
	ask := func(request *reflection.ServerReflectionRequest) (*reflection.ServerReflectionResponse, error) {
		if err := stream.Send(request); err != nil {
			return nil, err
		}
		return stream.Recv()
	}
	list, err := ask(&reflection.ServerReflectionRequest{
		MessageRequest: &reflection.ServerReflectionRequest_ListServices{},
	})
	if err != nil {
		return err
	}
	var names []string
	for _, found := range list.GetListServicesResponse().GetService() {
		names = append(names, found.GetName())
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Println("service", name)
	}
	found, err := ask(&reflection.ServerReflectionRequest{
		MessageRequest: &reflection.ServerReflectionRequest_FileContainingSymbol{
			FileContainingSymbol: "understudy.lexio.v1.View",
		},
	})
	if err != nil {
		return err
	}
	file := &descriptorpb.FileDescriptorProto{}
	if err := proto.Unmarshal(found.GetFileDescriptorResponse().GetFileDescriptorProto()[0], file); err != nil {
		return err
	}
	fmt.Println("file", file.GetName())
	return nil
}
