import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Signatures of webhooks, on Java 17 or newer, without libraries. */
final class Signatures {
  private static final long MAX_AGE_SECONDS = 300;

  private Signatures() {}

  /**
   * Reports whether a request was signed with the endpoint's secret, at most five minutes ago.
   *
   * @param header the Service-Signature header, or null
   * @param body the raw body, byte for byte
   * @param secret the whole whsec_… string
   * @param now epoch seconds
   */
  static boolean verify(String header, byte[] body, String secret, long now) {
    String[] parts = header == null ? new String[0] : header.split(",");
    String timestamp = "";
    for (String part : parts) {
      if (part.strip().startsWith("t=")) timestamp = part.strip().substring(2);
    }
    if (!timestamp.matches("[0-9]{1,12}") || now - Long.parseLong(timestamp) > MAX_AGE_SECONDS) return false;
    byte[] expected = HexFormat.of().formatHex(hmac(secret, timestamp, body)).getBytes(StandardCharsets.UTF_8);
    for (String part : parts) {
      if (!part.strip().startsWith("v1=")) continue;
      byte[] given = part.strip().substring(3).getBytes(StandardCharsets.UTF_8);
      if (MessageDigest.isEqual(given, expected)) return true; // compares in constant time
    }
    return false;
  }

  private static byte[] hmac(String secret, String timestamp, byte[] body) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
      mac.update((timestamp + ".").getBytes(StandardCharsets.UTF_8));
      return mac.doFinal(body);
    } catch (GeneralSecurityException error) {
      throw new IllegalStateException(error); // every Java has HmacSHA256
    }
  }
}
