using System.Globalization;
using System.Security.Cryptography;
using System.Text;

/// <summary>Signatures of webhooks, on .NET 8 or newer, without packages.</summary>
public static class Signatures
{
    private const long MaxAgeSeconds = 300;

    /// <summary>Reports whether a request was signed with the endpoint's secret, at most five minutes ago.</summary>
    /// <param name="header">The Service-Signature header, or null.</param>
    /// <param name="body">The raw body, byte for byte.</param>
    /// <param name="secret">The whole whsec_… string.</param>
    /// <param name="now">Epoch seconds.</param>
    public static bool Verify(string? header, byte[] body, string secret, long now)
    {
        var parts = (header ?? "").Split(',').Select(part => part.Trim().Split('=', 2)).Where(part => part.Length == 2).ToList();
        var timestamp = parts.FirstOrDefault(part => part[0] == "t")?[1] ?? "";
        if (timestamp.Length is 0 or > 12 || !timestamp.All(char.IsAsciiDigit)) return false;
        if (now - long.Parse(timestamp, CultureInfo.InvariantCulture) > MaxAgeSeconds) return false;

        byte[] signed = [.. Encoding.UTF8.GetBytes(timestamp + "."), .. body];
        var expected = HMACSHA256.HashData(Encoding.UTF8.GetBytes(secret), signed);
        var hex = Encoding.ASCII.GetBytes(Convert.ToHexString(expected).ToLowerInvariant());
        return parts.Any(part => part[0] == "v1" && CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(part[1]), hex));
    }
}
