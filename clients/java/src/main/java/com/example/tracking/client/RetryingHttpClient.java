package com.example.tracking.client;

import java.io.IOException;
import java.net.Authenticator;
import java.net.ConnectException;
import java.net.CookieHandler;
import java.net.ProxySelector;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.PushPromiseHandler;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;

/**
 * An {@link HttpClient} that retries requests that are safe to repeat.
 *
 * <p>It retries after 429, 502, 503 and 504, after 409 with {@code Retry-After} (a request with the same {@code
 * Idempotency-Key} is in progress), and after a connection that broke or timed out before the response began. Every POST
 * gets a random {@code Idempotency-Key} unless it has one, the same for each attempt, so it takes effect once. A PATCH, PUT
 * or DELETE with {@code If-Match} is retried only after 429, or if the client could not connect, because its own change
 * would make a repeat fail.
 *
 * <p>A request with a body of unknown length is not retried, because the body may not be readable again.
 */
public final class RetryingHttpClient extends HttpClient {
  private final HttpClient base;
  private final Settings settings;

  /**
   * Limits of a request.
   *
   * @param maxRetries maximum number of retries
   * @param firstDelay pause before the first retry, if the API does not set one; pauses double, and half of each is random
   * @param maxDelay longest pause, if the API does not set one
   * @param deadline time after which no other attempt starts
   */
  public record Settings(int maxRetries, Duration firstDelay, Duration maxDelay, Duration deadline) {
    /** 4 retries, pauses from 250 ms to 10 s, and a deadline of 120 s. */
    public static final Settings DEFAULT =
        new Settings(4, Duration.ofMillis(250), Duration.ofSeconds(10), Duration.ofSeconds(120));
  }

  /** Retries the requests of a client with the default settings. */
  public RetryingHttpClient(HttpClient base) {
    this(base, Settings.DEFAULT);
  }

  /** Retries the requests of a client. */
  public RetryingHttpClient(HttpClient base, Settings settings) {
    this.base = base;
    this.settings = settings;
  }

