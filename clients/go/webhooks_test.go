package tracking

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	body = `{"id":"evt_1","type":"shipment.created","created_at":"2026-11-21T09:30:00.000Z","data":{"note":"größer 港"}}`
	at   = int64(1_793_000_000)
)

var (
	key    = []byte(strings.Repeat("\x03", 32))
	secret = "whsec_" + base64.StdEncoding.EncodeToString(key)
)

func mac(key []byte, content string) []byte {
	sum := hmac.New(sha256.New, key)
	sum.Write([]byte(content))
	return sum.Sum(nil)
}

func ours(secret string, at int64, body string) http.Header {
	t := strconv.FormatInt(at, 10)
	value := "t=" + t + ",v1=" + hex.EncodeToString(mac([]byte(secret), t+"."+body))
	return http.Header{"Service-Signature": {value}}
}

func standard(key []byte, at int64, id string) http.Header {
	t := strconv.FormatInt(at, 10)
	value := "v1a,x v1," + base64.StdEncoding.EncodeToString(mac(key, id+"."+t+"."+body))
	return http.Header{"Webhook-Id": {"evt_1"}, "Webhook-Timestamp": {t}, "Webhook-Signature": {value}}
}

func TestVerifiesWebhooks(t *testing.T) {
	rotated := ours("whsec_old", at, body)
	rotated["Service-Signature"][0] += "," + strings.Split(ours(secret, at, body).Get("Service-Signature"), ",")[1]
	both := standard(key, at, "evt_1")
	both["Service-Signature"] = ours("whsec_other", at, body)["Service-Signature"]
	cases := map[string]struct {
		header  http.Header
		body    string
		secrets []string
		err     error
	}{
		"our signature":                  {ours(secret, at, body), body, []string{secret}, nil},
		"Standard Webhooks":              {standard(key, at, "evt_1"), body, []string{secret}, nil},
		"one of several signatures":      {rotated, body, []string{secret}, nil},
		"one of several secrets":         {ours(secret, at, body), body, []string{"whsec_other", secret}, nil},
		"the last second":                {ours(secret, at-300, body), body, []string{secret}, nil},
		"another secret":                 {ours(secret, at, body), body, []string{"whsec_other"}, ErrWebhookSignature},
		"no secret":                      {ours("", at, body), body, nil, ErrWebhookSignature},
		"an empty secret":                {ours("", at, body), body, []string{""}, ErrWebhookSignature},
		"another body":                   {ours(secret, at, body), body + " ", []string{secret}, ErrWebhookSignature},
		"another key":                    {standard([]byte("x"), at, "evt_1"), body, []string{secret}, ErrWebhookSignature},
		"another id":                     {standard(key, at, "evt_2"), body, []string{secret}, ErrWebhookSignature},
		"our signature takes precedence": {both, body, []string{secret}, ErrWebhookSignature},
		"too old":                        {ours(secret, at-301, body), body, []string{secret}, ErrWebhookTimestamp},
		"in the future":                  {standard(key, at+301, "evt_1"), body, []string{secret}, ErrWebhookTimestamp},
		"no signature":                   {http.Header{}, body, []string{secret}, ErrWebhookForm},
		"not JSON":                       {ours(secret, at, "no"), "no", []string{secret}, ErrWebhookForm},
		"not an event":                   {ours(secret, at, `{"type":"x"}`), `{"type":"x"}`, []string{secret}, ErrWebhookForm},
	}
	for name, each := range cases {
		t.Run(name, func(t *testing.T) {
			event, err := verifyWebhookAt(time.Unix(at, 0), []byte(each.body), each.header, each.secrets)
			if !errors.Is(err, each.err) || (err == nil) != (event != nil) {
				t.Fatalf("%v, %v", event, err)
			}
			if event != nil && (event.ID != "evt_1" || event.Type != "shipment.created") {
				t.Errorf("%v", event)
			}
		})
	}
}

func TestReportsMalformedSignatures(t *testing.T) {
	for _, value := range []string{"", "t=,v1=", "v1=00", "t=1793000000", "t=abc,v1=00", "t=1793000000,v1=zz", "x"} {
		header := http.Header{"Service-Signature": {value}}
		if _, err := VerifyWebhook([]byte(body), header, secret); !errors.Is(err, ErrWebhookForm) {
			t.Errorf("%q: %v", value, err)
		}
	}
}

func TestAgreesWithTheVectorsOfAllLanguages(t *testing.T) {
	content, err := os.ReadFile("../../docs/guides/verification/vectors.tsv")
	if err != nil {
		t.Skip("the vectors are only in the repository")
	}
	lines := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")[1:]
	if len(lines) <= 10 {
		t.Fatal("too few vectors")
	}
	for _, line := range lines {
		fields := strings.Split(line, "\t")
		now, _ := strconv.ParseFloat(fields[2], 64)
		signed, _ := base64.StdEncoding.DecodeString(fields[5])
		header := http.Header{"Service-Signature": {fields[4]}}
		_, err := verifyWebhookAt(time.Unix(int64(now), 0), signed, header, []string{fields[3]})
		// Some vectors sign a body that is not an event.
		isAccepted := err == nil || strings.Contains(err.Error(), "the body is not")
		if isAccepted != (fields[1] == "yes") {
			t.Errorf("%s: %v", fields[0], err)
		}
	}
}
