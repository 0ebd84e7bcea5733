package com.example.tracking.client;

import com.example.tracking.client.WebhookVerifier.VerificationException;
import com.example.tracking.client.WebhookVerifier.VerificationException.Reason;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Deque;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Tests of the hand-written classes, which need only a JDK. The argument is the path of the vectors of webhooks. */
public final class ClientTest {
  private static int checks;

  public static void main(String[] arguments) throws Exception {
    try (HostileServer server = new HostileServer()) {
      repeatsAPostWithItsKey(server);
      keepsTheGivenKey(server);
      doesNotRetryIfARetryCannotHelp(server);
      limitsRetriesAndTime(server);
      repeatsAConditionalWriteOnlyIfItWasNotCarriedOut(server);
    }
    parsesRetryAfter();
    verifiesWebhooks();
    agreesWithVectors(Path.of(arguments[0]));
    System.out.println(checks + " passed, 0 failed");
  }

  private static void repeatsAPostWithItsKey(HostileServer server) throws Exception {
    List<Answer> failures =
        List.of(status(429, "0"), status(503, "0"), status(502, null), status(504, null), status(409, "0"), RESET);
    for (Answer failure : failures) {
      for (boolean isAsync : List.of(false, true)) {
        server.answer(failure, failure, status(201, null));
        HttpRequest request = post(server).build();
        HttpResponse<InputStream> response =
            isAsync
                ? client().sendAsync(request, BodyHandlers.ofInputStream()).get()
                : client().send(request, BodyHandlers.ofInputStream());
        check(201, response.statusCode());
        check(List.of("{\"a\":1}", "{\"a\":1}", "{\"a\":1}"), server.bodies);
        check(1, Set.copyOf(server.keys).size());
        check(36, server.keys.get(0).length());
      }
    }
  }

  private static void keepsTheGivenKey(HostileServer server) throws Exception {
    server.answer(status(200, null));
    client().send(post(server).header("Idempotency-Key", "mine").build(), BodyHandlers.ofString());
    client().send(post(server).build(), BodyHandlers.ofString());
    client().send(post(server).build(), BodyHandlers.ofString());
    client().send(HttpRequest.newBuilder(server.uri()).build(), BodyHandlers.ofString());
    check("mine", server.keys.get(0));
    check(3, new HashSet<>(server.keys.subList(0, 3)).size());
    check("", server.keys.get(3));
  }

  private static void doesNotRetryIfARetryCannotHelp(HostileServer server) throws Exception {
    for (int status : List.of(200, 400, 401, 404, 409, 412, 500)) {
      server.answer(status(status, null));
      check(status, client().send(post(server).build(), BodyHandlers.ofString()).statusCode());
      check(1, server.bodies.size());
    }
    server.answer(status(503, "0"));
    HttpRequest stream =
        HttpRequest.newBuilder(server.uri()).POST(BodyPublishers.ofInputStream(InputStream::nullInputStream)).build();
    check(503, client().send(stream, BodyHandlers.ofString()).statusCode());
    check(1, server.bodies.size());
  }

  private static void limitsRetriesAndTime(HostileServer server) throws Exception {
    server.answer(status(503, "0"));
    check(503, client().send(post(server).build(), BodyHandlers.ofString()).statusCode());
    check(5, server.bodies.size());
    for (String wait : List.of("3600", "Fri, 31 Dec 9999 23:59:59 GMT")) {
      server.answer(status(429, wait));
      check(429, client().send(post(server).build(), BodyHandlers.ofString()).statusCode());
      check(1, server.bodies.size());
    }
    server.answer(RESET);
    check(true, fails(() -> client().send(post(server).build(), BodyHandlers.ofString())));
    check(true, fails(() -> client().sendAsync(post(server).build(), BodyHandlers.ofString()).get()));
  }

  private static void repeatsAConditionalWriteOnlyIfItWasNotCarriedOut(HostileServer server) throws Exception {
    HttpRequest patch =
        HttpRequest.newBuilder(server.uri())
            .method("PATCH", BodyPublishers.ofString("{}"))
            .header("If-Match", "\"3\"")
            .build();
    for (Answer failure : List.of(status(503, "0"), status(504, null))) {
      server.answer(failure, status(200, null));
      check(true, client().send(patch, BodyHandlers.ofString()).statusCode() >= 500);
    }
    server.answer(RESET, status(200, null));
    check(true, fails(() -> client().send(patch, BodyHandlers.ofString())));
    server.answer(status(429, "0"), status(200, null));
    check(200, client().send(patch, BodyHandlers.ofString()).statusCode());
  }

  private static void parsesRetryAfter() {
    check(Duration.ofSeconds(30), RetryingHttpClient.parseRetryAfter("30").orElseThrow());
    check(Duration.ZERO, RetryingHttpClient.parseRetryAfter("Thu, 1 Jan 1970 00:00:00 GMT").orElseThrow());
    check(true, RetryingHttpClient.parseRetryAfter("soon").isEmpty());
  }

