// Command ogen-client uses the client that ogen generates: see .ci/generated-clients.mjs.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"example.com/ogen-client/api"
	ht "github.com/ogen-go/ogen/http"
	"github.com/ogen-go/ogen/ogenerrors"
)

type apiKey string

func (key apiKey) Bearer(context.Context, api.OperationName) (api.Bearer, error) {
	return api.Bearer{Token: string(key)}, nil
}

func (apiKey) Session(context.Context, api.OperationName) (api.Session, error) {
	return api.Session{}, ogenerrors.ErrSkipClientSecurity
}

func main() {
	log.SetFlags(0)
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	client, err := api.NewClient(os.Getenv("BASE_URL"), apiKey(os.Getenv("API_KEY")))
	if err != nil {
		return err
	}
	name := os.Getenv("CLIENT")
	var id string
	for _, externalID := range []string{name + "-2", name + "-1"} {
		written, err := client.UpsertShipment(ctx, &api.ShipmentFields{
			ExternalID:    api.NewOptNilString(externalID),
			BookingNumber: api.NewOptNilString(name),
			Mode:          api.NewOptNilModeInput(api.ModeInputOcean),
		}, api.UpsertShipmentParams{})
		if err != nil {
			return err
		}
		created, ok := written.(*api.UpsertShipmentCreatedHeaders)
		if !ok {
			return fmt.Errorf("not created: %T", written)
		}
		id = created.Response.ID
	}
	milestone := api.MilestoneFields{
		Code:       api.CanonicalMilestoneCodeVesselDeparted,
		OccurredAt: "2026-11-02T00:00:00Z",
	}
	if _, err := client.RecordMilestone(ctx, &milestone, api.RecordMilestoneParams{ID: id}); err != nil {
		return err
	}
	read, err := client.GetShipment(ctx, api.GetShipmentParams{ID: id})
	if err != nil {
		return err
	}
	shipment, ok := read.(*api.ShipmentHeaders)
	if !ok {
		return fmt.Errorf("not read: %T", read)
	}
	fmt.Println(shipment.Response.ExternalID.Value, shipment.Response.Status)
	if err := upload(ctx, client, id); err != nil {
		return err
	}
	if err := list(ctx, client, name); err != nil {
		return err
	}
	return showError(ctx, client)
}

func upload(ctx context.Context, client *api.Client, id string) error {
	uploaded, err := client.AddDocument(ctx, &api.DocumentFormMultipart{
		Type: api.DocumentTypeBillOfLading,
		File: ht.MultipartFile{Name: "bl.pdf", File: bytes.NewReader([]byte("%PDF-1.7\n%%EOF\n"))},
	}, api.AddDocumentParams{ID: id})
	if err != nil {
		return err
	}
	document, ok := uploaded.(*api.AddDocumentCreatedHeaders)
	if !ok {
		return fmt.Errorf("not uploaded: %T", uploaded)
	}
	fmt.Println(document.Response.FileName, document.Response.Status)
	return nil
}

func list(ctx context.Context, client *api.Client, name string) error {
	params := api.ListShipmentsParams{Limit: api.NewOptInt(1), BookingNumber: api.NewOptString(name)}
	for {
		listed, err := client.ListShipments(ctx, params)
		if err != nil {
			return err
		}
		page, ok := listed.(*api.ShipmentPageHeaders)
		if !ok {
			return fmt.Errorf("not listed: %T", listed)
		}
		for _, shipment := range page.Response.Data {
			fmt.Println(shipment.ExternalID.Value)
		}
		if page.Response.NextCursor.Null {
			return nil
		}
		params.Cursor = api.NewOptString(page.Response.NextCursor.Value)
	}
}

func showError(ctx context.Context, client *api.Client) error {
	fields := api.ShipmentFields{HouseBill: api.NewOptNilString("")}
	answer, err := client.UpsertShipment(ctx, &fields, api.UpsertShipmentParams{})
	if err != nil {
		return err
	}
	refused, ok := answer.(*api.BadRequestHeaders)
	if !ok {
		return errors.New("not refused")
	}
	failure := refused.Response.Error
	fmt.Println(failure.Code)
	for _, detail := range failure.Details {
		fmt.Println(detail.Param, detail.Code)
	}
	return nil
}
