package tracking

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// server handles each request with the next of its handlers, and repeats the last one.
type server struct {
	*httptest.Server
	mutex    sync.Mutex
	requests []*http.Request
	bodies   []string
	handlers []http.HandlerFunc
}

func newServer(t *testing.T, handlers ...http.HandlerFunc) *server {
	t.Helper()
	s := &server{handlers: handlers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		s.mutex.Lock()
		s.requests, s.bodies = append(s.requests, request), append(s.bodies, string(body))
		handler := s.handlers[0]
		if len(s.handlers) > 1 {
			s.handlers = s.handlers[1:]
		}
		s.mutex.Unlock()
		handler(response, request)
	}))
	t.Cleanup(s.Close)
	return s
}

func respond(status int, headers ...string) http.HandlerFunc {
	return func(response http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			response.Header().Set(headers[i], headers[i+1])
		}
		response.WriteHeader(status)
		_, _ = io.WriteString(response, "{}")
	}
}

func reset(response http.ResponseWriter, _ *http.Request) {
	connection, _, _ := response.(http.Hijacker).Hijack()
	_ = connection.Close()
}

func newClient() *http.Client {
	transport := NewTransport()
	transport.FirstDelay, transport.MaxDelay = time.Millisecond, 2*time.Millisecond
	return &http.Client{Transport: transport}
}

// send returns the status of the response, or 0 for an error.
func send(t *testing.T, method, url, body string, headers ...string) (int, error) {
	t.Helper()
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := newClient().Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

func TestRepeatsAPostWithItsKey(t *testing.T) {
	failures := map[string]http.HandlerFunc{
		"429":               respond(429, "Retry-After", "0"),
		"503":               respond(503, "Retry-After", "0"),
		"502 of a proxy":    respond(502),
		"504 of a proxy":    respond(504),
		"no response":       reset,
		"still in progress": respond(409, "Retry-After", "0"),
	}
	for name, failure := range failures {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, failure, failure, respond(201))
			status, err := send(t, "POST", s.URL, `{"external_id":"PO-1"}`)
			if status != 201 || err != nil {
				t.Fatalf("status %d, %v", status, err)
			}
			keys := map[string]bool{}
			for i, request := range s.requests {
				keys[request.Header.Get("Idempotency-Key")] = true
				if s.bodies[i] != `{"external_id":"PO-1"}` {
					t.Errorf("body %q", s.bodies[i])
				}
			}
			if len(s.requests) != 3 || len(keys) != 1 || keys[""] {
				t.Errorf("%d requests with keys %v", len(s.requests), keys)
			}
		})
	}
}

func TestUsesANewKeyForEachPostOrTheGivenKey(t *testing.T) {
	s := newServer(t, respond(200))
	for _, headers := range [][]string{{}, {}, {"Idempotency-Key", "mine"}} {
		_, _ = send(t, "POST", s.URL, "{}", headers...)
	}
	_, _ = send(t, "GET", s.URL, "")
	key := func(i int) string { return s.requests[i].Header.Get("Idempotency-Key") }
	if len(key(0)) != 32 || key(0) == key(1) || key(2) != "mine" || key(3) != "" {
		t.Errorf("keys %q, %q, %q, %q", key(0), key(1), key(2), key(3))
	}
}

func TestDoesNotChangeTheGivenRequest(t *testing.T) {
	s := newServer(t, respond(200))
	request, _ := http.NewRequest("POST", s.URL, nil)
	if _, err := newClient().Transport.RoundTrip(request); err != nil || len(request.Header) != 0 {
		t.Errorf("headers %v, %v", request.Header, err)
	}
}

func TestReturnsTheLastResponseAfterTheMaximumNumberOfRetries(t *testing.T) {
	s := newServer(t, respond(503, "Retry-After", "0"))
	if status, _ := send(t, "GET", s.URL, ""); status != 503 || len(s.requests) != 5 {
		t.Errorf("status %d after %d requests", status, len(s.requests))
	}
	broken := newServer(t, reset)
	if _, err := send(t, "GET", broken.URL, ""); err == nil {
		t.Error("no error")
	}
}

