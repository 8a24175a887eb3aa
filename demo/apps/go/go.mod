module otelctx/worker

go 1.18
