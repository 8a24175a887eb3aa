module otelctx.example/peer

go 1.26.0

require (
	github.com/DataDog/dd-trace-go/v2 v2.12.0
	go.opentelemetry.io/proto/otlp v1.11.0
	google.golang.org/protobuf v1.36.12-0.20260116114154-8c4c4ae446ca
)