  @Override
  public <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> handler) throws IOException, InterruptedException {
    HttpRequest attempt = withIdempotencyKey(request);
    long startedAt = System.nanoTime();
    for (int retries = 0; ; retries++) {
      Optional<Duration> pause;
      try {
        HttpResponse<T> response = base.send(attempt, handler);
        pause = pauseAfter(attempt, response, null, retries, startedAt);
        if (pause.isEmpty()) return response;
        close(response);
      } catch (IOException error) {
        pause = pauseAfter(attempt, null, error, retries, startedAt);
        if (pause.isEmpty()) throw error;
      }
      TimeUnit.NANOSECONDS.sleep(pause.get().toNanos());
    }
  }

  @Override
  public <T> CompletableFuture<HttpResponse<T>> sendAsync(HttpRequest request, BodyHandler<T> handler) {
    return sendAsync(request, handler, null);
  }

  @Override
  public <T> CompletableFuture<HttpResponse<T>> sendAsync(
      HttpRequest request, BodyHandler<T> handler, PushPromiseHandler<T> pushHandler) {
    return sendAsync(withIdempotencyKey(request), handler, pushHandler, 0, System.nanoTime());
  }

  private <T> CompletableFuture<HttpResponse<T>> sendAsync(
      HttpRequest attempt, BodyHandler<T> handler, PushPromiseHandler<T> pushHandler, int retries, long startedAt) {
    return base.sendAsync(attempt, handler, pushHandler)
        .handle(
            (response, failure) -> {
              Throwable error = failure instanceof CompletionException ? failure.getCause() : failure;
              Optional<Duration> pause = pauseAfter(attempt, response, error, retries, startedAt);
              if (pause.isEmpty()) {
                return error == null
                    ? CompletableFuture.completedFuture(response)
                    : CompletableFuture.<HttpResponse<T>>failedFuture(error);
              }
              close(response);
              Executor later = CompletableFuture.delayedExecutor(pause.get().toNanos(), TimeUnit.NANOSECONDS);
              return CompletableFuture.supplyAsync(() -> null, later)
                  .thenCompose(ignored -> sendAsync(attempt, handler, pushHandler, retries + 1, startedAt));
            })
        .thenCompose(next -> next);
  }

  /** Returns the pause before the next attempt; empty if the request is not repeated. */
  private Optional<Duration> pauseAfter(
      HttpRequest request, HttpResponse<?> response, Throwable error, int retries, long startedAt) {
    boolean canBeSentAgain = request.bodyPublisher().map(body -> body.contentLength() >= 0).orElse(true);
    if (retries >= settings.maxRetries() || !canBeSentAgain || !canRetry(request, response, error)) {
      return Optional.empty();
    }
    Duration pause = Optional.ofNullable(response).flatMap(RetryingHttpClient::requestedPause).orElse(null);
    double random = ThreadLocalRandom.current().nextDouble();
    if (pause == null) {
      double grown = settings.firstDelay().toNanos() * Math.pow(2, retries);
      pause = Duration.ofNanos((long) (Math.min(grown, settings.maxDelay().toNanos()) * (0.5 + random / 2)));
    } else {
      // In milliseconds, because a date far in the future exceeds the range of nanoseconds.
      pause = pause.plusMillis((long) (pause.toMillis() * random / 10));
    }
    Duration elapsed = Duration.ofNanos(System.nanoTime() - startedAt);
    return elapsed.plus(pause).compareTo(settings.deadline()) < 0 ? Optional.of(pause) : Optional.empty();
  }

  private static boolean canRetry(HttpRequest request, HttpResponse<?> response, Throwable error) {
    boolean isConditional = request.headers().firstValue("If-Match").isPresent() && !request.method().equals("POST");
    if (error != null) {
      boolean isNotSent = error instanceof ConnectException || error instanceof HttpConnectTimeoutException;
      return error instanceof IOException && (!isConditional || isNotSent);
    }
    return switch (response.statusCode()) {
      case 429 -> true;
      case 409 -> response.headers().firstValue("Retry-After").isPresent();
      case 502, 503, 504 -> !isConditional;
      default -> false;
    };
  }

  /** Returns the pause that the API asks for, in seconds or with a date. */
  private static Optional<Duration> requestedPause(HttpResponse<?> response) {
    return response.headers().firstValue("Retry-After").flatMap(RetryingHttpClient::parseRetryAfter);
  }

  static Optional<Duration> parseRetryAfter(String value) {
    if (value.matches("[0-9]{1,9}")) return Optional.of(Duration.ofSeconds(Long.parseLong(value)));
    try {
      ZonedDateTime at = ZonedDateTime.parse(value, DateTimeFormatter.RFC_1123_DATE_TIME);
      Duration rest = Duration.between(ZonedDateTime.now(), at);
      return Optional.of(rest.isNegative() ? Duration.ZERO : rest);
    } catch (DateTimeException error) {
      return Optional.empty();
    }
  }

  private static HttpRequest withIdempotencyKey(HttpRequest request) {
    if (!request.method().equals("POST") || request.headers().firstValue("Idempotency-Key").isPresent()) return request;
    String key = UUID.randomUUID().toString();
    return HttpRequest.newBuilder(request, (name, value) -> true).header("Idempotency-Key", key).build();
  }

  /** Closes the body of a response that is not returned, if it is a stream. */
  private static void close(HttpResponse<?> response) {
    if (response == null || !(response.body() instanceof AutoCloseable body)) return;
    try {
      body.close();
    } catch (Exception error) {
      // The response is discarded.
    }
  }

  @Override
  public Optional<CookieHandler> cookieHandler() {
    return base.cookieHandler();
  }

  @Override
  public Optional<Duration> connectTimeout() {
    return base.connectTimeout();
  }

  @Override
  public Redirect followRedirects() {
    return base.followRedirects();
  }

  @Override
  public Optional<ProxySelector> proxy() {
    return base.proxy();
  }

  @Override
  public SSLContext sslContext() {
    return base.sslContext();
  }

  @Override
  public SSLParameters sslParameters() {
    return base.sslParameters();
  }

  @Override
  public Optional<Authenticator> authenticator() {
    return base.authenticator();
  }

  @Override
  public Version version() {
    return base.version();
  }

  @Override
  public Optional<Executor> executor() {
    return base.executor();
  }
}
