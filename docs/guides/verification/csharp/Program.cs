// A webhook receiver: WEBHOOK_SECRET=whsec_… dotnet run
// Tests the vectors that all languages share: dotnet run -- ../vectors.tsv
using System.Collections.Concurrent;
using System.Text.Json;

if (args.Length == 1) return Vectors.Check(args[0]);

var secret = Environment.GetEnvironmentVariable("WEBHOOK_SECRET");
if (string.IsNullOrEmpty(secret)) throw new InvalidOperationException("set WEBHOOK_SECRET");

// Ids of received events. In production, use a table with the event id as its key: it must outlive the process.
var seen = new ConcurrentDictionary<string, bool>();

var builder = WebApplication.CreateBuilder();
builder.Logging.ClearProviders();
var app = builder.Build();
app.MapPost("/{**path}", async (HttpRequest request) =>
{
    using var buffer = new MemoryStream();
    await request.Body.CopyToAsync(buffer);
    var body = buffer.ToArray();
    var header = request.Headers["Service-Signature"].FirstOrDefault();
    if (!Signatures.Verify(header, body, secret, DateTimeOffset.UtcNow.ToUnixTimeSeconds()))
        return Results.Text("not signed with our secret", statusCode: 400);

    using var json = JsonDocument.Parse(body);
    var type = json.RootElement.GetProperty("type").GetString();
    var data = json.RootElement.GetProperty("data");
    if (type == "endpoint.verification") return Results.Text(data.GetProperty("challenge").GetString());
    var id = json.RootElement.GetProperty("id").GetString()!;
    // Not every event is about a shipment.
    data.TryGetProperty("shipment_version", out var version);
    if (seen.TryAdd(id, true)) Console.WriteLine($"{type} {id} shipment_version {version}");
    return Results.Ok();
});
app.Run($"http://127.0.0.1:{Environment.GetEnvironmentVariable("PORT") ?? "4000"}");
return 0;

static class Vectors
{
    public static int Check(string path)
    {
        var wrong = 0;
        foreach (var line in File.ReadLines(path).Skip(1))
        {
            var fields = line.Split('\t');
            var valid = Signatures.Verify(fields[4], Convert.FromBase64String(fields[5]), fields[3], long.Parse(fields[2]));
            if (valid == (fields[1] == "yes")) continue;
            Console.Error.WriteLine($"{fields[0]}: Verify answered {valid}");
            wrong++;
        }
        return wrong == 0 ? 0 : 1;
    }
}
