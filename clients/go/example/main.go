// Command example creates a shipment, reads a list by pages, records a milestone, uploads a document and handles an error
// with a client that is generated from the OpenAPI description. Set API_KEY, and BASE_URL if it is not the default.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"time"

	"example.com/tracking"
	"example.com/tracking/example/api"
)

//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -config oapi-codegen.yaml ../../../docs/openapi.json

func main() {
	log.SetFlags(0)
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func newClient() (*api.ClientWithResponses, error) {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
		return nil
	}
	return api.NewClientWithResponses(
		cmp.Or(os.Getenv("BASE_URL"), "http://127.0.0.1:3000"),
		api.WithHTTPClient(&http.Client{Transport: tracking.NewTransport()}),
		api.WithRequestEditorFn(authorize),
	)
}

func run(ctx context.Context) error {
	client, err := newClient()
	if err != nil {
		return err
	}
	shipment, err := upsert(ctx, client, "PO-4001")
	if err != nil {
		return err
	}
	if _, err := upsert(ctx, client, "PO-4002"); err != nil {
		return err
	}
	if err := recordDeparture(ctx, client, shipment.Id); err != nil {
		return err
	}
	if err := upload(ctx, client, shipment.Id); err != nil {
		return err
	}
	if err := list(ctx, client); err != nil {
		return err
	}
	return showError(ctx, client)
}

func upsert(ctx context.Context, client *api.ClientWithResponses, externalID string) (*api.ShipmentWritten, error) {
	mode, booking := api.ModeInput("ocean"), "GO-EXAMPLE"
	body := api.ShipmentFields{ExternalId: &externalID, Mode: &mode, BookingNumber: &booking}
	response, err := client.UpsertShipmentWithResponse(ctx, nil, body)
	if err != nil {
		return nil, err
	}
	written := cmp.Or(response.JSON201, response.JSON200)
	if written == nil {
		return nil, errors.New(string(response.Body))
	}
	return written, nil
}

func recordDeparture(ctx context.Context, client *api.ClientWithResponses, id string) error {
	body := api.MilestoneFields{
		Code:       "vessel_departed",
		OccurredAt: "2026-11-02T10:30:00+08:00",
	}
	recorded, err := client.RecordMilestoneWithResponse(ctx, id, nil, body)
	if err != nil {
		return err
	}
	if recorded.StatusCode() >= 300 {
		return errors.New(string(recorded.Body))
	}
	read, err := client.GetShipmentWithResponse(ctx, id, nil)
	if err != nil {
		return err
	}
	if read.JSON200 == nil {
		return errors.New(string(read.Body))
	}
	fmt.Println(*read.JSON200.ExternalId, read.JSON200.Status, read.JSON200.Atd.Format(time.RFC3339))
	return nil
}

func upload(ctx context.Context, client *api.ClientWithResponses, id string) error {
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	if err := writer.WriteField("type", "bill_of_lading"); err != nil {
		return err
	}
	header := textproto.MIMEHeader{}
	header.Set("Content-Disposition", `form-data; name="file"; filename="bl.pdf"`)
	header.Set("Content-Type", "application/pdf")
	file, err := writer.CreatePart(header)
	if err != nil {
		return err
	}
	if _, err := file.Write([]byte("%PDF-1.7\n%%EOF\n")); err != nil {
		return err
	}
	if err := writer.Close(); err != nil {
		return err
	}
	uploaded, err := client.AddDocumentWithBodyWithResponse(ctx, id, nil, writer.FormDataContentType(), &form)
	if err != nil {
		return err
	}
	if uploaded.JSON201 == nil {
		return errors.New(string(uploaded.Body))
	}
	fmt.Println(uploaded.JSON201.FileName, uploaded.JSON201.Status)
	return nil
}

// list reads a list by pages of one shipment.
func list(ctx context.Context, client *api.ClientWithResponses) error {
	limit, booking := 1, "GO-EXAMPLE"
	params := api.ListShipmentsParams{Limit: &limit, BookingNumber: &booking}
	for {
		page, err := client.ListShipmentsWithResponse(ctx, &params)
		if err != nil {
			return err
		}
		if page.JSON200 == nil {
			return errors.New(string(page.Body))
		}
		for _, shipment := range page.JSON200.Data {
			fmt.Println(*shipment.ExternalId)
		}
		if page.JSON200.NextCursor == nil {
			return nil
		}
		params.Cursor = page.JSON200.NextCursor
	}
}

func showError(ctx context.Context, client *api.ClientWithResponses) error {
	mode, empty := api.ModeInput("teleport"), ""
	refused, err := client.UpsertShipmentWithResponse(ctx, nil, api.ShipmentFields{Mode: &mode, HouseBill: &empty})
	if err != nil {
		return err
	}
	if refused.JSON400 == nil {
		return errors.New(string(refused.Body))
	}
	fmt.Println(refused.JSON400.Error.Code)
	for _, detail := range refused.JSON400.Error.Details {
		fmt.Println(detail.Param, detail.Code)
	}
	return nil
}
