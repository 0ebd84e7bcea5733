import com.example.tracking.ApiClient;
import com.example.tracking.ApiException;
import com.example.tracking.api.DocumentsApi;
import com.example.tracking.api.MilestonesApi;
import com.example.tracking.api.ShipmentsApi;
import com.example.tracking.client.RetryingHttpClient;
import com.example.tracking.model.CanonicalMilestoneCode;
import com.example.tracking.model.DocumentType;
import com.example.tracking.model.ErrorResponse;
import com.example.tracking.model.FieldError;
import com.example.tracking.model.MilestoneFields;
import com.example.tracking.model.ModeInput;
import com.example.tracking.model.Shipment;
import com.example.tracking.model.ShipmentFields;
import com.example.tracking.model.ShipmentPage;
import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Creates a shipment, reads a list by pages, records a milestone, uploads a document and handles an error. Set API_KEY, and
 * BASE_URL if it is not the default.
 */
public final class Example {
  private static final String BOOKING = "JAVA-EXAMPLE";

  /** A client that retries and sends the key. */
  private static ApiClient newClient() {
    ApiClient client =
        new ApiClient() {
          @Override
          public HttpClient getHttpClient() {
            return new RetryingHttpClient(super.getHttpClient());
          }
        };
    client.updateBaseUri(System.getenv().getOrDefault("BASE_URL", "http://127.0.0.1:3000"));
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + System.getenv("API_KEY")));
    return client;
  }

  public static void main(String[] arguments) throws ApiException, IOException {
    ApiClient client = newClient();
    ShipmentsApi shipments = new ShipmentsApi(client);
    String id = upsert(shipments, "PO-5001");
    upsert(shipments, "PO-5002");
    recordDeparture(client, id);
    Shipment shipment = shipments.getShipment(ShipmentsApi.APIGetShipmentRequest.newBuilder().id(id).build());
    System.out.println(shipment.getExternalId() + " " + shipment.getStatus() + " " + shipment.getAtd().toInstant());
    upload(client, id);
    list(shipments);
    showError(client, shipments);
  }

  private static String upsert(ShipmentsApi shipments, String externalId) throws ApiException {
    ShipmentFields fields = new ShipmentFields().externalId(externalId).mode(ModeInput.OCEAN).bookingNumber(BOOKING);
    return shipments
        .upsertShipment(ShipmentsApi.APIUpsertShipmentRequest.newBuilder().shipmentFields(fields).build())
        .getId();
  }

  private static void recordDeparture(ApiClient client, String id) throws ApiException {
    MilestoneFields milestone =
        new MilestoneFields()
            .code(CanonicalMilestoneCode.VESSEL_DEPARTED)
            .occurredAt("2026-11-02T10:30:00+08:00");
    new MilestonesApi(client)
        .recordMilestone(
            MilestonesApi.APIRecordMilestoneRequest.newBuilder().id(id).milestoneFields(milestone).build());
  }

  private static void upload(ApiClient client, String id) throws ApiException, IOException {
    Path folder = Files.createTempDirectory("example");
    Path file = Files.writeString(folder.resolve("bl.pdf"), "%PDF-1.7\n%%EOF\n");
    try {
      var request =
          DocumentsApi.APIAddDocumentRequest.newBuilder().id(id).type(DocumentType.BILL_OF_LADING)._file(file.toFile());
      var document = new DocumentsApi(client).addDocument(request.build());
      System.out.println(document.getFileName() + " " + document.getStatus());
    } finally {
      Files.delete(file);
      Files.delete(folder);
    }
  }

  /** Reads a list by pages of one shipment. */
  private static void list(ShipmentsApi shipments) throws ApiException {
    String cursor = null;
    do {
      var request = ShipmentsApi.APIListShipmentsRequest.newBuilder().bookingNumber(BOOKING).limit(1).cursor(cursor);
      ShipmentPage page = shipments.listShipments(request.build());
      page.getData().forEach(shipment -> System.out.println(shipment.getExternalId()));
      cursor = page.getNextCursor();
    } while (cursor != null);
  }

  private static void showError(ApiClient client, ShipmentsApi shipments) throws IOException {
    ShipmentFields fields = new ShipmentFields().carrierScac("").houseBill("");
    try {
      shipments.upsertShipment(ShipmentsApi.APIUpsertShipmentRequest.newBuilder().shipmentFields(fields).build());
    } catch (ApiException refused) {
      ErrorResponse body = client.getObjectMapper().readValue(refused.getResponseBody(), ErrorResponse.class);
      System.out.println(body.getError().getCode());
      for (FieldError detail : body.getError().getDetails()) System.out.println(detail.getParam() + " " + detail.getCode());
    }
  }
}
