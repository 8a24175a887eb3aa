module otelctx/demo/kit/go

go 1.19
