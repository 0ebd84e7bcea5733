// A webhook receiver with the module of Standard Webhooks: WEBHOOK_SECRET=whsec_… go run .
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

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

func receive(webhook *standardwebhooks.Webhook) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || webhook.Verify(body, r.Header) != nil {
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
	webhook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, receive(webhook)))
}
