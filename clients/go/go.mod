module example.com/tracking

go 1.24.0
