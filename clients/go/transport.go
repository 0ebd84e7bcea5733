// Package tracking adds retries and the verification of webhooks to a client of the shipment tracking API that is
// generated from its OpenAPI description.
package tracking

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"math"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"
)

// maxDiscardedBytes limits how much of a failed response is read to keep its connection.
const maxDiscardedBytes = 64 << 10

// maxRequestedDelay is the longest time that the API can ask for. After a response that asks for more, RoundTrip returns.
const maxRequestedDelay = 24 * time.Hour

// Transport is an [http.RoundTripper] that retries requests that are safe to repeat.
//
// It retries after 429, 502, 503 and 504, after 409 with Retry-After (a request with the same Idempotency-Key is in
// progress), and after a connection that broke or timed out. Every POST gets a random Idempotency-Key unless it has one,
// the same for each attempt, so it takes effect once. A PATCH, PUT or DELETE with If-Match is retried only after 429, or if
// the client could not connect, because its own change would make a repeat fail.
//
// A request with a body is retried only if it has GetBody. [http.NewRequest] sets it for bytes and strings.
type Transport struct {
	// Base sends the attempts.
	Base http.RoundTripper
	// MaxRetries is the maximum number of retries of a request.
	MaxRetries int
	// FirstDelay is the pause before the first retry, and MaxDelay is the longest pause, if the API does not set one.
	// Pauses double. Half of each pause is random.
	FirstDelay, MaxDelay time.Duration
}

// NewTransport returns a transport with 4 retries, pauses from 250 ms to 10 s, and a limit of 30 s for the headers of
// each response.
func NewTransport() *Transport {
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.ResponseHeaderTimeout = 30 * time.Second
	return &Transport{Base: base, MaxRetries: 4, FirstDelay: 250 * time.Millisecond, MaxDelay: 10 * time.Second}
}

// RoundTrip sends a request with its retries. It returns the last response or error if the retries are used up, or if the
// deadline of the request's context is before the next attempt.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	isReplayable := request.Body == nil || request.Body == http.NoBody || request.GetBody != nil
	attempt := request.Clone(ctx)
	if attempt.Method == http.MethodPost && attempt.Header.Get("Idempotency-Key") == "" {
		attempt.Header.Set("Idempotency-Key", newIdempotencyKey())
	}
	for retries := 0; ; retries++ {
		response, err := t.Base.RoundTrip(attempt)
		if retries >= t.MaxRetries || !isReplayable || ctx.Err() != nil || !canRetry(attempt, response, err) {
			return response, err
		}
		delay := t.delay(retries, response)
		deadline, hasDeadline := ctx.Deadline()
		if delay > maxRequestedDelay || (hasDeadline && time.Until(deadline) <= delay) {
			return response, err
		}
		next := attempt.Clone(ctx)
		if request.GetBody != nil {
			body, bodyErr := request.GetBody()
			if bodyErr != nil {
				return response, err
			}
			next.Body = body
		}
		discard(response)
		if err := wait(ctx, delay); err != nil {
			return nil, err
		}
		attempt = next
	}
}

func canRetry(request *http.Request, response *http.Response, err error) bool {
	isConditional := request.Header.Get("If-Match") != "" && request.Method != http.MethodPost
	if err != nil {
		var operation *net.OpError
		isNotSent := errors.As(err, &operation) && operation.Op == "dial"
		return !isConditional || isNotSent
	}
	switch response.StatusCode {
	case http.StatusTooManyRequests:
		return true
	case http.StatusConflict:
		return response.Header.Get("Retry-After") != ""
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return !isConditional
	}
	return false
}

// delay returns the pause before the next attempt: the time that the API asks for plus up to a tenth, or a time that
// doubles with each retry, of which half is random so that clients that failed together do not retry together.
func (t *Transport) delay(retries int, response *http.Response) time.Duration {
	if response != nil {
		if asked, ok := parseRetryAfter(response.Header.Get("Retry-After")); ok {
			return asked + time.Duration(mathrand.Float64()*float64(asked)/10)
		}
	}
	grown := math.Min(float64(t.MaxDelay), float64(t.FirstDelay)*math.Pow(2, float64(retries)))
	return time.Duration(grown * (0.5 + mathrand.Float64()/2))
}

// parseRetryAfter parses a header in seconds or with a date.
func parseRetryAfter(value string) (time.Duration, bool) {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(value); err == nil {
		// Half of the largest duration, so that a pause with its random part does not overflow.
		return min(max(0, time.Until(at)), math.MaxInt64/2), true
	}
	return 0, false
}

func discard(response *http.Response) {
	if response != nil {
		_, _ = io.CopyN(io.Discard, response.Body, maxDiscardedBytes)
		_ = response.Body.Close()
	}
}

func wait(ctx context.Context, delay time.Duration) error {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func newIdempotencyKey() string {
	bytes := make([]byte, 16)
	_, _ = rand.Read(bytes) // crypto/rand never returns an error since Go 1.24
	return hex.EncodeToString(bytes)
}
