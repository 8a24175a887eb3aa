module otelctx/tests/e2e/world/readers/ebpf_profiler

go 1.25.0

require (
	go.opentelemetry.io/ebpf-profiler v0.0.202633
	go.opentelemetry.io/proto/otlp v1.11.0
	google.golang.org/protobuf v1.36.12
)
