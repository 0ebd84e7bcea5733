import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A webhook receiver with com.standardwebhooks:standardwebhooks 1.1.0 on the class path. */
public final class Receiver {
  /** Ids of received events. In production, use a table with the event id as its key: it must outlive the process. */
  private static final Set<String> SEEN = ConcurrentHashMap.newKeySet();

  public static void main(String[] arguments) throws IOException {
    String secret = System.getenv("WEBHOOK_SECRET");
    if (secret == null || secret.isEmpty()) throw new IllegalStateException("set WEBHOOK_SECRET");
    Webhook webhook = new Webhook(secret);
    int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "4000"));
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
    server.createContext("/", exchange -> receive(exchange, webhook));
    server.setExecutor(Executors.newFixedThreadPool(8));
    server.start();
  }

  private static void receive(HttpExchange exchange, Webhook webhook) throws IOException {
    String event = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    try {
      webhook.verify(event, exchange.getRequestHeaders());
    } catch (WebhookVerificationException error) {
      answer(exchange, 400, error.getMessage());
      return;
    }
    String type = text(event, "type");
    if (type.equals("endpoint.verification")) {
      answer(exchange, 200, text(event, "challenge"));
      return;
    }
    if (SEEN.add(text(event, "id"))) {
      System.out.println(type + " " + text(event, "id") + " shipment_version " + number(event, "shipment_version"));
    }
    answer(exchange, 200, "");
  }

  private static void answer(HttpExchange exchange, int status, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "text/plain");
    exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  // Java has no JSON parser: use that of your project. The fields of the envelope come first in a body.
  private static String text(String json, String field) {
    return first(json, "\"" + field + "\":\"([^\"\\\\]*)\"");
  }

  private static String number(String json, String field) {
    return first(json, "\"" + field + "\":([0-9]+)");
  }

  private static String first(String json, String pattern) {
    Matcher found = Pattern.compile(pattern).matcher(json);
    return found.find() ? found.group(1) : "";
  }
}
