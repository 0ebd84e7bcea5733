// A webhook receiver on Go 1.21 or newer, without modules: WEBHOOK_SECRET=whsec_… go run .
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const maxAge = 5 * time.Minute

// Verify reports whether a request was signed with the endpoint's secret, at most five minutes ago.
// header is the Service-Signature header, body the raw body, secret the whole whsec_… string.
func Verify(header string, body []byte, secret string, now time.Time) bool {
	timestamp := ""
	var given [][]byte
	for _, part := range strings.Split(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			timestamp = value
		case "v1":
			if signature, err := hex.DecodeString(value); err == nil {
				given = append(given, signature)
			}
		}
	}
	seconds, err := strconv.ParseUint(timestamp, 10, 40)
	if err != nil || now.Sub(time.Unix(int64(seconds), 0)) > maxAge {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	expected := mac.Sum(nil)
	for _, signature := range given {
		if hmac.Equal(signature, expected) {
			return true
		}
	}
	return false
}

type event struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Data struct {
		Challenge       string      `json:"challenge"`
		ShipmentVersion json.Number `json:"shipment_version"`
	} `json:"data"`
}

// Ids of received events. In production, use a table with the event id as its key: it must outlive the process.
var seen sync.Map

func receive(secret string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !Verify(r.Header.Get("Service-Signature"), body, secret, time.Now()) {
			http.Error(w, "not signed with our secret", http.StatusBadRequest)
			return
		}
		var e event
		if err := json.Unmarshal(body, &e); err != nil {
			http.Error(w, "not an event", http.StatusBadRequest)
			return
		}
		if e.Type == "endpoint.verification" {
			io.WriteString(w, e.Data.Challenge)
			return
		}
		if _, repeated := seen.LoadOrStore(e.ID, true); !repeated {
			fmt.Println(e.Type, e.ID, "shipment_version", e.Data.ShipmentVersion)
		}
	}
}

func main() {
	secret, port := os.Getenv("WEBHOOK_SECRET"), os.Getenv("PORT")
	if secret == "" {
		log.Fatal("set WEBHOOK_SECRET")
	}
	if port == "" {
		port = "4000"
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, receive(secret)))
}
