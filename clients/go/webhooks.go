package tracking

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Errors of [VerifyWebhook]. Ignore the request and respond with 400.
var (
	// ErrWebhookForm means that the signature is missing or malformed, or that the body is not an event.
	ErrWebhookForm = errors.New("the request is not a webhook")
	// ErrWebhookSignature means that the signature matches none of the secrets.
	ErrWebhookSignature = errors.New("the signature does not match any secret of the endpoint")
	// ErrWebhookTimestamp means that the signature is too old or in the future.
	ErrWebhookTimestamp = errors.New("the time of the signature differs too much from the current time")
)

// WebhookTolerance is the maximum age of a signature, including clock differences.
const WebhookTolerance = 5 * time.Minute

// WebhookEvent is the body of a webhook. Its type determines the form of its data. Handle unknown types, which a newer
// service may send. For the type endpoint.verification, respond with 2xx and the challenge in the data as the body.
type WebhookEvent struct {
	ID         string          `json:"id"`
	Type       string          `json:"type"`
	CreatedAt  time.Time       `json:"created_at"`
	APIVersion string          `json:"api_version"`
	Data       json.RawMessage `json:"data"`
}

// VerifyWebhook verifies that the service sent a delivery recently, and returns its event.
//
// The body is the request body as received, byte for byte. The secrets are the signing secrets of the endpoint, whsec_…:
// one, or several during a rotation. The function checks Service-Signature; if this header is missing, it checks the
// headers of Standard Webhooks. The comparison takes constant time. Events are delivered at least once, so ignore IDs that
// you have processed.
func VerifyWebhook(body []byte, header http.Header, secrets ...string) (*WebhookEvent, error) {
	return verifyWebhookAt(time.Now(), body, header, secrets)
}

func verifyWebhookAt(now time.Time, body []byte, header http.Header, secrets []string) (*WebhookEvent, error) {
	signed, err := readSignature(header)
	if err != nil {
		return nil, err
	}
	if !signed.matches(body, secrets) {
		return nil, ErrWebhookSignature
	}
	if math.Abs(float64(now.Unix()-signed.timestamp)) > WebhookTolerance.Seconds() {
		return nil, ErrWebhookTimestamp
	}
	return parseEvent(body)
}

// signature holds the signature fields of a request.
type signature struct {
	// timestamp is the time of the signature in Unix seconds.
	timestamp int64
	// prefix is the text before the body in the signed content.
	prefix string
	values [][]byte
	// isKeyDecoded is true if the key is the decoded secret, and false if it is the text of the whole secret.
	isKeyDecoded bool
}

func readSignature(header http.Header) (*signature, error) {
	if values := header.Values("Service-Signature"); len(values) > 0 {
		return readServiceSignature(strings.Join(values, ","))
	}
	id, t, text := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp"), header.Get("Webhook-Signature")
	if id == "" && t == "" && text == "" {
		return nil, fmt.Errorf("%w: it has no signature", ErrWebhookForm)
	}
	read := signature{prefix: id + "." + t + ".", isKeyDecoded: true}
	for _, part := range strings.Fields(text) {
		if value, isV1 := strings.CutPrefix(part, "v1,"); isV1 {
			if bytes, err := decodeBase64(value); err == nil {
				read.values = append(read.values, bytes)
			}
		}
	}
	return read.withTimestamp(t)
}

// readServiceSignature reads t=<unix seconds>,v1=<hex>, with several v1 during a rotation.
func readServiceSignature(text string) (*signature, error) {
	var read signature
	var t string
	for _, part := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			t = value
		case "v1":
			if bytes, err := hex.DecodeString(value); err == nil && len(bytes) > 0 {
				read.values = append(read.values, bytes)
			}
		}
	}
	read.prefix = t + "."
	return read.withTimestamp(t)
}

func (s *signature) withTimestamp(t string) (*signature, error) {
	seconds, err := strconv.ParseUint(t, 10, 40)
	if err != nil {
		return nil, fmt.Errorf("%w: the signature has no timestamp", ErrWebhookForm)
	}
	if len(s.values) == 0 {
		return nil, fmt.Errorf("%w: the signature contains no valid value", ErrWebhookForm)
	}
	s.timestamp = int64(seconds)
	return s, nil
}

func (s *signature) matches(body []byte, secrets []string) bool {
	isMatched := false
	for _, secret := range secrets {
		// Anyone could forge signatures with an empty secret.
		if secret == "" {
			continue
		}
		key := []byte(secret)
		if s.isKeyDecoded {
			decoded, err := decodeBase64(strings.TrimPrefix(secret, "whsec_"))
			if err != nil {
				continue
			}
			key = decoded
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(s.prefix))
		mac.Write(body)
		expected := mac.Sum(nil)
		for _, value := range s.values {
			isMatched = hmac.Equal(expected, value) || isMatched
		}
	}
	return isMatched
}

func parseEvent(body []byte) (*WebhookEvent, error) {
	var event WebhookEvent
	if !utf8.Valid(body) || json.Unmarshal(body, &event) != nil {
		return nil, fmt.Errorf("%w: the body is not JSON of an event", ErrWebhookForm)
	}
	if event.Type == "" || len(event.Data) == 0 || event.Data[0] != '{' {
		return nil, fmt.Errorf("%w: the body is not an event", ErrWebhookForm)
	}
	return &event, nil
}

func decodeBase64(text string) ([]byte, error) {
	bytes, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err == nil && len(bytes) == 0 {
		return nil, errors.New("empty")
	}
	return bytes, err
}
