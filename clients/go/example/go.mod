module example.com/tracking/example

go 1.24.0

require (
	example.com/tracking v0.0.0
	github.com/oapi-codegen/runtime v1.7.0
)

require (
	github.com/apapsch/go-jsonmerge/v2 v2.0.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
)

replace example.com/tracking => ../