func TestDoesNotRetryIfARetryCannotHelp(t *testing.T) {
	for _, status := range []int{200, 400, 401, 404, 409, 412, 500} {
		s := newServer(t, respond(status))
		if got, _ := send(t, "POST", s.URL, "{}"); got != status || len(s.requests) != 1 {
			t.Errorf("status %d after %d requests", got, len(s.requests))
		}
	}
}

func TestRepeatsAConditionalWriteOnlyIfItWasNotCarriedOut(t *testing.T) {
	for _, failure := range []http.HandlerFunc{reset, respond(504), respond(503, "Retry-After", "0")} {
		s := newServer(t, failure, respond(200))
		if status, _ := send(t, "PATCH", s.URL, "{}", "If-Match", `"3"`); status == 200 || len(s.requests) != 1 {
			t.Errorf("status %d after %d requests", status, len(s.requests))
		}
	}
	s := newServer(t, respond(429, "Retry-After", "0"), respond(200))
	if status, _ := send(t, "PATCH", s.URL, "{}", "If-Match", `"3"`); status != 200 {
		t.Errorf("status %d", status)
	}
}

func TestDoesNotRepeatABodyThatCannotBeReadAgain(t *testing.T) {
	s := newServer(t, respond(503, "Retry-After", "0"))
	request, _ := http.NewRequest("POST", s.URL, io.NopCloser(strings.NewReader("{}")))
	response, err := newClient().Do(request)
	if err != nil || response.StatusCode != 503 || len(s.requests) != 1 {
		t.Errorf("%v after %d requests", err, len(s.requests))
	}
}

func TestDoesNotRetryAfterTheDeadline(t *testing.T) {
	s := newServer(t, respond(429, "Retry-After", "3600"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	request, _ := http.NewRequestWithContext(ctx, "GET", s.URL, nil)
	response, err := newClient().Do(request)
	if err != nil || response.StatusCode != 429 || len(s.requests) != 1 {
		t.Errorf("%v after %d requests", err, len(s.requests))
	}
}

func TestDoesNotWaitForDays(t *testing.T) {
	for _, wait := range []string{"2147483647", "Fri, 31 Dec 9999 23:59:59 GMT"} {
		s := newServer(t, respond(429, "Retry-After", wait))
		if status, _ := send(t, "GET", s.URL, ""); status != 429 || len(s.requests) != 1 {
			t.Errorf("status %d after %d requests", status, len(s.requests))
		}
	}
}

func TestEndsItsPauseWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := newServer(t, respond(429, "Retry-After", "3600"))
	transport := NewTransport()
	transport.Base = cancelAfter{transport.Base, cancel}
	request, _ := http.NewRequestWithContext(ctx, "GET", s.URL, nil)
	response, err := transport.RoundTrip(request)
	if response != nil && response.StatusCode != 429 || response == nil && !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", response, err)
	}
}

// cancelAfter cancels a context while the transport pauses after a response.
type cancelAfter struct {
	base   http.RoundTripper
	cancel context.CancelFunc
}

func (c cancelAfter) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := c.base.RoundTrip(request)
	time.AfterFunc(10*time.Millisecond, c.cancel)
	return response, err
}

func TestComputesPauses(t *testing.T) {
	transport := NewTransport()
	for retries, most := range map[int]time.Duration{
		0: 250 * time.Millisecond, 1: 500 * time.Millisecond, 6: 10 * time.Second, 5000: 10 * time.Second,
	} {
		if delay := transport.delay(retries, nil); delay < most/2 || delay > most {
			t.Errorf("retry %d after %v", retries, delay)
		}
	}
	asked := func(value string) time.Duration {
		return transport.delay(0, &http.Response{Header: http.Header{"Retry-After": {value}}})
	}
	if delay := asked("30"); delay < 30*time.Second || delay > 33*time.Second {
		t.Errorf("retry after %v", delay)
	}
	if delay := asked("Thu, 01 Jan 1970 00:00:00 GMT"); delay != 0 {
		t.Errorf("retry after %v", delay)
	}
	if delay := asked("soon"); delay > 250*time.Millisecond {
		t.Errorf("retry after %v", delay)
	}
}