  private static void verifiesWebhooks() throws Exception {
    byte[] key = "0123456789abcdef".getBytes(StandardCharsets.UTF_8);
    String secret = "whsec_" + Base64.getEncoder().encodeToString(key);
    byte[] body = "{\"note\":\"größer 港\"}".getBytes(StandardCharsets.UTF_8);
    long at = 1_793_000_000L;
    byte[] secretBytes = secret.getBytes(StandardCharsets.UTF_8);
    Map<String, List<String>> ours =
        Map.of("service-signature", List.of("t=" + at + ",v1=00,v1=" + hex(mac(secretBytes, at + ".", body))));
    check(null, rejection(ours, body, at, secret));
    for (String[] missing : new String[][] {{}, {""}, {null}, {secret, null}}) {
      try {
        new WebhookVerifier(missing);
        check("IllegalArgumentException", "no exception");
      } catch (IllegalArgumentException error) {
        check("WebhookVerifier requires the secret of the endpoint.", error.getMessage());
      }
    }
    check(null, rejection(ours, body, at + 300, "whsec_other", secret));
    check(Reason.TIMESTAMP, rejection(ours, body, at + 301, secret));
    check(Reason.TIMESTAMP, rejection(ours, body, at - 301, secret));
    check(Reason.SIGNATURE, rejection(ours, body, at, "whsec_other"));
    check(Reason.SIGNATURE, rejection(ours, new byte[0], at, secret));
    String signature = "v1a,x v1," + Base64.getEncoder().encodeToString(mac(key, "evt_1." + at + ".", body));
    Map<String, List<String>> standard =
        Map.of(
            "Webhook-Id", List.of("evt_1"),
            "Webhook-Timestamp", List.of("" + at),
            "Webhook-Signature", List.of(signature));
    check(null, rejection(standard, body, at, secret));
    check(Reason.SIGNATURE, rejection(standard, body, at, "whsec_!"));
    check(Reason.FORM, rejection(Map.of(), body, at, secret));
    for (String value : List.of("", "t=,v1=", "v1=00", "t=" + at, "t=abc,v1=00", "t=" + at + ",v1=zz", "x")) {
      check(Reason.FORM, rejection(Map.of("Service-Signature", List.of(value)), body, at, secret));
    }
    check(true, fails(() -> new WebhookVerifier()));
    check(true, fails(() -> new WebhookVerifier("")));
  }

  private static void agreesWithVectors(Path path) throws Exception {
    List<String> lines = Files.readAllLines(path).subList(1, Files.readAllLines(path).size());
    check(true, lines.size() > 10);
    for (String line : lines) {
      String[] fields = line.split("\t", -1);
      byte[] body = Base64.getDecoder().decode(fields[5]);
      Map<String, List<String>> headers = Map.of("Service-Signature", List.of(fields[4]));
      Reason reason = rejection(headers, body, (long) Double.parseDouble(fields[2]), fields[3]);
      check(fields[0] + fields[1].equals("yes"), fields[0] + (reason == null));
    }
  }

  /** Returns the reason why a request is rejected; null if it is accepted. */
  private static Reason rejection(Map<String, List<String>> headers, byte[] body, long now, String... secrets) {
    Clock clock = Clock.fixed(Instant.ofEpochSecond(now), ZoneOffset.UTC);
    try {
      new WebhookVerifier(clock, secrets).verify(body, headers);
      return null;
    } catch (VerificationException error) {
      return error.reason();
    }
  }

  private static byte[] mac(byte[] key, String prefix, byte[] body) throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    mac.update(prefix.getBytes(StandardCharsets.UTF_8));
    return mac.doFinal(body);
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  private static HttpClient client() {
    Duration brief = Duration.ofMillis(1);
    HttpClient base = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    return new RetryingHttpClient(base, new RetryingHttpClient.Settings(4, brief, brief, Duration.ofMinutes(1)));
  }

  private static HttpRequest.Builder post(HostileServer server) {
    return HttpRequest.newBuilder(server.uri()).POST(BodyPublishers.ofString("{\"a\":1}"));
  }

  private static void check(Object expected, Object actual) {
    checks++;
    if (!Objects.equals(expected, actual)) throw new AssertionError(actual + " instead of " + expected);
  }

  private interface Step {
    void run() throws Exception;
  }

  private static boolean fails(Step step) {
    try {
      step.run();
      return false;
    } catch (Exception error) {
      return true;
    }
  }

  private interface Answer {
    void send(HttpExchange exchange) throws IOException;
  }

  /** Ends the connection without a response. */
  private static final Answer RESET = HttpExchange::close;

  private static Answer status(int status, String retryAfter) {
    return exchange -> {
      if (retryAfter != null) exchange.getResponseHeaders().set("Retry-After", retryAfter);
      exchange.sendResponseHeaders(status, 2);
      exchange.getResponseBody().write("{}".getBytes(StandardCharsets.UTF_8));
      exchange.close();
    };
  }

  /** Handles each request with the next of the given answers, and repeats the last answer. */
  private static final class HostileServer implements AutoCloseable {
    final List<String> bodies = new ArrayList<>();
    final List<String> keys = new ArrayList<>();
    private final Deque<Answer> answers = new ArrayDeque<>();
    private final HttpServer http;

    HostileServer() throws IOException {
      http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      http.createContext("/", this::handle);
      http.start();
    }

    URI uri() {
      return URI.create("http://127.0.0.1:" + http.getAddress().getPort() + "/v1/shipments");
    }

    synchronized void answer(Answer... next) {
      bodies.clear();
      keys.clear();
      answers.clear();
      answers.addAll(List.of(next));
    }

    private synchronized void handle(HttpExchange exchange) throws IOException {
      bodies.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
      keys.add(Objects.requireNonNullElse(exchange.getRequestHeaders().getFirst("Idempotency-Key"), ""));
      (answers.size() > 1 ? answers.remove() : answers.peek()).send(exchange);
    }

    @Override
    public void close() {
      http.stop(0);
    }
  }
}
