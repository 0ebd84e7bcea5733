package com.example.tracking.client;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Verifies that the service sent a webhook recently. Instances can be shared between threads. */
public final class WebhookVerifier {
  /** Maximum age of a signature, including clock differences. */
  public static final Duration TOLERANCE = Duration.ofMinutes(5);

  private static final String SECRET_PREFIX = "whsec_";

  private final List<String> secrets;
  private final Clock clock;

  /** The request is not a webhook of the service. Ignore it and respond with 400. */
  public static final class VerificationException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Reason of the rejection. */
    public enum Reason {
      /** The signature is missing or malformed. */
      FORM,
      /** The signature matches none of the secrets. Another party may have sent the request. */
      SIGNATURE,
      /** The signature is too old or in the future. Another party may have repeated the request. */
      TIMESTAMP
    }

    private final Reason reason;

    VerificationException(Reason reason, String message) {
      super(message);
      this.reason = reason;
    }

    /** Returns the reason of the rejection. */
    public Reason reason() {
      return reason;
    }
  }

  /**
   * Creates a verifier.
   *
   * @param secrets signing secrets of the endpoint, {@code whsec_…}: one, or several during a rotation
   * @throws IllegalArgumentException if a secret is missing or empty, since anyone could forge its signatures
   */
  public WebhookVerifier(String... secrets) {
    this(Clock.systemUTC(), secrets);
  }

  WebhookVerifier(Clock clock, String... secrets) {
    this.clock = clock;
    if (secrets.length == 0 || Stream.of(secrets).anyMatch(secret -> secret == null || secret.isEmpty())) {
      throw new IllegalArgumentException("WebhookVerifier requires the secret of the endpoint.");
    }
    this.secrets = List.of(secrets);
  }

  /**
   * Verifies a request. Checks {@code Service-Signature}; if this header is missing, checks the headers of Standard
   * Webhooks. The comparison takes constant time. Events are delivered at least once, so ignore IDs that you have
   * processed.
   *
   * @param body request body as received, byte for byte
   * @param headers request headers, with names in any case
   */
  public void verify(byte[] body, Map<String, List<String>> headers) throws VerificationException {
    Map<String, List<String>> byName = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    headers.forEach((name, values) -> { if (name != null) byName.put(name, values); });
    Signature signed = byName.containsKey("Service-Signature") ? readOurs(byName) : readStandard(byName);
    if (!isSigned(signed, body)) {
      throw reject(VerificationException.Reason.SIGNATURE, "The signature does not match any secret of the endpoint.");
    }
    if (Math.abs(clock.instant().getEpochSecond() - signed.timestamp()) > TOLERANCE.toSeconds()) {
      throw reject(VerificationException.Reason.TIMESTAMP, "The time of the signature differs too much from now.");
    }
  }

  /**
   * The signature fields of a request.
   *
   * @param timestamp time of the signature in Unix seconds
   * @param prefix text before the body in the signed content
   * @param isKeyDecoded true if the key is the decoded secret, false if it is the text of the whole secret
   */
  private record Signature(long timestamp, String prefix, List<byte[]> values, boolean isKeyDecoded) {}

  /** Reads {@code t=<unix seconds>,v1=<hex>}, with several {@code v1} during a rotation. */
  private static Signature readOurs(Map<String, List<String>> headers) throws VerificationException {
    String t = "";
    List<byte[]> values = new ArrayList<>();
    for (String part : String.join(",", headers.get("Service-Signature")).split(",")) {
      String[] pair = part.strip().split("=", 2);
      if (pair.length < 2) continue;
      if (pair[0].equals("t")) t = pair[1];
      if (pair[0].equals("v1") && pair[1].matches("([0-9a-fA-F]{2})+")) values.add(HexFormat.of().parseHex(pair[1]));
    }
    return check(t, t + ".", values, false);
  }

  private static Signature readStandard(Map<String, List<String>> headers) throws VerificationException {
    String t = first(headers, "webhook-timestamp");
    List<byte[]> values = new ArrayList<>();
    for (String part : first(headers, "webhook-signature").split("\\s+")) {
      if (!part.startsWith("v1,")) continue;
      byte[] value = decode(part.substring(3));
      if (value.length > 0) values.add(value);
    }
    return check(t, first(headers, "webhook-id") + "." + t + ".", values, true);
  }

  private static Signature check(String t, String prefix, List<byte[]> values, boolean isKeyDecoded)
      throws VerificationException {
    if (!t.matches("[0-9]{1,12}")) {
      throw reject(VerificationException.Reason.FORM, "The request has no signature with a timestamp.");
    }
    if (values.isEmpty()) throw reject(VerificationException.Reason.FORM, "The signature contains no valid value.");
    return new Signature(Long.parseLong(t), prefix, values, isKeyDecoded);
  }

  private boolean isSigned(Signature signed, byte[] body) {
    boolean isMatched = false;
    for (String secret : secrets) {
      String text = secret.startsWith(SECRET_PREFIX) ? secret.substring(SECRET_PREFIX.length()) : secret;
      byte[] key = signed.isKeyDecoded() ? decode(text) : secret.getBytes(StandardCharsets.UTF_8);
      if (key.length == 0) continue;
      byte[] expected = hmac(key, signed.prefix(), body);
      for (byte[] value : signed.values()) isMatched |= MessageDigest.isEqual(expected, value);
    }
    return isMatched;
  }

  private static byte[] hmac(byte[] key, String prefix, byte[] body) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      mac.update(prefix.getBytes(StandardCharsets.UTF_8));
      return mac.doFinal(body);
    } catch (GeneralSecurityException error) {
      throw new IllegalStateException("Every Java platform has HmacSHA256.", error);
    }
  }

  /** Decodes base64; empty if the text is not base64. */
  private static byte[] decode(String text) {
    try {
      return Base64.getDecoder().decode(text);
    } catch (IllegalArgumentException error) {
      return new byte[0];
    }
  }

  private static String first(Map<String, List<String>> headers, String name) {
    List<String> values = headers.getOrDefault(name, List.of());
    return values.isEmpty() ? "" : values.get(0);
  }

  private static VerificationException reject(VerificationException.Reason reason, String message) {
    return new VerificationException(reason, message);
  }
}
