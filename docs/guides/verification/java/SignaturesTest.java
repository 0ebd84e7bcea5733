import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;

/** javac -d out *.java && java -cp out SignaturesTest ../vectors.tsv */
public final class SignaturesTest {
  public static void main(String[] arguments) throws IOException {
    int wrong = 0;
    for (String line : Files.readAllLines(Path.of(arguments[0])).stream().skip(1).toList()) {
      String[] fields = line.split("\t", -1);
      byte[] body = Base64.getDecoder().decode(fields[5]);
      boolean valid = Signatures.verify(fields[4], body, fields[3], Long.parseLong(fields[2]));
      if (valid == fields[1].equals("yes")) continue;
      System.err.println(fields[0] + ": verify answered " + valid);
      wrong++;
    }
    System.exit(wrong == 0 ? 0 : 1);
  }
}
